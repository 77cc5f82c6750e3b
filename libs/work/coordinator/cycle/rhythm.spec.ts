import { describe, expect, it } from '@jest/globals';
import type { Database } from '#lib/database';
import { EVERYWHERE } from '#lib/transitions';
import { Pass } from './pass.js';
import type { ReconcilerFacts } from './reconciler.js';
import { atPace, Rhythm } from './rhythm.js';

/** A search with a duration, on a clock of its own. */
function createSearch(intervalMs: number) {
  const clock = { now: 0 };
  const rhythm = new Rhythm(intervalMs, () => clock.now);
  /** A cycle, whose search begins `late` milliseconds after it. */
  const cycle = async ({ takes = 1, late = 0, more = false } = {}): Promise<boolean> => {
    const beganAt = clock.now;
    if (!rhythm.isDue(beganAt)) return false;
    clock.now += late;
    await rhythm.run(beganAt, () => {
      clock.now += takes;
      return Promise.resolve({ moved: 1, more, byWorkspace: new Map() });
    });
    return true;
  };
  return { clock, cycle, rhythm };
}

describe('a rhythm', () => {
  it('a slow search runs at once, then an interval after the begin of that cycle', async () => {
    const { clock, cycle, rhythm } = createSearch(1_000);
    expect(await cycle({ late: 10, takes: 20 })).toBe(true);
    expect(rhythm.dueAt).toBe(1_000);
    clock.now = 999;
    expect(await cycle()).toBe(false);
    clock.now = 1_000;
    expect(await cycle()).toBe(true);
  });

  it('a slow search pauses for twenty times its duration', async () => {
    const { clock, cycle } = createSearch(1_000);
    await cycle({ takes: 100 });
    clock.now = 2_099;
    expect(await cycle()).toBe(false);
    clock.now = 2_100;
    expect(await cycle()).toBe(true);
  });

  it('a search with more to do runs again at once', async () => {
    const { cycle } = createSearch(1_000);
    await cycle({ more: true });
    expect(await cycle()).toBe(true);
    expect(await cycle()).toBe(false);
  });

  it('a failed search waits for the interval', async () => {
    const { clock, cycle, rhythm } = createSearch(1_000);
    await expect(rhythm.run(0, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await cycle()).toBe(false);
    clock.now = 1_000;
    expect(await cycle()).toBe(true);
  });
});

describe('a reconciler', () => {
  const thorough = { ...EVERYWHERE, thorough: true };

  /** A reconciler whose sweeps note whether they were thorough. */
  function reconciler(slow: ReconcilerFacts['slow']) {
    const asked: boolean[] = [];
    const sweep = ({ scope }: Pass) => {
      asked.push(scope.thorough);
      return Promise.resolve({ moved: 0, more: false, byWorkspace: new Map() });
    };
    const paced = atPace({ sweep }, slow, 1_000_000);
    const nothing = {} as Database;
    const run = (scope = EVERYWHERE) =>
      paced.sweep(new Pass(nothing, () => Promise.resolve(), 1, scope));
    return { asked, run };
  }

  it('a quick reconciler runs in every cycle, never thoroughly by itself', async () => {
    const { asked, run } = reconciler(undefined);
    await run();
    await run();
    expect(asked).toEqual([false, false]);
  });

  it('a slow reconciler runs thoroughly at its pace', async () => {
    const { asked, run } = reconciler(true);
    await run();
    await run();
    expect(asked).toEqual([true]);
  });

  it('a slow reconciler runs whenever it is requested, and keeps its pace', async () => {
    const { asked, run } = reconciler(true);
    await run(thorough);
    await run(thorough);
    expect(asked).toEqual([true, true]);
    await run();
    expect(asked).toEqual([true, true, true]);
    await run();
    expect(asked).toEqual([true, true, true]);
  });

  it('a partly slow reconciler runs thoroughly at its pace, and quickly in other cycles', async () => {
    const { asked, run } = reconciler('partly');
    await run();
    await run();
    await run(thorough);
    await run();
    expect(asked).toEqual([true, false, true, false]);
  });
});
