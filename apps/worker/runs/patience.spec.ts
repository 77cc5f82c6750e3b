import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { Patience, timeForFiles } from './patience.js';

const MIB = 1_048_576;

beforeEach(() => void jest.useFakeTimers({ now: Date.parse('2026-11-26T00:00:00Z') }));
afterEach(() => void jest.useRealTimers());

test('each file that is sent gives the next one its time, and a larger one more', () => {
  const patience = new Patience();
  for (let n = 0; n < 4; n++) {
    jest.advanceTimersByTime(29_000);
    patience.begin(1_000);
  }
  expect(patience.signal.aborted).toBe(false);
  patience.begin(50 * MIB);
  jest.advanceTimersByTime(129_000);
  expect(patience.signal.aborted).toBe(false);
  jest.advanceTimersByTime(1_000);
  expect(patience.signal.aborted).toBe(true);
});

test('the time for a file does not pass while the files of other runs are sent', () => {
  const patience = new Patience(200_000);
  patience.wait();
  jest.advanceTimersByTime(199_000);
  expect(patience.signal.aborted).toBe(false);
  jest.advanceTimersByTime(1_000);
  expect(patience.signal.aborted).toBe(true);
});

test('the files together have a time of their own', () => {
  const patience = new Patience(60_000);
  patience.begin(50 * MIB);
  jest.advanceTimersByTime(60_000);
  expect(patience.signal.aborted).toBe(true);
  const short = new Patience(-1);
  jest.advanceTimersByTime(29_999);
  expect(short.signal.aborted).toBe(false);
  jest.advanceTimersByTime(1);
  expect(short.signal.aborted).toBe(true);
});

test('the time for files ends before the server stops waiting for the run', () => {
  const startedAt = new Date(Date.now() - 100_000).toISOString();
  const timed = { timeoutSeconds: 160, startedAt, stopping: null };
  expect(timeForFiles(timed)).toBe(90_000);
  expect(timeForFiles({ ...timed, stopping: {} })).toBe(30_000);
  expect(timeForFiles({ ...timed, timeoutSeconds: null })).toBe(900_000);
});
