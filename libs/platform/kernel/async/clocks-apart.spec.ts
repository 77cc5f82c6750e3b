import { expect, it } from '@jest/globals';
import { clocksApart } from './clocks-apart.js';

it.each([
  [0, undefined],
  [30, undefined],
  [-30, undefined],
  [31, '31 s ahead of'],
  [-31, '31 s behind'],
  [3_600, '3600 s ahead of'],
])('a clock that differs by %s s is described as %s ours', (seconds, said) => {
  const now = 1_800_000_000_000;
  expect(clocksApart(now / 1000 + seconds, now)).toBe(said);
});
