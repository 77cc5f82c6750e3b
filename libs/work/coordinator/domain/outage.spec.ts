import { describe, expect, it } from '@jest/globals';
import { Outage } from './outage.js';

describe('Outage', () => {
  it('an outage waits 5, 10, 20 and then 40 seconds, and alerts once after five minutes', () => {
    const outage = new Outage();
    let now = 1_000;
    const steps = Array.from({ length: 14 }, () => {
      const step = outage.failed(now);
      now += step.waitMs;
      return step;
    });
    expect(steps.slice(0, 6).map((step) => step.waitMs / 1_000)).toEqual([5, 10, 20, 40, 40, 40]);
    // 5 + 10 + 20 + 7 * 40 = 315 s: the first attempt past 300 s is the eleventh.
    expect(steps.map((step) => step.alert).indexOf(true)).toBe(10);
    expect(steps.filter((step) => step.alert)).toHaveLength(1);
  });

  it('a failure after a long time without one starts a new outage', () => {
    const outage = new Outage();
    outage.failed(1_000);
    expect(outage.failed(1_000_000)).toEqual({ waitMs: 5_000, alert: false });
    expect(outage.over(1_001_000)).toBe(1_000);
  });

  it('the end of an outage returns its duration, and the next outage starts again', () => {
    const outage = new Outage();
    expect(outage.over(0)).toBeUndefined();
    outage.failed(1_000);
    outage.failed(6_000);
    expect(outage.over(7_500)).toBe(6_500);
    expect(outage.failed(400_000)).toEqual({ waitMs: 5_000, alert: false });
  });
});
