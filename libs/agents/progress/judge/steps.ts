import { createHash } from 'node:crypto';
import type { AgentEvent, FileDiff } from '#lib/agent-kinds';

/** One tool call of an agent, as far as it tells whether the work goes on. */
export interface Step {
  /** The call with its input, in words for people. */
  title: string;
  call: string;
  result: string;
  /** The result without all that differs between two occurrences of one error; null if it is none. */
  error: string | null;
  /** The states of the files that it left, as `path:hash`. */
  files: string[];
  /** Milliseconds from the call to its result. */
  tookMs: number;
}

type Call = Extract<AgentEvent, { type: 'tool_call' }>;
type Result = Extract<AgentEvent, { type: 'tool_result' }>;

/** More of an output than this tells nothing new: the middle is left out. In characters. */
const PART = 4_000;
const TITLE = 200;
/** `Exit code #` and its like. In characters. */
const SHORT = 30;

/** Times and durations differ between two equal results. */
const TIMES =
  /\b\d{1,2}:\d{2}:\d{2}(?:[.,]\d+)?\b|\b\d{4}-\d\d-\d\d\b|\b\d+(?:\.\d+)?\s?(?:ms|s|sec|secs|seconds?|m|min|minutes?)\b/g;
// oxlint-disable-next-line no-control-regex
const COLOURS = /\u001b\[[\d;]*m/g;
/** Numbers, addresses and line numbers differ between two occurrences of one error. */
const NUMBERS = /0x[\da-f]+|\d+/gi;

export function stepOf(call: Call | undefined, result: Result, tookMs: number): Step {
  const { name, input, title } = call ?? { name: '?', input: null, title: '?' };
  const text = ends(result.output.replace(COLOURS, '')).replace(TIMES, '#').trim();
  return {
    title: (title.trim() || name).slice(0, TITLE),
    call: hashOf(`${name} ${JSON.stringify(input) ?? ''}`),
    result: hashOf(`${result.ok} ${text}`),
    error: result.ok ? null : errorOf(text, call),
    files: (result.diffs ?? []).map(stateAfter),
    tookMs,
  };
}

/** A short text is that of many errors, so the call belongs to it. */
function errorOf(text: string, call: Call | undefined): string {
  const words = text.replace(NUMBERS, '#').replace(/\s+/g, ' ').trim();
  const input = words.length < SHORT ? JSON.stringify(call?.input) : '';
  return hashOf(`${input} ${words}`);
}

function ends(text: string): string {
  return text.length <= 2 * PART ? text : text.slice(0, PART) + text.slice(-PART);
}

/** Two diffs that leave the same lines leave the same file, as far as the agent tells. */
function stateAfter({ path, diff }: FileDiff): string {
  const left = diff.split('\n').filter((line) => !/^(?:-|@@|\+\+\+|diff |index )/.test(line));
  return `${path}:${hashOf(left.map((line) => line.replace(/^[+ ]/, '')).join('\n'))}`;
}

export function hashOf(text: string): string {
  return createHash('sha1').update(text).digest('base64url').slice(0, 16);
}
