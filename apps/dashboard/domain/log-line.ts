import type { LogEntry } from '#lib/api-client';
import { beginningOf } from './format.js';

/** A line of a log as it is kept: a long one by its beginning, so that thousands of them fit into memory. */
export interface LogLine {
  id: string;
  at: string;
  level: string;
  text: string;
  /** Characters behind `text` that are not shown. */
  leftOut: number;
}

export function lineOf(entry: LogEntry): LogLine {
  const { id, createdAt: at, level, message, previousStatus, newStatus, actor, action } = entry;
  const moved =
    newStatus === null ? '' : `${previousStatus ?? 'new'} → ${newStatus} by ${actor.kind}`;
  const whole = [moved, message].filter(Boolean).join(': ') || action;
  const [text, leftOut] = beginningOf(whole);
  return { id, at, level, text, leftOut };
}

/** The text in parts, each with whether it is what was searched for, in upper or lower case. */
export function partsOf(text: string, search: string): [string, boolean][] {
  if (search === '') return [[text, false]];
  const lower = text.toLowerCase();
  // Where lower case is longer than upper case the places do not match: then nothing is marked.
  if (lower.length !== text.length) return [[text, false]];
  const parts: [string, boolean][] = [];
  let from = 0;
  for (let at = lower.indexOf(search); at >= 0; at = lower.indexOf(search, from)) {
    if (at > from) parts.push([text.slice(from, at), false]);
    parts.push([text.slice(at, at + search.length), true]);
    from = at + search.length;
  }
  if (from < text.length) parts.push([text.slice(from), false]);
  return parts;
}
