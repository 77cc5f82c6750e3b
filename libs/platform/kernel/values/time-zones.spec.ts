import { expect, it } from '@jest/globals';
import { isTimeZone } from './time-zones.js';

it.each([
  ['Europe/Berlin', true],
  ['America/Argentina/Buenos_Aires', true],
  ['UTC', true],
  ['Etc/GMT+3', true],
  ['Mars/Olympus', false],
  ['+02:00', false],
  ['', false],
  [7, false],
])('whether %p is a time zone: %p', (name, known) => {
  expect(isTimeZone(name)).toBe(known);
});
