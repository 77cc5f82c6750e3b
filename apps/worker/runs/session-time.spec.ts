import { expect, test } from '@jest/globals';
import { sessionTime } from './session-time.js';

const NO_LIMITS = { sessionSeconds: 0, maxSessionSeconds: 0 };
const SERVICE = { sessionSeconds: 1_800, maxSessionSeconds: 7_200 };

test('a run has the timeout of its task, then that of its worker, and the maximum of its worker', () => {
  expect(sessionTime(null, NO_LIMITS)).toBeNull();
  expect(sessionTime(86_400, NO_LIMITS)).toBe(86_400);
  expect(sessionTime(undefined, SERVICE)).toBe(1_800);
  expect(sessionTime(60, SERVICE)).toBe(60);
  expect(sessionTime(86_400, SERVICE)).toBe(7_200);
  expect(sessionTime(null, { ...SERVICE, sessionSeconds: 0 })).toBe(7_200);
  expect(sessionTime(86_400, { ...SERVICE, maxSessionSeconds: 0 })).toBe(86_400);
});
