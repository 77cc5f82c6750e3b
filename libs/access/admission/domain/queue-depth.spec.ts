import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  admits,
  drainBetween,
  isOutdated,
  type KnownDepth,
  neverAdmits,
  retryAfterSeconds,
} from './queue-depth.js';

const KNOWN: KnownDepth = {
  counted: 0,
  limit: 100,
  countedAt: 0,
  countingMs: 1,
  admitted: 0,
  drainPerSecond: null,
};

describe('isOutdated', () => {
  it.each<[string, Partial<KnownDepth>, number, boolean]>([
    ['far from the limit', { counted: 10 }, 4_900, false],
    ['far from the limit, for long', { counted: 10 }, 5_100, true],
    ['far, and dear to count', { counted: 10, countingMs: 200 }, 9_900, false],
    ['near the limit', { counted: 51 }, 900, false],
    ['near the limit, a second later', { counted: 51 }, 1_100, true],
    ['near by what was admitted since', { counted: 10, admitted: 50 }, 1_100, true],
    ['near, and dear to count', { counted: 90, countingMs: 100 }, 4_900, false],
    ['without a limit', { counted: 0, limit: 0, admitted: 9 }, 29_000, false],
  ])('%s', (_, values, now, outdated) => {
    expect(isOutdated({ ...KNOWN, ...values }, now)).toBe(outdated);
  });
});

describe('admits', () => {
  it.each<[Partial<KnownDepth>, number, boolean]>([
    [{ counted: 99 }, 1, true],
    [{ counted: 99 }, 2, false],
    [{ counted: 50, admitted: 50 }, 1, false],
    [{ counted: 1_000, limit: 0 }, 1_000, true],
  ])('%j with %d more: %s', (values, count, fits) => {
    expect(admits({ ...KNOWN, ...values }, count)).toBe(fits);
  });

  it('one server alone never exceeds the limit', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 500 }),
        fc.array(fc.integer({ min: 1, max: 100 })),
        (limit, wanted) => {
          const known = { ...KNOWN, limit };
          for (const count of wanted) if (admits(known, count)) known.admitted += count;
          expect(known.admitted).toBeLessThanOrEqual(limit);
        },
      ),
    );
  });
});

it.each([
  [100, 100, false],
  [100, 101, true],
  [0, 1_000, false],
])('with a limit of %d, %d at once never fit: %s', (limit, count, never) => {
  expect(neverAdmits({ ...KNOWN, limit }, count)).toBe(never);
});

describe('retryAfterSeconds', () => {
  it.each<[Partial<KnownDepth>, number, number]>([
    [{ counted: 100 }, 1, 5],
    [{ counted: 100, drainPerSecond: 10 }, 25, 3],
    [{ counted: 100, drainPerSecond: 1_000 }, 1, 1],
    [{ counted: 100, drainPerSecond: 0.001 }, 1, 300],
    [{ counted: 100, drainPerSecond: 0 }, 1, 300],
  ])('%j with %d wanted: %d s', (values, count, seconds) => {
    expect(retryAfterSeconds({ ...KNOWN, ...values }, count)).toBe(seconds);
  });
});

it('two counts give the rate at which a queue drains', () => {
  const before = { ...KNOWN, counted: 80, admitted: 40 };
  expect(drainBetween(before, { counted: 70, countedAt: 2_000 })).toBe(25);
  expect(drainBetween(before, { counted: 500, countedAt: 2_000 })).toBe(0);
  expect(drainBetween(undefined, { counted: 70, countedAt: 2_000 })).toBeNull();
});
