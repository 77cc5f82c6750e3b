import { describe, expect, it } from '@jest/globals';
import type { QuietHours } from './kinds.js';
import { quietUntil } from './quiet-hours.js';

const BERLIN = 'Europe/Berlin';
const NIGHT: QuietHours = { from: '22:00', to: '07:00', timeZone: BERLIN };
const LUNCH: QuietHours = { from: '12:00', to: '13:00', timeZone: 'UTC' };
const WEEKEND: QuietHours = { from: '00:00', to: '00:00', timeZone: BERLIN, days: ['SAT', 'SUN'] };
/** In the hour that is skipped in March and repeated in October. */
const GAP: QuietHours = { from: '02:30', to: '04:00', timeZone: BERLIN };
const NEPAL: QuietHours = { from: '22:00', to: '06:00', timeZone: 'Asia/Kathmandu' };
const FRIDAYS: QuietHours = { ...NIGHT, days: ['FRI'] };

describe('quiet hours', () => {
  it.each<[string, QuietHours, string, string | undefined]>([
    ['before noon', LUNCH, '2026-11-23T11:59:59.999Z', undefined],
    ['at their beginning', LUNCH, '2026-11-23T12:00:00Z', '2026-11-23T13:00:00Z'],
    ['at their last moment', LUNCH, '2026-11-23T12:59:59.999Z', '2026-11-23T13:00:00Z'],
    ['at their end', LUNCH, '2026-11-23T13:00:00Z', undefined],

    ['in the evening', NIGHT, '2026-11-23T21:30:00Z', '2026-11-24T06:00:00Z'],
    ['after midnight', NIGHT, '2026-11-24T02:00:00Z', '2026-11-24T06:00:00Z'],
    ['in the afternoon', NIGHT, '2026-11-23T14:00:00Z', undefined],
    ['on the last night of a year', NIGHT, '2026-12-31T22:00:00Z', '2027-01-01T06:00:00Z'],
    ['in another year by the clocks there', NIGHT, '2026-12-31T23:30:00Z', '2027-01-01T06:00:00Z'],

    // On 29 March 2026 clocks go from 02:00 to 03:00, on 25 October from 03:00 to 02:00.
    ['in the short night', NIGHT, '2026-03-28T22:00:00Z', '2026-03-29T05:00:00Z'],
    ['in the long night', NIGHT, '2026-10-24T22:00:00Z', '2026-10-25T06:00:00Z'],
    ['in the hour that comes twice', NIGHT, '2026-10-25T01:30:00Z', '2026-10-25T06:00:00Z'],
    ['before a beginning that is left out', GAP, '2026-03-29T01:29:59Z', undefined],
    ['after a beginning that is left out', GAP, '2026-03-29T01:30:00Z', '2026-03-29T02:00:00Z'],
    ['at the first beginning of two', GAP, '2026-10-25T00:30:00Z', '2026-10-25T03:00:00Z'],

    ['on a Friday', WEEKEND, '2026-11-20T22:59:59Z', undefined],
    ['on a Saturday', WEEKEND, '2026-11-20T23:00:00Z', '2026-11-22T23:00:00Z'],
    ['on a Sunday', WEEKEND, '2026-11-22T12:00:00Z', '2026-11-22T23:00:00Z'],
    ['in a weekend with a long day', WEEKEND, '2026-10-24T10:00:00Z', '2026-10-25T23:00:00Z'],

    ['in the night of their day', FRIDAYS, '2026-11-21T03:00:00Z', '2026-11-21T06:00:00Z'],
    ['in the night after', FRIDAYS, '2026-11-21T22:00:00Z', undefined],
    ['in the morning of their day', FRIDAYS, '2026-11-20T03:00:00Z', undefined],

    ['with minutes in the offset', NEPAL, '2026-11-23T16:15:00Z', '2026-11-24T00:15:00Z'],
    ['a moment before that', NEPAL, '2026-11-23T16:14:59Z', undefined],
  ])('%s', (_, quiet, now, end) => {
    const until = quietUntil(quiet, Date.parse(now));
    expect(until && new Date(until).toISOString()).toBe(end && new Date(end).toISOString());
  });
});
