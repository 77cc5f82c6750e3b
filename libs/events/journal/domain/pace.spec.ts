import { describe, expect, it } from '@jest/globals';
import { steadyPause } from '#lib/kernel';
import { journalPace, type RoundResult } from './pace.js';

function pauseAfter(kind: RoundResult['kind'], repeats: number): unknown {
  const pace = journalPace();
  for (let round = 0; round < repeats; round++) pace({ kind });
  return pace({ kind });
}

describe('the pace of a reader of the journal', () => {
  it.each<[RoundResult['kind'], number, number]>([
    ['full', 9, 0],
    ['idle', 0, 50],
    ['idle', 1, 100],
    ['idle', 4, 800],
    ['idle', 5, 1_000],
    ['idle', 2_000, 1_000],
    ['caught_up', 0, 50],
    ['closed', 0, 5_000],
  ])('after %s (%i times before) it waits %i ms or for a nudge', (kind, repeats, waitMs) => {
    expect(pauseAfter(kind, repeats)).toBe(waitMs);
  });

  it.each<[RoundResult['kind'], number, number]>([
    ['drained', 9, 50],
    ['held_back', 0, 5],
    ['held_back', 2, 20],
    ['held_back', 99, 100],
    ['elsewhere', 0, 1_000],
    ['failed', 0, 100],
    ['failed', 3, 800],
    ['failed', 50, 5_000],
  ])('after %s (%i times before) it waits %i ms whatever happens', (kind, repeats, waitMs) => {
    expect(pauseAfter(kind, repeats)).toEqual(steadyPause(waitMs));
  });

  it('another result begins the count of repeats anew', () => {
    const pace = journalPace();
    for (const kind of ['idle', 'idle', 'full'] as const) pace({ kind });
    expect(pace({ kind: 'idle' })).toBe(50);
  });
});
