import { describe, expect, it } from '@jest/globals';
import type { Database } from '#lib/database';
import { EVERYWHERE, type SweepResult, type SweepScope } from '#lib/transitions';
import { Pass } from './pass.js';
import type { ReconcilerFacts } from './reconciler.js';
import { sweepAtPace, Rhythm } from './rhythm.js';

/** A search with a duration, on a clock of its own. */
function createSearch(intervalMs: number) {
  const clock = { now: 0 };
  const rhythm = new Rhythm(intervalMs, () => clock.now);
  const runIfDue = (takes = 1, more = false): Promise<SweepResult> =>
    rhythm.runIfDue(() => {
      clock.now += takes;
      return Promise.resolve({ moved: 1, more, byWorkspace: new Map() });
    });
  return { clock, runIfDue, rhythm };
}

describe('a rhythm', () => {
  it('a slow search runs at once, then after the interval', async () => {
    const { clock, runIfDue } = createSearch(1_000);
    expect((await runIfDue()).moved).toBe(1);
    clock.now = 999;
    expect((await runIfDue()).moved).toBe(0);
    clock.now = 1_001;
    expect((await runIfDue()).moved).toBe(1);
  });

  it('a slow search pauses for twenty times its duration', async () => {
    const { clock, runIfDue } = createSearch(1_000);
    await runIfDue(100);
    clock.now = 2_099;
    expect((await runIfDue()).moved).toBe(0);
    clock.now = 2_100;
    expect((await runIfDue()).moved).toBe(1);
  });

  it('a search with more to do runs again at once', async () => {
    const { runIfDue } = createSearch(1_000);
    await runIfDue(1, true);
    expect((await runIfDue()).moved).toBe(1);
    expect((await runIfDue()).moved).toBe(0);
  });

  it('a failed search waits for the interval', async () => {
    const { clock, runIfDue, rhythm } = createSearch(1_000);
    await expect(rhythm.runIfDue(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect((await runIfDue()).moved).toBe(0);
    clock.now = 1_000;
    expect((await runIfDue()).moved).toBe(1);
  });
});

describe('a reconciler', () => {
  const thorough = { ...EVERYWHERE, thorough: true };

  /** A reconciler whose sweeps note whether they were thorough. */
  function reconciler(slow: ReconcilerFacts['slow'], found: (scope: SweepScope) => number) {
    const asked: boolean[] = [];
    const sweep = ({ scope }: Pass) => {
      asked.push(scope.thorough);
      return Promise.resolve({ moved: found(scope), more: false, byWorkspace: new Map() });
    };
    const paceable = sweepAtPace({ sweep }, slow, 1_000_000);
    const nothing = {} as Database;
    const run = (scope = EVERYWHERE) =>
      paceable(new Pass(nothing, () => Promise.resolve(), 1, scope));
    return { asked, run };
  }

  it('a quick reconciler runs in every cycle, never thoroughly by itself', async () => {
    const { asked, run } = reconciler(undefined, () => 0);
    await run();
    await run();
    expect(asked).toEqual([false, false]);
  });

  it('a slow reconciler runs thoroughly at its pace', async () => {
    const { asked, run } = reconciler(true, () => 0);
    await run();
    await run();
    expect(asked).toEqual([true]);
  });

  it('a slow reconciler runs whenever it is requested, and keeps its pace', async () => {
    const { asked, run } = reconciler(true, () => 0);
    await run(thorough);
    await run(thorough);
    expect(asked).toEqual([true, true]);
    await run();
    expect(asked).toEqual([true, true, true]);
    await run();
    expect(asked).toEqual([true, true, true]);
  });

  it('a partly slow reconciler runs thoroughly if the quick sweep moved nothing', async () => {
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
