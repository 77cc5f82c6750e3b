const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Formats the time since or until a moment in one unit: `12 s ago`, `in 3 h`. */
export function formatRelative(at: string, nowMs: number): string {
  const seconds = (nowMs - Date.parse(at)) / 1000;
  if (Math.abs(seconds) < 2) return 'now';
  return seconds > 0 ? `${formatDuration(seconds)} ago` : `in ${formatDuration(-seconds)}`;
}

/** Formats a duration in its largest unit. */
export function formatDuration(seconds: number): string {
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 2 * MINUTE) return `${Math.round(seconds)} s`;
  if (seconds < 2 * HOUR) return `${Math.round(seconds / MINUTE)} min`;
  if (seconds < 2 * DAY) return `${Math.round(seconds / HOUR)} h`;
  return `${Math.round(seconds / DAY)} d`;
}

export function formatExact(at: string): string {
  return new Date(at).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
}

/** Formats the time of day for log lines: `12:03:59`. */
export function formatClock(at: string): string {
  return new Date(at).toLocaleTimeString(undefined, { hour12: false });
}

const UNITS: [bigint, string][] = [
  [1_000_000_000_000n, 'T'],
  [1_000_000_000n, 'B'],
  [1_000_000n, 'M'],
  [1_000n, 'k'],
];

/** Formats a count, which may exceed a safe integer, in short form: `1.2M`. */
export function formatCount(count: string | number): string {
  const value = BigInt(count);
  const size = value < 0n ? -value : value;
  for (const [unit, name] of UNITS) {
    if (size < unit) continue;
    const tenths = (size * 10n) / unit;
    const text = tenths >= 1000n ? String(tenths / 10n) : `${tenths / 10n}.${tenths % 10n}`;
    return `${value < 0n ? '-' : ''}${text}${name}`;
  }
  return String(value);
}

const BYTE_UNITS = ['bytes', 'KiB', 'MiB', 'GiB'];

/** Formats a size: `1.5 MiB`. */
export function formatBytes(bytes: number): string {
  const step = bytes < 1 ? 0 : Math.min(3, Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** step;
  return `${step === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${BYTE_UNITS[step]}`;
}

/** Formats formatDollars with the significant digits only. */
export function formatDollars(usd: string | null): string {
  if (usd === null) return '–';
  const value = Number(usd);
  return `$${value === 0 || value >= 1 ? value.toFixed(2) : value.toPrecision(2)}`;
}

const ESCAPE = String.fromCharCode(27);
const ANSI = new RegExp(
  `${ESCAPE}\\[[0-9;?]*[ -/]*[@-~]|${ESCAPE}\\][^\\u0007${ESCAPE}]*\\u0007?|${ESCAPE}.?`,
  'g',
);
// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** The maximum length of a foreign text that is shown at once, in characters. */
export const MAX_SHOWN_LENGTH = 4_000;

/**
 * Removes terminal commands and text direction marks from a foreign text, so that the text cannot
 * change its surroundings.
 */
export function stripControls(text: string): string {
  return text.replace(ANSI, '').replace(CONTROLS, '');
}

const COLOUR = new RegExp(`(${ESCAPE}\\[[0-9;]*m)`);

/**
 * Returns the beginning of a text with its colour codes and without other controls, or undefined
 * if it has no colours.
 */
export function cutColouredText(text: string, longest = MAX_SHOWN_LENGTH): string | undefined {
  if (!COLOUR.test(text)) return undefined;
  const parts = text.slice(0, longest).split(COLOUR);
  return parts.map((part, index) => (index % 2 === 1 ? part : stripControls(part))).join('');
}

/** Returns the beginning of a text without controls, and the number of omitted characters. */
export function cutText(text: string, longest = MAX_SHOWN_LENGTH): [string, number] {
  if (text.length <= longest) return [stripControls(text), 0];
  return [stripControls(text.slice(0, longest)), text.length - longest];
}
