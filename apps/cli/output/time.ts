import { formatDuration } from './duration.js';

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;

/** True for a time of the API. */
export function isTime(text: string): boolean {
  return ISO.test(text);
}

/**
 * Formats a time for people: `in 23 h 0 m, 2026-11-28 02:00 Europe/Berlin`. A time of today has no
 * date.
 *
 * @param timeZone its time zone. Default: that of this machine
 */
export function formatMoment(time: string, timeZone = ownTimeZone(), now = Date.now()): string {
  const at = Date.parse(time);
  const seconds = (at - now) / 1000;
  const distance =
    seconds > 0 ? `in ${formatDuration(seconds)}` : `${formatDuration(-seconds)} ago`;
  const [date, clock] = inZone(at, timeZone);
  const local = date === inZone(now, timeZone)[0] ? clock : `${date} ${clock}`;
  return `${distance}, ${local} ${timeZone}`;
}

/** Formats a time of a log in the time zone of this machine: `2026-11-27 03:12:33 CET`. */
export function formatLogTime(time: string, timeZone = ownTimeZone()): string {
  const format = { timeZone, dateStyle: 'short', timeStyle: 'long' } as const;
  return new Intl.DateTimeFormat('sv-SE', format).format(Date.parse(time));
}

function ownTimeZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

function inZone(at: number, timeZone: string): string[] {
  const format = { timeZone, dateStyle: 'short', timeStyle: 'short' } as const;
  return new Intl.DateTimeFormat('sv-SE', format).format(at).split(' ');
}
