import { expect, it } from '@jest/globals';
import { formatLogTime, formatMoment } from './time.js';

const NOW = Date.parse('2026-11-27T02:00:00Z');

it.each([
  ['2026-11-28T01:00:00.000Z', 'in 23 h 0 m, 2026-11-28 02:00 Europe/Berlin'],
  ['2026-11-27T02:00:30.000Z', 'in 30 s, 03:00 Europe/Berlin'],
  ['2026-11-27T01:00:00Z', '1 h 0 m ago, 02:00 Europe/Berlin'],
])('the time %s is shown as %s', (time, shown) => {
  expect(formatMoment(time, 'Europe/Berlin', NOW)).toBe(shown);
});

it('a time of a log is local and has its zone', () => {
  const shown = formatLogTime('2026-11-27T02:00:30.123Z', 'Europe/Berlin');
  expect(shown).toMatch(/^2026-11-27 03:00:30 (?:CET|GMT\+1)$/);
});
