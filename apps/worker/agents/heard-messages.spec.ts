import { expect, it } from '@jest/globals';
import { HeardMessages } from './heard-messages.js';

it('the first messages that a program has for 5 s are settled, and none behind a missing one', () => {
  let now = 0;
  const messages = new HeardMessages(() => now);
  const settledAt = (time: number) => {
    now = time;
    return messages.settled();
  };
  messages.heard([1]);
  now = 2_000;
  messages.heard([3, 2]);
  expect([4_999, 5_000, 6_999, 7_000].map(settledAt)).toEqual([0, 1, 1, 3]);
  messages.heard([5]);
  expect(settledAt(20_000)).toBe(3);
  messages.heard([4]);
  expect([20_000, 25_000].map(settledAt)).toEqual([3, 5]);
});
