import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { refusal } from '../../../libs/hosts/agent-host/testing/refusal.js';
import { StepLease } from './step-lease.js';

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['nextTick'] });
});
afterEach(() => {
  jest.useRealTimers();
});

test('a refused renewal loses the step at once, and an outage when the lease has ended', async () => {
  const paused = new StepLease(() => Promise.reject(refusal(409, 'stale_step')));
  await jest.advanceTimersByTimeAsync(10_000);
  expect(paused.lost.aborted).toBe(true);
  paused.end();

  let isAway = false;
  const cut = new StepLease(() =>
    isAway ? Promise.reject(refusal(503, 'database_unavailable')) : Promise.resolve(),
  );
  await jest.advanceTimersByTimeAsync(120_000);
  isAway = true;
  await jest.advanceTimersByTimeAsync(50_000);
  expect(cut.lost.aborted).toBe(false);
  await jest.advanceTimersByTimeAsync(20_000);
  expect(cut.lost.aborted).toBe(true);
  cut.end();
});
