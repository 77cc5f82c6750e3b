import { DAYS, type QuietHours } from './kinds.js';

const DAY_MS = 86_400_000;
/**
 * Maximum number of consecutive quiet days that are joined. A week of only quiet hours is refused.
 */
const MAX_JOINED = 8;
const MAX_CLOCKS = 1_000;

/**
 * The end of the quiet hours at a moment. Undefined outside of them. Consecutive quiet hours
 * without a gap are one.
 *
 * @param now milliseconds since 1970
 * @returns milliseconds since 1970
 */
export function quietUntil(quiet: QuietHours, now: number): number | undefined {
  let end = endOf(quiet, now);
  for (let joined = 1; end !== undefined && joined < MAX_JOINED; joined++) {
    const later = endOf(quiet, end);
    if (later === undefined) break;
    end = later;
  }
  return end;
}

function endOf({ from, to, timeZone, days }: QuietHours, now: number): number | undefined {
  const today = dayOf(now, timeZone);
  // They may have started yesterday.
  for (const day of [today, today - DAY_MS]) {
    if (days && !days.includes(DAYS[new Date(day).getUTCDay()] ?? 'SUN')) continue;
    const lasting = minutesOf(to) <= minutesOf(from) ? DAY_MS : 0;
    const start = instantOf(day + minutesOf(from) * 60_000, timeZone);
    const end = instantOf(day + lasting + minutesOf(to) * 60_000, timeZone);
    if (start <= now && now < end) return end;
  }
  return undefined;
}

function minutesOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return hours * 60 + minutes;
}

/** Midnight of the local day, as if the local time were UTC. */
function dayOf(now: number, timeZone: string): number {
  const shown = now + offsetAt(now, timeZone);
  return shown - (((shown % DAY_MS) + DAY_MS) % DAY_MS);
}

/**
 * The moment of a local time. For a repeated time it is the first moment. For a skipped time it is
 * as long after the start of the gap as without the gap.
 */
function instantOf(shown: number, timeZone: string): number {
  const before = offsetAt(shown - DAY_MS, timeZone);
  const after = offsetAt(shown + DAY_MS, timeZone);
  const candidates = [shown - before, shown - after].filter(
    (at) => at + offsetAt(at, timeZone) === shown,
  );
  return candidates.length > 0 ? Math.min(...candidates) : shown - before;
}

/** Milliseconds by which local time is ahead of UTC. */
function offsetAt(at: number, timeZone: string): number {
  const parts = clockOf(timeZone).formatToParts(at);
  const of = (type: string) => Number(parts.find((part) => part.type === type)?.value);
  const shown = Date.UTC(
    ...([of('year'), of('month') - 1, of('day'), of('hour'), of('minute'), of('second')] as const),
  );
  return shown - Math.floor(at / 1_000) * 1_000;
}

/** Creating a clock takes longer than all the rest. */
const clocks = new Map<string, Intl.DateTimeFormat>();

/**
 * @throws RangeError for an unknown time zone
 */
function clockOf(timeZone: string): Intl.DateTimeFormat {
  const known = clocks.get(timeZone);
  if (known) return known;
  const clock = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  } as Intl.DateTimeFormatOptions);
  // There are some hundred time zones, but names in any case make them many more.
  if (clocks.size >= MAX_CLOCKS) clocks.clear();
  clocks.set(timeZone, clock);
  return clock;
}
