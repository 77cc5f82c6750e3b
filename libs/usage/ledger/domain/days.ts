/** A period of days as `YYYY-MM-DD`, with both days in it. */
export interface Days {
  from: string;
  to: string;
}

const DAY_MS = 86_400_000;
const DEFAULT_DAYS = 30;

/**
 * Completes the period of a request. The default is 30 days, up to today in the time zone or beside
 * the given day.
 */
export function requestedDays({ from, to }: Partial<Days>, now: number, timeZone = 'UTC'): Days {
  const today = dayIn(timeZone, now);
  const until = to ?? (from === undefined ? today : latest(from, today));
  return { from: from ?? dayOf(Date.parse(until) - (DEFAULT_DAYS - 1) * DAY_MS), to: until };
}

/**
 * Finds the whole months of a period: the first day of the first month, and the first day after the
 * last. Without a whole month, both are the first day of the period.
 */
export function wholeMonths({ from, to }: Days): { first: string; end: string } {
  const first = from.endsWith('-01')
    ? from
    : monthOf(dayOf(Date.parse(monthOf(from)) + 31 * DAY_MS));
  const end = monthOf(dayAfter(to));
  return first < end ? { first, end } : { first: from, end: from };
}

/** Returns the next day. */
export function dayAfter(day: string): string {
  return dayOf(Date.parse(day) + DAY_MS);
}

/** Checks that a value is an existing day, from the year 1970 to 2999. */
export function isDay(value: unknown): value is string {
  if (typeof value !== 'string' || !/^(?:19[7-9]\d|2\d{3})-\d\d-\d\d$/.test(value)) return false;
  const time = Date.parse(`${value}T00:00:00Z`);
  return !Number.isNaN(time) && dayOf(time) === value;
}

function dayIn(timeZone: string, time: number): string {
  // This language writes days as ISO 8601 does.
  return new Intl.DateTimeFormat('sv', { timeZone }).format(time);
}

function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

function monthOf(day: string): string {
  return `${day.slice(0, 8)}01`;
}

/** Returns the later one of two days. */
export function latest(one: string, other: string): string {
  return one > other ? one : other;
}
