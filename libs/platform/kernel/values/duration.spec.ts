import { expect, test } from '@jest/globals';
import { parseDuration } from './duration.js';

test.each([
  ['30m', 1_800],
  ['2h', 7_200],
  ['90s', 90],
  ['1d', 86_400],
  ['1h30m', 5_400],
  ['1d2h3m4s', 93_784],
  ['0s', 0],
  ['600', 600],
])('the duration %s has %d seconds', (text, seconds) => {
  expect(parseDuration(text)).toBe(seconds);
});

test.each([
  '',
  ' ',
  'm',
  '-5m',
  '1.5h',
  '30 m',
  '30M',
  '5m1h',
  '1h30',
  '1e3',
  '99999999999999999d',
])('the text "%s" is not a duration', (text) => {
  expect(parseDuration(text)).toBeUndefined();
});
