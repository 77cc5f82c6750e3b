import { describe, expect, it } from '@jest/globals';
import { Doubt } from './doubt.js';

const HOUR = 3_600_000;

/** Judges at that time, and says for how long the doubt had lasted then. */
function judge(doubt: Doubt, now: number, facts: { heardMs?: number; suspicious?: boolean } = {}) {
  const { heardMs = HOUR, suspicious = true } = facts;
  const lastsMs = doubt.lastsMs(now, heardMs);
  doubt.judged(now, suspicious, lastsMs);
  return lastsMs;
}

describe('Doubt', () => {
  it('lasts from the first suspicion, for as long as nobody is heard', () => {
    const doubt = new Doubt();
    expect(judge(doubt, 1_000)).toBe(0);
    expect(judge(doubt, 2_000)).toBe(1_000);
    expect(judge(doubt, 40_000)).toBe(39_000);
    expect(doubt.lastsMs(45_000, null)).toBe(44_000);
  });

  it('is over with the first verdict that suspects nothing', () => {
    const doubt = new Doubt();
    judge(doubt, 1_000);
    judge(doubt, 2_000, { suspicious: false });
    expect(judge(doubt, 3_000)).toBe(0);
  });

  it('is another one after somebody was heard between two verdicts', () => {
    const doubt = new Doubt();
    judge(doubt, 1_000, { heardMs: 5_000 });
    expect(judge(doubt, 21_000, { heardMs: 19_999 })).toBe(0);
    expect(judge(doubt, 31_000, { heardMs: 29_999 })).toBe(10_000);
  });

  it('is another one after nobody judged for more than a minute', () => {
    const doubt = new Doubt();
    judge(doubt, 1_000);
    expect(judge(doubt, 61_000)).toBe(60_000);
    expect(judge(doubt, 121_001)).toBe(0);
    expect(judge(doubt, 122_001)).toBe(1_000);
  });
});
