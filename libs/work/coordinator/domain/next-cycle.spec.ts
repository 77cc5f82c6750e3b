import { describe, expect, it } from '@jest/globals';
import { type Dues, gapAfter, gapBeforeRepeating, untilDue } from './next-cycle.js';

const NOTHING: Dues = { promote_retries: null, settle_dependents: null, assign: null };

describe('untilDue', () => {
  it.each<[Dues, number]>([
    [{}, Number.POSITIVE_INFINITY],
    [{ promote_retries: 250.5 }, 250.5],
    [{ promote_retries: -3 }, 0],
    [{ promote_retries: 900, reap_stale_agents: 35_000, expire_leases: 700 }, 700],
    [{ promote_retries: 900, settle_dependents: 0 }, 0],
    [{ assign: 0 }, 0],
    [{ assign: 300 }, 300],
  ])('the next cycle of %j is due in %d ms', (dues, expected) => {
    expect(untilDue({ ...NOTHING, ...dues })).toBe(expected);
  });

  it.each<[Dues, number]>([
    [{}, Number.POSITIVE_INFINITY],
    [{ promote_retries: 20 }, 20],
    [{ assign: 0 }, 1_000],
    [{ assign: 300 }, 1_000],
    [{ assign: 30_000 }, 30_000],
    [{ promote_retries: 900, assign: 0 }, 900],
  ])('right after a cycle, the next one of %j is due in %d ms', (dues, expected) => {
    expect(untilDue({ ...NOTHING, ...dues }, new Set(['assign']))).toBe(expected);
  });

  it('no cycle is due when no step has a time', () => {
    expect(untilDue({})).toBe(Number.POSITIVE_INFINITY);
  });
});

describe('the gap between two cycles', () => {
  it.each([
    [0, 20],
    [5, 20],
    [15, 60],
    [100, 400],
    [2_000, 1_000],
  ])('the gap after a cycle of %d ms is %d ms', (durationMs, expected) => {
    expect(gapAfter(durationMs)).toBe(expected);
  });

  it('the gap is longer before the same attempt, and longest after a failure', () => {
    expect(gapBeforeRepeating(1, false)).toBe(100);
    expect(gapBeforeRepeating(100, false)).toBe(400);
    expect(gapBeforeRepeating(1, true)).toBe(1_000);
  });
});
