import { describeEntry, type LogEntry, timeOfEntry } from '#lib/api-client';
import { cutColouredText, cutText, stripControls } from './format.js';

/** A log line in memory. A long line is cut so that thousands of lines fit. */
export interface LogLine {
  id: string;
  at: string;
  level: string;
  event: string;
  text: string;
  /** The text with the codes of its colours, if it has some. */
  coloured?: string;
  runId: string | null;
  /** Number of characters after `text` that were cut. */
  leftOut: number;
  /** The id of the files of a message. */
  attachments?: unknown;
  /** The artifact with the whole text. */
  whole?: { runId: string; name: string };
  /** The input of a tool call. */
  input?: { text: string; leftOut: number; whole: { runId: string; name: string } | undefined };
}

interface Details {
  data?: unknown;
  artifact?: unknown;
  input?: unknown;
  inputArtifact?: unknown;
}
/** Inputs that tell nothing. */
const EMPTY = ['', '{}', 'null'];

export function toLogLine(entry: LogEntry): LogLine {
  const { id, level, event, details, runId } = entry;
  const at = timeOfEntry(entry);
  const whole = describeEntry(entry);
  const [text, leftOut] = cutText(whole);
  const coloured = cutColouredText(whole);
  const { data, artifact, input, inputArtifact } = (details ?? {}) as Details;
  const fileOf = (name: unknown) =>
    typeof name === 'string' && runId !== null ? { runId, name } : undefined;
  const file = fileOf(artifact);
  const { attachments } = (data ?? {}) as { attachments?: unknown };
  return {
    id,
    at,
    level,
    event,
    text,
    leftOut,
    runId,
    ...(coloured !== undefined && { coloured }),
    ...(attachments !== undefined && { attachments }),
    ...(file !== undefined && { whole: file }),
    ...(typeof input === 'string' &&
      !EMPTY.includes(input) && { input: inputOf(input, fileOf(inputArtifact)) }),
  };
}

function inputOf(json: string, whole: { runId: string; name: string } | undefined) {
  const [text, leftOut] = cutText(json);
  return { text, leftOut, whole };
}

/** Formats an entry as a line of a file, whole and without colours: time, level, text. */
export function toFileLine(entry: LogEntry): string {
  return `${timeOfEntry(entry)} ${entry.level} ${stripControls(describeEntry(entry))}`;
}

/** Splits a text at the matches of a search, regardless of case. `true` marks a match. */
export function splitMatches(text: string, search: string): [string, boolean][] {
  if (search === '') return [[text, false]];
  const lower = text.toLowerCase();
  // If the lower-case text has another length, positions differ and nothing is marked.
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
