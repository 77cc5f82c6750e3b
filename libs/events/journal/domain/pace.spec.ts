import { describe, expect, it } from '@jest/globals';
import { nextRound, type RoundResult } from './pace.js';

describe('nextRound', () => {
  it.each<[RoundResult['kind'], number, number, boolean]>([
    ['full', 9, 0, false],
    ['drained', 9, 50, false],
    ['idle', 0, 50, true],
    ['idle', 1, 100, true],
    ['idle', 4, 800, true],
    ['idle', 5, 1_000, true],
    ['idle', 100_000, 1_000, true],
    ['caught_up', 0, 50, true],
    ['held_back', 0, 5, false],
    ['held_back', 2, 20, false],
    ['held_back', 99, 100, false],
    ['elsewhere', 0, 1_000, false],
    ['closed', 0, 5_000, true],
    ['failed', 0, 100, false],
    ['failed', 3, 800, false],
    ['failed', 50, 5_000, false],
  ])('after %s (%i times before) the wait is %i ms', (kind, repeats, waitMs, nudgeable) => {
    expect(nextRound({ kind }, repeats)).toEqual({ waitMs, nudgeable });
  });
});
