import { expect, it } from '@jest/globals';
import { complianceOf, type Standing } from './compliance.js';

function budget(values: Partial<Standing>): Standing {
  const counts = { allocated: 1_000n, consumed: 0n, reserved: 0n };
  const scope = { scope: 'global', scopeId: 'a workspace' } as const;
  return { id: 'a budget', ...scope, ...counts, policy: 'pause', isActive: true, ...values };
}

const adviceAt = (values: Partial<Standing>) => complianceOf([budget(values)]).advice;

it.each([
  [900n, 'continue'],
  [901n, 'warn'],
  [999n, 'warn'],
  [1_000n, 'stop'],
] as const)('with %s of 1000 tokens consumed, the advice is %s', (consumed, advice) => {
  expect(adviceAt({ consumed })).toBe(advice);
});

it('a consumed budget that lets runs finish warns', () => {
  expect(adviceAt({ consumed: 1_000n, policy: 'finish' })).toBe('warn');
  expect(adviceAt({ allocated: 0n, policy: 'finish' })).toBe('warn');
});

it('a budget out of its period gives no advice', () => {
  expect(complianceOf([budget({ consumed: 1_000n, isActive: false })])).toEqual({
    advice: 'continue',
    budgets: [],
  });
});

it('the fullest budget comes first', () => {
  const budgets = [budget({ id: 'half', consumed: 500n }), budget({ id: 'full', consumed: 990n })];
  expect(complianceOf(budgets).budgets.map(({ budgetId }) => budgetId)).toEqual(['full', 'half']);
});
