import { expect, test } from '@jest/globals';
import { cleanText, shorten } from './clean-text.js';

test.each([
  ['\u001b[1;31mred\u001b[0m plain', 'red plain'],
  ['\u001b]0;title\u0007text', 'text'],
  ['10 %\r20 %\r30 %', '30 %'],
  ['tab\tstays', 'tab\tstays'],
  ['bell\u0007 and NUL\0', 'bell and NUL'],
  ['lone \ud800 surrogate', 'lone \ufffd surrogate'],
])('the line %j is shown as %j', (line, expected) => {
  expect(cleanText(line)).toBe(expected);
});

test('a cut line reports the missing characters and splits no character', () => {
  expect(shorten('12345', 5)).toBe('12345');
  expect(shorten('1234567', 5)).toBe('12345 [2 more characters]');
  expect(shorten('12345', 5, 10)).toBe('12345 [10 more characters]');
  expect(shorten('1234🐑', 5).isWellFormed()).toBe(true);
});
