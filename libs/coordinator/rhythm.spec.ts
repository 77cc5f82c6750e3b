import { describe, expect, it } from '@jest/globals';
import { EVERYWHERE, type SweepScope, type SweepResult } from '#lib/transitions';
import { Rhythm } from './rhythm.js';

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
