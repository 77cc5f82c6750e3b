import { beforeEach, expect, test } from '@jest/globals';
import { ToolCalls } from './tool-calls.js';

let now: number;
let calls: ToolCalls;

beforeEach(() => {
  now = 100_000;
  calls = new ToolCalls(() => now);
});

test('a call counts as settled seconds after its result', () => {
  expect([calls.begin('a'), calls.settled()]).toEqual([1, 0]);
  expect(calls.finish('a')).toBe(1);
  expect(calls.settled()).toBe(0);
  now += 5_000;
  expect(calls.settled()).toBe(1);
});

test('calls after an open one are not settled, and a turn leaves none open', () => {
  expect(['a', 'b', 'a', 'c'].map((id) => calls.begin(id))).toEqual([1, 2, 1, 3]);
  for (const id of ['a', 'c']) calls.finish(id);
  now += 5_000;
  expect(calls.settled()).toBe(1);
  calls.endTurn();
  now += 5_000;
  expect(calls.settled()).toBe(3);
});

test('an id that comes again after its result is another call', () => {
  calls.begin('a');
  expect([calls.finish('a'), calls.finish('a'), calls.begin('a')]).toEqual([1, undefined, 2]);
});
