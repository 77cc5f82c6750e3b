import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type Calibration, Calibrations, estimatedAnew, estimateTokens } from './estimates.js';

const P = '01990000-0000-7000-8000-00000000000a';
const Q = '01990000-0000-7000-8000-00000000000b';

const kind = (taskType: string, projectId: string | null, known: Partial<Calibration>) => ({
  taskType,
  projectId,
  factor: null,
  medianUsed: 1n,
  ...known,
});

describe('the formula', () => {
  it.each([
    [1, 1, 1_794n],
    [5, 1, 8_970n],
    [100, 1, 179_400n],
    [5, 0.5, 4_485n],
    [1, 0.1, 180n],
    [1, 1.0001, 1_795n],
    [100, 10, 1_794_000n],
  ])('of complexity %d, times %d, is %d', (complexity, factor, tokens) => {
    expect(estimateTokens(complexity, factor)).toBe(tokens);
  });

  it('an estimate rises with the complexity and with the factor', () => {
    const complexity = fc.integer({ min: 1, max: 99 });
    const factor = fc.integer({ min: 1_000, max: 99_999 }).map((units) => units / 10_000);
    fc.assert(
      fc.property(complexity, factor, (points, times) => {
        const tokens = estimateTokens(points, times);
        expect(estimateTokens(points + 1, times)).toBeGreaterThan(tokens);
        expect(estimateTokens(points, times + 0.0001)).toBeGreaterThanOrEqual(tokens);
      }),
    );
  });
});

describe('the estimate of a task', () => {
  const calibrations = new Calibrations([
    kind('review', P, { factor: 2, medianUsed: 700n }),
    kind('review', Q, { medianUsed: 900n }),
    kind('review', null, { factor: 0.5, medianUsed: 800n }),
  ]);

  it.each([
    ['given', { projectId: P, estimatedTokens: '12', estimatedComplexity: 5 }, '12'],
    ['given', { estimatedTokens: '0' }, '0'],
    ['complexity', { projectId: P, estimatedComplexity: 5 }, '17940'],
    ['complexity', { projectId: P.toUpperCase(), estimatedComplexity: 5 }, '17940'],
    // Too few tasks of its project have a complexity, so the type's estimate counts.
    ['complexity', { projectId: Q, estimatedComplexity: 5 }, '4485'],
    ['complexity', { projectId: null, estimatedComplexity: 5 }, '4485'],
    ['complexity', { taskType: 'other', projectId: P, estimatedComplexity: 5 }, '8970'],
    ['history', { projectId: P }, '700'],
    ['history', { projectId: Q, estimatedComplexity: null }, '900'],
    ['history', {}, '800'],
    ['default', { taskType: 'other', projectId: P }, '8970'],
  ] as const)('comes from %s: %j', (estimateSource, task, estimatedTokens) => {
    const found = calibrations.estimate({ taskType: 'review', ...task });
    expect(found).toEqual({ estimatedTokens, estimateSource });
  });
});

describe('an update', () => {
  const task = { taskType: 'review', projectId: P, estimatedComplexity: 3 };
  const byComplexity = { ...task, estimatedTokens: '5382', estimateSource: 'complexity' } as const;
  const given = { ...task, estimatedTokens: '12', estimateSource: 'given' } as const;

  it.each([
    [byComplexity, {}, null],
    [byComplexity, { estimatedComplexity: 3 }, null],
    // There is nothing to take back.
    [byComplexity, { estimatedTokens: null }, null],
    [byComplexity, { estimatedComplexity: 4 }, { estimatedTokens: null, estimatedComplexity: 4 }],
    [
      byComplexity,
      { estimatedComplexity: null },
      { estimatedTokens: null, estimatedComplexity: null },
    ],
    [given, { estimatedTokens: '12' }, null],
    [byComplexity, { estimatedTokens: '7' }, { estimatedTokens: '7', estimatedComplexity: 3 }],
    [given, { estimatedTokens: null }, { estimatedTokens: null, estimatedComplexity: 3 }],
    [given, { estimatedComplexity: 4 }, { estimatedTokens: '12', estimatedComplexity: 4 }],
  ])('of %j by %j finds it from %j', (current, change, from) => {
    const expected = from && { taskType: 'review', projectId: P, ...from };
    expect(estimatedAnew(current, change)).toEqual(expected);
  });
});
