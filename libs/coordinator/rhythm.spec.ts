import { describe, expect, it } from '@jest/globals';
import { EVERYWHERE, type SweepScope, type SweepResult } from '#lib/transitions';
import type { ReconcilerFacts } from './reconciler.js';
import { paced, Rhythm } from './rhythm.js';

/** A search that takes its time on a clock of its own. */
function aSearch(intervalMs: number) {
  const clock = { now: 0 };
  const asked: SweepScope[] = [];
  const rhythm = new Rhythm(intervalMs, () => clock.now);
  const perhaps = (takes = 1, more = false, scope = EVERYWHERE): Promise<SweepResult> =>
    rhythm.perhaps(scope, (wanted) => {
      asked.push(wanted);
      clock.now += takes;
      return Promise.resolve({ moved: 1, more, byWorkspace: new Map() });
    });
  return { clock, asked, perhaps, rhythm };
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

  it('rests twenty times as long as a search took', async () => {
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

  it('always does what is asked for, and keeps its pace', async () => {
    const { clock, perhaps, asked } = aSearch(1_000);
    const scope = { workspaceId: 'w', thorough: true };
    await perhaps(1, false, scope);
    await perhaps(1, false, scope);
    expect(asked).toEqual([scope, scope]);
    expect((await perhaps()).moved).toBe(1);
    clock.now = 500;
    expect((await perhaps()).moved).toBe(0);
  });

  it('waits for the interval after a search that failed', async () => {
    const { clock, perhaps, rhythm } = aSearch(1_000);
    await expect(rhythm.perhaps(EVERYWHERE, () => Promise.reject(new Error('no')))).rejects.toThrow(
      'no',
    );
    expect((await perhaps()).moved).toBe(0);
    clock.now = 1_000;
    expect((await perhaps()).moved).toBe(1);
  });
});

describe('a reconciler', () => {
  /** One whose sweeps note whether they were thorough. */
  function cycles(slow: ReconcilerFacts['slow'], found: (scope: SweepScope) => number) {
    const asked: boolean[] = [];
    const sweep = paced(
      {
        sweep: (_fence, _limit, scope) => {
          asked.push(scope.thorough);
          return Promise.resolve({ moved: found(scope), more: false, byWorkspace: new Map() });
        },
      },
      slow,
      1_000_000,
    );
    const run = (scope = EVERYWHERE) => sweep(() => Promise.resolve(), 1, scope);
    return { asked, run };
  }

  it('that is not slow runs in every cycle, never thoroughly by itself', async () => {
    const { asked, run } = cycles(undefined, () => 0);
    await run();
    await run();
    expect(asked).toEqual([false, false]);
  });

  it('that is slow runs at its pace, and whenever it is asked for', async () => {
    const { asked, run } = cycles(true, () => 0);
    await run();
    await run();
    expect(asked).toEqual([true]);
    await run({ ...EVERYWHERE, thorough: true });
    expect(asked).toEqual([true, true]);
  });

  it('that is slow in part runs in every cycle, and thoroughly when that moved nothing', async () => {
    let often = 1;
    const { asked, run } = cycles('partly', (scope) => (scope.thorough ? 0 : often));
    await run();
    expect(asked).toEqual([false]);
    often = 0;
    await run();
    await run();
    expect(asked).toEqual([false, false, true, false]);
    await run({ ...EVERYWHERE, thorough: true });
    expect(asked).toEqual([false, false, true, false, true]);
  });
});
