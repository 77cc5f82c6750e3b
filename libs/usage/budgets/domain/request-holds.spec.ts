import { describe, expect, it } from '@jest/globals';
import type { Standing } from './compliance.js';
import { decideHold, heldAfter, type HoldingRun, type RequestWish } from './request-holds.js';

const BUDGET: Standing = {
  id: 'b',
  scope: 'global',
  scopeId: 'w',
  allocated: 1_000n,
  consumed: 0n,
  reserved: 300n,
  policy: 'pause',
  isActive: true,
};
const RUN: HoldingRun = {
  held: 300n,
  heldOf: ['b'],
  requests: new Map(),
  scopes: ['w', null, null, 't'],
};
const WISH: RequestWish = { requestId: 'one', tokens: 200n, isFinal: true, isPriced: true };

function decide(
  run: Partial<HoldingRun> = {},
  wish: Partial<RequestWish> = {},
  ...budgets: Partial<Standing>[]
) {
  const all = budgets.length === 0 ? [{}] : budgets;
  const given = all.map((budget) => ({ ...BUDGET, ...budget }));
  return decideHold({ ...RUN, ...run }, { ...WISH, ...wish }, given);
}

describe('a request', () => {
  it('is covered by the estimate that its run holds', () => {
    expect(decide()).toMatchObject({ kind: 'granted', held: 300n, reserved: new Map([['b', 0n]]) });
  });

  it('grows the hold of its run beyond the estimate, together with the others under way', () => {
    const decision = decide({ requests: new Map([['other', 250n]]) });
    expect(decision).toMatchObject({ held: 450n, reserved: new Map([['b', 150n]]) });
  });

  it('holds once if it is asked for again, and its last bound counts', () => {
    const requests = new Map([['one', 350n]]);
    expect(decide({ held: 350n, requests })).toMatchObject({ held: 350n });
  });

  it('a budget that is newer than the run holds all that the run holds', () => {
    const newer = { id: 'n', scopeId: 't', reserved: 0n };
    expect(decide({}, {}, {}, newer)).toMatchObject({
      heldOf: ['b', 'n'],
      reserved: new Map([
        ['b', 0n],
        ['n', 300n],
      ]),
    });
  });

  it.each<[string, Partial<HoldingRun>, Partial<RequestWish>, Partial<Standing>, string]>([
    ['that no budget covers', { heldOf: [] }, {}, { scopeId: 'x' }, 'unlimited'],
    [
      'to a model without a price that no budget covers',
      ...([{ heldOf: [] }, { isPriced: false }, { scopeId: 'x' }, 'unlimited'] as const),
    ],
    ['to a model without a price', {}, { isPriced: false }, {}, 'unpriced'],
    ['that fits exactly', {}, { tokens: 1_000n }, {}, 'granted'],
    ['with a token too much', {}, { tokens: 1_001n }, {}, 'refused'],
    ['of a used up budget', {}, { tokens: 1n }, { consumed: 1_000n }, 'refused'],
    ['of a used up budget to finish', {}, {}, { consumed: 1_000n, policy: 'finish' }, 'granted'],
    ['of a budget whose period is over', {}, { tokens: 2_000n }, { isActive: false }, 'granted'],
    ['beside the holds of others', {}, { tokens: 600n }, { reserved: 900n }, 'refused'],
    [
      'beside the holds of others, not for the last time',
      ...([{}, { tokens: 600n, isFinal: false }, { reserved: 900n }, 'wait'] as const),
    ],
    [
      'that would never fit, not for the last time',
      ...([{}, { tokens: 1_001n, isFinal: false }, {}, 'refused'] as const),
    ],
  ])('%s', (_, run, wish, budget, kind) => {
    expect(decide(run, wish, budget).kind).toBe(kind);
  });

  it('the strictest of the budgets that lack tokens decides', () => {
    const decision = decide({}, { tokens: 5_000n }, {}, { id: 'a', scopeId: 't', policy: 'abort' });
    expect(decision).toMatchObject({ budget: { id: 'a' }, wanted: 5_000n });
  });
});

describe('the hold of a run after a request', () => {
  it.each([
    ['returns the rest of the bound', { held: 900n, used: 100n, left: 0n, firstHeld: 300n }, 200n],
    ['covers the others under way', { held: 900n, used: 100n, left: 500n, firstHeld: 300n }, 500n],
    ['is used up', { held: 900n, used: 2_000n, left: 0n, firstHeld: 300n }, 0n],
    ['never grows', { held: 100n, used: 0n, left: 0n, firstHeld: 300n }, 100n],
  ])('%s', (_, values, expected) => {
    expect(heldAfter({ usedBefore: 0n, ...values })).toBe(expected);
  });
});
