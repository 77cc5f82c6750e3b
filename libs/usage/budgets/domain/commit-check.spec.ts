import { describe, expect, it } from '@jest/globals';
import { commitCheckOf } from './commit-check.js';
import { complianceOf, type Standing } from './compliance.js';

const budget = (consumed: bigint, values: Partial<Standing> = {}): Standing => ({
  id: 'b',
  scope: 'project',
  scopeId: 'p',
  allocated: 1_000n,
  consumed,
  reserved: 0n,
  policy: 'pause',
  isActive: true,
  ...values,
});
const check = (budgets: Standing[], used = 0n, lines?: number) =>
  commitCheckOf(complianceOf(budgets), used, lines);

describe('the check before a commit', () => {
  it.each([
    ['no budget', [], 'continue', /^No budget covers the run: go on\.$/],
    ['90 %', [budget(900n)], 'continue', /^90 % of the budget of its project are .*: go on\.$/],
    ['91 %', [budget(910n)], 'warn', /^91 % .* 90 of 1000 tokens are available: finish soon\.$/],
    ['100 %', [budget(1_000n)], 'stop', /^100 % .*: save a checkpoint and stop\.$/],
    ['100 % that may finish', [budget(1_000n, { policy: 'finish' })], 'warn', /finish soon\.$/],
    [
      'the one that stops, not a fuller one that lets finish',
      [budget(2_000n, { policy: 'finish' }), budget(1_100n, { scope: 'global' })],
      'stop',
      /^110 % of the budget of its workspace/,
    ],
  ])('the check of %s gives its advice and its reason', (_, budgets, advice, message) => {
    expect(check(budgets)).toMatchObject({ advice, message: expect.stringMatching(message) });
  });

  it.each([
    ['nothing used', 0n, 10, { expectedTokens: '1500', ratio: null, isEfficient: true }],
    ['as much as usual', 1_500n, 10, { ratio: 1, isEfficient: true }],
    ['twice as much', 3_000n, 10, { ratio: 0.5, isEfficient: true }],
    ['more than that', 3_031n, 10, { ratio: 0.49, isEfficient: false }],
    ['no lines', 3_000n, 0, { expectedTokens: '0', ratio: 0, isEfficient: true }],
  ])('judges %s', (_, used, lines, efficiency) => {
    const { advice, ...answer } = check([], used, lines);
    expect(answer.efficiency).toMatchObject(efficiency);
    expect(advice).toBe(efficiency.isEfficient ? 'continue' : 'warn');
  });

  it('the check reports waste, and never makes the advice milder', () => {
    const { advice, message } = check([budget(1_000n)], 1_000n, 1);
    expect(advice).toBe('stop');
    expect(message).toMatch(
      /stop\. The task has used 1000 tokens for 1 changed line, which usually take 150: look for/,
    );
    expect(check([], 1_000n)).toMatchObject({ advice: 'continue', efficiency: null });
  });
});
