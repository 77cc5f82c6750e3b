import { describe, expect, it } from '@jest/globals';
import { endpointPause, GIVE_UP_AFTER_MS, nextAttempt, retryAfterMs } from './schedule.js';

const HOUR = 3_600_000;

describe('the schedule of a delivery', () => {
  it.each([
    [1, 5_000],
    [2, 30_000],
    [3, 120_000],
    [5, 1_800_000],
    [8, 4 * HOUR],
    [30, 4 * HOUR],
  ])('after %i failures the wait is %i ms, plus or minus a fifth', (failures, ms) => {
    const waits = [0, 0.5, 0.999].map((random) => {
      const next = nextAttempt({ failures, leftMs: GIVE_UP_AFTER_MS }, random);
      return next.kind === 'retry' ? next.inMs : undefined;
    });
    expect(waits[0]).toBe(0.8 * ms);
    expect(waits[1]).toBe(ms);
    expect(waits[2]).toBeGreaterThan(1.19 * ms);
  });

  it.each([0, 0.5, 0.999])(
    'a delivery is abandoned within 24 hours after a dozen attempts (%f)',
    (random) => {
      let [leftMs, failures] = [GIVE_UP_AFTER_MS, 1];
      for (; ; failures++) {
        const next = nextAttempt({ failures, leftMs }, random);
        if (next.kind === 'dead') break;
        leftMs -= next.inMs;
      }
      expect(failures).toBeGreaterThanOrEqual(11);
      expect(failures).toBeLessThanOrEqual(16);
      expect(leftMs).toBeLessThan(5 * HOUR);
    },
  );

  it.each([
    [60_000, 60_000],
    [1_000, 5_000],
    [10 * HOUR, HOUR],
  ])('a Retry-After of %i ms is honoured within bounds: %i ms', (asked, waits) => {
    const failed = { failures: 1, leftMs: GIVE_UP_AFTER_MS, retryAfterMs: asked };
    expect(nextAttempt(failed, 0.5)).toEqual({ kind: 'retry', inMs: waits });
  });

  it.each([
    ['7', 7_000],
    [' 0 ', 0],
    ['Sun, 22 Nov 2026 12:00:30 GMT', 30_000],
    ['Sun, 22 Nov 2026 11:00:00 GMT', 0],
    ['soon', undefined],
    ['-1', undefined],
    ['1.5', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('the header %p means %p ms', (header, ms) => {
    expect(retryAfterMs(header, Date.parse('2026-11-22T12:00:00Z'))).toBe(ms);
  });
});

describe('the pause of an endpoint', () => {
  it.each([
    [0, 0],
    [1, 0],
    [2, 1_000],
    [3, 2_000],
    [10, 256_000],
    [11, 300_000],
    [10_000, 300_000],
  ])(
    'after %i consecutive failures the pause is between half of %i ms and all of it',
    (failures, ms) => {
      expect(endpointPause(failures, 0)).toBe(ms / 2);
      expect(endpointPause(failures, 0.9999)).toBeLessThanOrEqual(ms);
    },
  );
});
