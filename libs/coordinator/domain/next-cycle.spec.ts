import { describe, expect, it } from '@jest/globals';
import { type Dues, gapAfter, gapBeforeRepeating, untilDue } from './next-cycle.js';

const NOTHING: Dues = {
  retryMs: null,
  leaseMs: null,
  deadlineMs: null,
  queueExpiryMs: null,
  silenceMs: null,
  pauseMs: null,
  unsettled: false,
  disputed: false,
  assignMs: null,
};

describe('untilDue', () => {
  it.each<[Partial<Dues>, number]>([
    [{}, Number.POSITIVE_INFINITY],
    [{ retryMs: 250.5 }, 250.5],
    [{ retryMs: -3 }, 0],
    [{ retryMs: 900, silenceMs: 35_000, leaseMs: 700 }, 700],
    [{ deadlineMs: 20 }, 20],
    [{ queueExpiryMs: 30 }, 30],
    [{ silenceMs: 40 }, 40],
    [{ pauseMs: 50 }, 50],
    [{ retryMs: 900, unsettled: true }, 0],
    [{ retryMs: 900, disputed: true }, 0],
    [{ assignMs: 0 }, 0],
    [{ assignMs: 300 }, 300],
  ])('%j: %d ms', (dues, expected) => {
    expect(untilDue({ ...NOTHING, ...dues }, false)).toBe(expected);
  });

  it.each<[Partial<Dues>, number]>([
    [{}, Number.POSITIVE_INFINITY],
    [{ retryMs: 20 }, 20],
    [{ assignMs: 0 }, 1_000],
    [{ assignMs: 300 }, 1_000],
    [{ assignMs: 30_000 }, 30_000],
    [{ retryMs: 900, assignMs: 0 }, 900],
  ])('right after a cycle, %j: %d ms', (dues, expected) => {
    expect(untilDue({ ...NOTHING, ...dues }, true)).toBe(expected);
  });
});

describe('the gap between two cycles', () => {
  it.each([
    [0, 20],
    [5, 20],
    [15, 60],
    [100, 400],
    [2_000, 1_000],
  ])('after %d ms is %d ms', (durationMs, expected) => {
    expect(gapAfter(durationMs)).toBe(expected);
  });

  it('is longer when the same would be tried again, longest after a failure', () => {
    expect(gapBeforeRepeating(1, false)).toBe(100);
    expect(gapBeforeRepeating(100, false)).toBe(400);
    expect(gapBeforeRepeating(1, true)).toBe(1_000);
  });
});
