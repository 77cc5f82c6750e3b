import { expect, it } from '@jest/globals';
import { HEADER_VALUE } from '#lib/kernel';
import { readHeaderName } from './header.js';

it.each([
  ['Authorization', { header: 'authorization' }],
  ['x-api-key', { header: 'x-api-key' }],
  ['Cookie', { header: 'cookie' }],
  ['Host', { why: expect.stringContaining('host') }],
  ['Transfer-Encoding', { why: expect.any(String) }],
  ['x y', { why: expect.any(String) }],
  ['x:', { why: expect.any(String) }],
  ['', { why: expect.any(String) }],
])('the header %s is read', (text, expected) => {
  expect(readHeaderName(text)).toEqual(expected);
});

it.each([
  ['Bearer abc', true],
  ['a', true],
  ['a\r\nX-Other: b', false],
  ['a\0', false],
  [' a', false],
  ['a ', false],
  ['é', false],
])('the value %j is accepted: %s', (value, isAccepted) => {
  expect(HEADER_VALUE.test(value)).toBe(isAccepted);
});
