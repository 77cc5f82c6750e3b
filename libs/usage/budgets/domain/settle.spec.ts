import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type ChargeableBudget, type ChargedRun, settle } from './settle.js';

const RUN: ChargedRun = {
  runId: 'r',
  tokens: 0n,
  cost: '0',
  held: 1_000n,
  heldOf: ['b'],
  estimate: 1_000n,
  isLive: true,
  scopes: ['w', null, null, 't'],
};
const BUDGET: ChargeableBudget = {
  id: 'b',
  scopeId: 'w',
  allocated: 10_000n,
  consumed: 0n,
  reserved: 1_000n,
  isActive: true,
};

type Case = [
  what: string,
  run: Partial<ChargedRun>,
  budget: Partial<ChargeableBudget>,
  held: bigint,
  charge: readonly object[],
];

describe('settle', () => {
  it.each<Case>([
    ['less than it holds', { tokens: 400n }, {}, 600n, [{ consumed: 400n, reserved: -400n }]],
    ['all that it holds', { tokens: 1_000n }, {}, 250n, [{ consumed: 1_000n, reserved: -750n }]],
    ['more than it holds', { tokens: 1_200n }, {}, 250n, [{ consumed: 1_200n, reserved: -750n }]],
    [
      'more, of a budget with too little left',
      ...([{ tokens: 1_200n }, { allocated: 1_300n }] as const),
      ...([0n, [{ consumed: 1_200n, reserved: -1_000n }]] as const),
    ],
    [
      'more, of a budget whose period is over with too little left',
      ...([{ tokens: 1_200n }, { allocated: 1_100n, consumed: 1_000n, isActive: false }] as const),
      ...([250n, [{ consumed: 0n, reserved: -750n }]] as const),
    ],
    [
      'more, by a run that has ended',
      ...([{ tokens: 1_200n, isLive: false, held: 0n }, { reserved: 0n }] as const),
      ...([0n, [{ consumed: 1_200n, reserved: 0n }]] as const),
    ],
    [
      'of a budget whose period is over',
      ...([{ tokens: 400n }, { isActive: false }] as const),
      ...([600n, [{ consumed: 0n, reserved: -400n }]] as const),
    ],
    [
      'of a budget that it holds nothing of',
      ...([{ tokens: 400n, held: 0n, heldOf: [] }, {}] as const),
      ...([0n, [{ consumed: 400n, reserved: 0n }]] as const),
    ],
    [
      'of a budget that does not cover it',
      { tokens: 400n, heldOf: [] },
      { scopeId: 'x' },
      600n,
      [],
    ],
  ])('%s', (_, run, budget, held, charge) => {
    const settlement = settle([{ ...RUN, ...run }], [{ ...BUDGET, ...budget }]);
    expect(settlement.runs).toMatchObject([{ held }]);
    expect(settlement.budgets).toEqual(charge.map((one) => ({ id: 'b', ...one })));
  });

  it('runs and budgets without usage stay unchanged', () => {
    expect(settle([RUN], [BUDGET])).toEqual({ runs: [], budgets: [] });
  });

  const amount = fc.bigInt(0n, 10_000n);
  const run = fc.record({
    tokens: amount,
    held: amount,
    estimate: amount,
    isLive: fc.boolean(),
    heldOf: fc.subarray(['b0', 'b1', 'b2']),
    scopes: fc.subarray(['s0', 's1', 's2']),
  });
  const runs = fc
    .array(run, { maxLength: 6 })
    .map((all) => all.map((one, n): ChargedRun => ({ ...one, runId: `r${n}`, cost: '0' })));
  const allocations = fc.tuple(
    fc.bigInt(0n, 60_000n),
    fc.bigInt(0n, 60_000n),
    fc.bigInt(0n, 60_000n),
  );
  const heldOf = (
    id: string,
    all: readonly { runId: string; held: bigint }[],
    from: readonly ChargedRun[],
  ) =>
    all.reduce((sum, { runId, held }) => {
      return sum + (from.find((one) => one.runId === runId)?.heldOf.includes(id) ? held : 0n);
    }, 0n);

  it('reserved equals the holds, all usage is charged, and holds grow within the budget', () => {
    fc.assert(
      fc.property(runs, allocations, (charged, allocated) => {
        const budgets = allocated.map((tokens, n): ChargeableBudget => {
          const reserved = heldOf(`b${n}`, charged, charged);
          return {
            id: `b${n}`,
            scopeId: `s${n}`,
            allocated: tokens,
            consumed: 0n,
            reserved,
            isActive: true,
          };
        });
        const settlement = settle(charged, budgets);
        const after = charged.map(
          (one) => settlement.runs.find(({ runId }) => runId === one.runId) ?? one,
        );
        for (const { id, scopeId, allocated: all, reserved } of budgets) {
          const charge = settlement.budgets.find((one) => one.id === id);
          const used = charged.reduce(
            (sum, { tokens, scopes }) => sum + (scopes.includes(scopeId) ? tokens : 0n),
            0n,
          );
          expect(charge?.consumed ?? 0n).toBe(used);
          const left = reserved + (charge?.reserved ?? 0n);
          expect(left).toBe(heldOf(id, after, charged));
          if (left > reserved) expect(used + left).toBeLessThanOrEqual(all);
        }
      }),
    );
  });
});
