import type { components } from '../generated/api.js';

type Param = components['schemas']['MessageParam'];

/** Splits a message into its plain texts and its params, in order. A param it lacks is left out. */
export function splitMessage(message: string, params: readonly Param[]): (string | Param)[] {
  const parts: (string | Param)[] = [];
  let from = 0;
  for (const param of params) {
    const at = message.indexOf(param.text, from);
    if (at < 0) continue;
    parts.push(message.slice(from, at), param);
    from = at + param.text.length;
  }
  return [...parts, message.slice(from)].filter((part) => part !== '');
}

/**
 * The words for a time of a message, with its preposition: "until …" becomes "for 5 min".
 *
 * @param formatDuration formats a number of seconds
 */
export function describeTime(
  { text, name }: Param,
  nowMs: number,
  formatDuration: (seconds: number) => string,
): string {
  const seconds = (Date.parse(name) - nowMs) / 1000;
  const [preposition] = text.split(' ', 1);
  if (seconds > 0 && preposition === 'until') return `for ${formatDuration(seconds)}`;
  if (seconds > 0 && preposition === 'by') return `within ${formatDuration(seconds)}`;
  const moment = seconds > 0 ? `in ${formatDuration(seconds)}` : `${formatDuration(-seconds)} ago`;
  return preposition === 'until' || preposition === 'by' ? `${preposition} ${moment}` : moment;
}

/** The details of an audit entry in one line: `role: MEMBER, group: developers`. Empty without any. */
export function formatDetails(details: Readonly<Record<string, unknown>>): string {
  const text = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));
  return Object.entries(details)
    .map(([name, value]) => `${name}: ${value === null ? 'none' : text(value)}`)
    .join(', ');
}
