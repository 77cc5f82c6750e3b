import { describe, expect, it } from '@jest/globals';
import type { Database } from '#lib/database';
import { EVERYWHERE, type SweepResult, type SweepScope } from '#lib/transitions';
import { Pass } from './pass.js';
import type { ReconcilerFacts } from './reconciler.js';
import { paced, Rhythm } from './rhythm.js';

/** A search that takes its time on a clock of its own. */
function aSearch(intervalMs: number) {
  const clock = { now: 0 };
  const rhythm = new Rhythm(intervalMs, () => clock.now);
  const perhaps = (takes = 1, more = false): Promise<SweepResult> =>
    rhythm.perhaps(() => {
      clock.now += takes;
      return Promise.resolve({ moved: 1, more, byWorkspace: new Map() });
    });
  return { clock, perhaps, rhythm };
}

describe('a rhythm', () => {
  it('searches at once, then when the interval is over', async () => {
    const { clock, perhaps } = aSearch(1_000);
    expect((await perhaps()).moved).toBe(1);
    clock.now = 999;
    expect((await perhaps()).moved).toBe(0);
    clock.now = 1_001;
    expect((await perhaps()).moved).toBe(1);
  });

  it('pauses twenty times as long as a search took', async () => {
    const { clock, perhaps } = aSearch(1_000);
    await perhaps(100);
    clock.now = 2_099;
    expect((await perhaps()).moved).toBe(0);
    clock.now = 2_100;
    expect((await perhaps()).moved).toBe(1);
  });

  it('goes on at once where there is more', async () => {
    const { perhaps } = aSearch(1_000);
    await perhaps(1, true);
    expect((await perhaps()).moved).toBe(1);
    expect((await perhaps()).moved).toBe(0);
  });

  it('waits for the interval after a search that failed', async () => {
    const { clock, perhaps, rhythm } = aSearch(1_000);
    await expect(rhythm.perhaps(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect((await perhaps()).moved).toBe(0);
    clock.now = 1_000;
    expect((await perhaps()).moved).toBe(1);
  });
});

describe('a reconciler', () => {
  const thorough = { ...EVERYWHERE, thorough: true };

  /** One whose sweeps note whether they were thorough. */
  function reconciler(slow: ReconcilerFacts['slow'], found: (scope: SweepScope) => number) {
    const asked: boolean[] = [];
    const sweep = ({ scope }: Pass) => {
      asked.push(scope.thorough);
      return Promise.resolve({ moved: found(scope), more: false, byWorkspace: new Map() });
    };
    const paceable = paced({ sweep }, slow, 1_000_000);
    const nothing = {} as Database;
    const run = (scope = EVERYWHERE) =>
      paceable(new Pass(nothing, () => Promise.resolve(), 1, scope));
    return { asked, run };
  }

  it('that is not slow runs in every cycle, never thoroughly by itself', async () => {
    const { asked, run } = reconciler(undefined, () => 0);
    await run();
    await run();
    expect(asked).toEqual([false, false]);
  });

  it('that is slow runs thoroughly at its pace', async () => {
    const { asked, run } = reconciler(true, () => 0);
    await run();
    await run();
    expect(asked).toEqual([true]);
  });

  it('that is slow always runs when it is asked for, and keeps its pace', async () => {
    const { asked, run } = reconciler(true, () => 0);
    await run(thorough);
    await run(thorough);
    expect(asked).toEqual([true, true]);
    await run();
    expect(asked).toEqual([true, true, true]);
    await run();
    expect(asked).toEqual([true, true, true]);
  });

  it('that is slow in part runs in every cycle, and thoroughly when that moved nothing', async () => {
    let often = 1;
    const { asked, run } = reconciler('partly', (scope) => (scope.thorough ? 0 : often));
    await run();
    expect(asked).toEqual([false]);
    often = 0;
    await run();
    await run();
    expect(asked).toEqual([false, false, true, false]);
    await run(thorough);
    expect(asked).toEqual([false, false, true, false, true]);
  });
});
