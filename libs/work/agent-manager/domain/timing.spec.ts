import { describe, expect, it } from '@jest/globals';
import { healthStatus } from './health.js';
import { timingOf, whyImpossible } from './timing.js';

describe('the timing of heartbeats', () => {
  it.each([
    [{}, undefined, [30, 180]],
    [{ heartbeatIntervalSeconds: 10 }, undefined, [10, 180]],
    [{ heartbeatIntervalSeconds: 300 }, undefined, [300, 900]],
    [{ staleThresholdSeconds: 45 }, undefined, [30, 45]],
    [{}, [10, 45], [10, 45]],
    [{ heartbeatIntervalSeconds: 20 }, [10, 45], [20, 45]],
    [{ heartbeatIntervalSeconds: 60 }, [10, 45], [60, 45]],
  ] as const)('the timing %j on %j is %j', (wanted, known, [interval, threshold]) => {
    const before = known && {
      heartbeatIntervalSeconds: known[0],
      staleThresholdSeconds: known[1],
    };
    const timing = timingOf(wanted, before);
    expect(timing).toEqual({
      heartbeatIntervalSeconds: interval,
      staleThresholdSeconds: threshold,
    });
    expect(whyImpossible(timing) === null).toBe(threshold > interval);
  });
});

describe('health', () => {
  it.each([
    [null, false, 'unknown'],
    [null, true, 'stale'],
    ['healthy', false, 'healthy'],
    ['degraded', false, 'degraded'],
    ['degraded', true, 'stale'],
  ] as const)('the health of %j, unresponsive: %j, is %s', (heartbeat, isUnresponsive, status) =>
    expect(healthStatus(heartbeat, isUnresponsive)).toBe(status),
  );
});
