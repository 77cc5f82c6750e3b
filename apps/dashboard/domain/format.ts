const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The time since a moment, or until it, in one unit: `12 s ago`, `in 3 h`. */
export function agoOf(at: string, nowMs: number): string {
  const seconds = (nowMs - Date.parse(at)) / 1000;
  if (Math.abs(seconds) < 2) return 'now';
  return seconds > 0 ? `${lengthOf(seconds)} ago` : `in ${lengthOf(-seconds)}`;
}

/** A length of time in its largest unit. */
export function lengthOf(seconds: number): string {
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 2 * MINUTE) return `${Math.round(seconds)} s`;
  if (seconds < 2 * HOUR) return `${Math.round(seconds / MINUTE)} min`;
  if (seconds < 2 * DAY) return `${Math.round(seconds / HOUR)} h`;
  return `${Math.round(seconds / DAY)} d`;
}

export function exactOf(at: string): string {
  return new Date(at).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
}

/** `12:03:59`, for lines of a log. */
export function clockOf(at: string): string {
  return new Date(at).toLocaleTimeString(undefined, { hour12: false });
}

const UNITS: [bigint, string][] = [
  [1_000_000_000_000n, 'T'],
  [1_000_000_000n, 'B'],
  [1_000_000n, 'M'],
  [1_000n, 'k'],
];

/** A count that may be beyond what a number can hold, short: `1.2 M`. */
export function shortCount(count: string | number): string {
  const value = BigInt(count);
  const size = value < 0n ? -value : value;
  for (const [unit, name] of UNITS) {
    if (size < unit) continue;
    const tenths = (size * 10n) / unit;
    const text = tenths >= 1000n ? String(tenths / 10n) : `${tenths / 10n}.${tenths % 10n}`;
    return `${value < 0n ? '-' : ''}${text} ${name}`;
  }
  return String(value);
}

/** Dollars with as many digits as say something. */
export function dollars(usd: string | null): string {
  if (usd === null) return '–';
  const value = Number(usd);
  return `$${value === 0 || value >= 1 ? value.toFixed(2) : value.toPrecision(2)}`;
}

const ESCAPE = String.fromCharCode(27);
const ANSI = new RegExp(
  `${ESCAPE}\\[[0-9;?]*[ -/]*[@-~]|${ESCAPE}\\][^\\u0007${ESCAPE}]*\\u0007?|${ESCAPE}.?`,
  'g',
);
// eslint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** The longest piece of a foreign text that is shown at once, in characters. */
export const LONGEST_SHOWN = 4_000;

/**
 * What a terminal or another program wrote, as text that changes nothing around it: without the commands of terminals,
 * and without the marks that turn the direction of what follows.
 */
export function plainOf(text: string): string {
  return text.replace(ANSI, '').replace(CONTROLS, '');
}

/** The beginning of a plain text, and how many characters were left out. */
export function beginningOf(text: string, longest = LONGEST_SHOWN): [string, number] {
  if (text.length <= longest) return [plainOf(text), 0];
  return [plainOf(text.slice(0, longest)), text.length - longest];
}
