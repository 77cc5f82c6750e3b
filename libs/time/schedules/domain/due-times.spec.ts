import { describe, expect, it } from '@jest/globals';
import { CronExpressionParser } from 'cron-parser';
import fc from 'fast-check';
import { dueTimesOf, nextDueTimes, whyNoCron } from './due-times.js';

/** Without Australia/Lord_Howe, whose half an hour the other library does not survive. */
const ZONES = [
  'Africa/Cairo',
  'Africa/Johannesburg',
  'America/Anchorage',
  'America/Argentina/Buenos_Aires',
  'America/Chicago',
  'America/Los_Angeles',
  'America/New_York',
  'America/Santiago',
  'America/St_Johns',
  'Asia/Beirut',
  'Asia/Kathmandu',
  'Asia/Kolkata',
  'Asia/Tokyo',
  'Atlantic/Azores',
  'Australia/Adelaide',
  'Pacific/Norfolk',
  'Australia/Sydney',
  'Europe/Berlin',
  'Europe/London',
  'Pacific/Auckland',
  'Pacific/Chatham',
  'UTC',
];
/** No fixed time of these lies in an hour that a change of the clock removes or repeats. */
const DAILY = ['30 4 * * *', '0 9 * * MON-FRI', '20 5,11,17,23 * * *'];
const FREQUENT = ['*/30 * * * *', '0 * * * *', '*/20 5 * * *'];
const RARE = ['15 12 1 * *', '59 22 31 12 *', '0 12 29 2 *', '0 20 L * *'];
const DAY_MS = 86_400_000;

const offsetAt = (timeZone: string, ms: number) =>
  new Date(ms).toLocaleString('en', { timeZone, timeZoneName: 'longOffset' }).split('GMT')[1];

/** The days of a year on which the zone changes its clock, from noon to noon. */
function clockChanges(timeZone: string): Date[] {
  const noons = Array.from({ length: 366 }, (_, day) => Date.UTC(2027, 0, 1, 12) + day * DAY_MS);
  return noons
    .filter((noon) => offsetAt(timeZone, noon) !== offsetAt(timeZone, noon + DAY_MS))
    .map((noon) => new Date(noon));
}

const cron = (expression: string, timeZone: string) =>
  dueTimesOf({ cron: expression, timeZone, everySeconds: null, anchoredAt: new Date(0) });
const every = (everySeconds: number, anchoredAt = new Date(0)) =>
  dueTimesOf({ cron: null, timeZone: null, everySeconds, anchoredAt });
const next = (expression: string, timeZone: string, from: string, count: number) =>
  nextDueTimes(cron(expression, timeZone), new Date(from), count).map((time) => time.toISOString());

interface Case {
  expression: string;
  from: Date;
  count: number;
}

function expectSame(timeZone: string, cases: readonly Case[]): void {
  for (const { expression, from, count } of cases) {
    const other = CronExpressionParser.parse(expression, { tz: timeZone, currentDate: from });
    const expected = Array.from({ length: count }, () => other.next().toDate().toISOString());
    const times = nextDueTimes(cron(expression, timeZone), from, count);
    expect({ expression, times: times.map((time) => time.toISOString()) }).toEqual({
      expression,
      times: expected,
    });
  }
}

describe('the due times of a cron expression', () => {
  it.each(ZONES)('another library finds the same due times in %s', (timeZone) => {
    const year = new Date('2027-01-01T00:00:00Z');
    const cases = [
      { expression: '30 4 * * *', from: year, count: 100 },
      ...clockChanges(timeZone).flatMap((from) => [
        ...DAILY.map((expression) => ({ expression, from, count: 10 })),
        ...FREQUENT.map((expression) => ({
          expression,
          from,
          count: 60,
        })),
      ]),
    ];
    expectSame(timeZone, cases);
  });

  it('another library finds the same rare due times', () => {
    const from = new Date('2027-01-01T00:00:00Z');
    expectSame(
      'Europe/Berlin',
      RARE.map((expression) => ({ expression, from, count: 5 })),
    );
  });

  it.each([
    ['a fixed time in a gap is due at its end', '30 2 * * *', '2027-03-27T12:00:00Z', 1],
    ['a list of fixed times in a gap is due once', '0,30 2 * * *', '2027-03-27T12:00:00Z', 1],
    ['a step in a gap is not due', '*/30 2 * * *', '2027-03-27T12:00:00Z', 0],
    ['a repeated fixed time is due once', '30 2 * * *', '2027-10-30T12:00:00Z', 1],
    ['every half hour is due 46 times on a short day', '*/30 * * * *', '2027-03-27T22:59:59Z', 46],
    ['every half hour is due 50 times on a long day', '*/30 * * * *', '2027-10-30T21:59:59Z', 50],
  ])('%s', (_, expression, from, count) => {
    const day = (time: string) =>
      new Date(time).toLocaleDateString('sv', { timeZone: 'Europe/Berlin' });
    const times = next(expression, 'Europe/Berlin', from, 60);
    const changes = ['2027-03-28', '2027-10-31'];
    expect(times.filter((time) => changes.includes(day(time)))).toHaveLength(count);
    if (from.startsWith('2027-03') && count === 1)
      expect(times[0]).toBe('2027-03-28T01:00:00.000Z');
  });

  it.each(['', 'x', '60 * * * *', '0 0 31 2 *', '? * * * *', '0 0 1 1 * 2030 *', '@every 5m'])(
    'the expression "%s" is refused',
    (expression) => {
      expect(whyNoCron(expression)).toEqual(expect.any(String));
    },
  );
});

describe('due times', () => {
  it('the last due times are those that followed each other', () => {
    const rule = fc.oneof(
      fc.record({
        expression: fc.constantFrom(...DAILY, ...FREQUENT, '30 2 * * *', '*/30 2 * * *'),
        zone: fc.constantFrom(...ZONES),
      }),
      fc.record({ seconds: fc.integer({ min: 1, max: 90_000 }) }),
    );
    const from = fc.date({
      min: new Date('2027-01-01T00:00:00Z'),
      max: new Date('2028-01-01T00:00:00Z'),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(rule, from, fc.integer({ min: 1, max: 20 }), (given, start, count) => {
        const times =
          'seconds' in given ? every(given.seconds) : cron(given.expression, given.zone);
        const following = nextDueTimes(times, start, count);
        expect(times.lastUpTo(following.at(-1) as Date, count)).toEqual(following);
      }),
      { numRuns: 200 },
    );
  });

  it('an interval is due at multiples after its anchor, which is not due itself', () => {
    const anchor = new Date('2027-01-01T00:00:10Z');
    const times = every(30, anchor);
    expect(nextDueTimes(times, new Date('2020-01-01T00:00:00Z'), 2)).toEqual([
      new Date('2027-01-01T00:00:40Z'),
      new Date('2027-01-01T00:01:10Z'),
    ]);
    expect(times.lastUpTo(anchor, 3)).toEqual([]);
  });
});
