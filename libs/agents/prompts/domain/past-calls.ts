import { cut } from '#lib/kernel';

/** The events of a task's log that are the conversation with its agent. */
export const CONVERSATION_EVENTS = [
  'agent_message',
  'agent_tool',
  'agent_tool_result',
  'message_delivered',
] as const;

/** The maximum of one message in a conversation, and of a call's input and result, in characters. */
export const MAX_WORDS = 2_000;
export const MAX_PART = 300;
/** The maximum of a conversation, in characters. */
const MAX_CONVERSATION = 16_000;
/** The maximum of a list of calls, in characters. */
const MAX_CALLS = 48_000;

/** An entry of the log that a conversation consists of, without secrets. */
export interface ConversationEntry {
  event: string;
  level: string;
  message: string | null;
  /** The number of the call within its run. Workers write it, and other agents can write anything. */
  call: unknown;
  /** The name of the tool, and its input. */
  tool: string | null;
  input: string | null;
  runId: string | null;
  /** The run is later than the one of `CallsUpTo`. */
  isLater: boolean;
}

/** The first calls and messages of a run, and all of earlier runs. */
export interface CallsUpTo {
  runId: string;
  calls: number;
  messages?: number;
}

/** A call of a tool. */
interface PastCall {
  kind: 'call';
  text: string;
  /** Undefined: the log has no result of it, so it may have happened. */
  outcome?: 'done' | 'failed';
  result: string;
  entry: ConversationEntry;
}

type Part = PastCall | { kind: 'words'; text: string };

/** The end of a conversation as text. `entries` are in the order of the log. */
export function conversationOf(entries: readonly ConversationEntry[]): string {
  const parts = partsOf(entries).map((part) => {
    if (part.kind === 'words') return part.text;
    return `[tool] ${part.text}${part.outcome === undefined ? '' : `\n${outcomeOf(part)}`}`;
  });
  return endOf(parts, MAX_CONVERSATION).join('\n');
}

/**
 * The calls in the log that a kept conversation can lack, as a list.
 *
 * @param upTo the calls that it has; undefined: it is unknown
 */
export function callsAfter(
  entries: readonly ConversationEntry[],
  upTo: CallsUpTo | undefined,
): string {
  const calls = partsOf(entries)
    .filter((part) => part.kind === 'call')
    .filter(({ entry }) => isMissing(entry, upTo));
  const lines = calls.map((call) => `- ${outcomeOf(call)}\n  Call: ${call.text}`);
  const shown = endOf(lines, MAX_CALLS);
  const left = lines.length - shown.length;
  return [...(left > 0 ? [`- ${left} earlier calls are left out`] : []), ...shown].join('\n');
}

function partsOf(entries: readonly ConversationEntry[]): Part[] {
  const parts: Part[] = [];
  const calls = new Map<string, PastCall>();
  for (const entry of entries) {
    const { event, runId, call } = entry;
    const text = entry.message ?? '';
    const key = Number.isInteger(call) ? `${runId} ${String(call)}` : undefined;
    const known = key === undefined ? undefined : calls.get(key);
    if (event === 'agent_message') parts.push({ kind: 'words', text: cut(text, MAX_WORDS) });
    else if (event === 'message_delivered')
      parts.push({ kind: 'words', text: `[person] ${cut(text, MAX_WORDS)}` });
    else if (event === 'agent_tool_result') {
      if (known === undefined) continue;
      known.outcome = entry.level === 'WARN' ? 'failed' : 'done';
      known.result = cut(oneLine(text), MAX_PART);
    } else if (known === undefined) {
      const begun: PastCall = { kind: 'call', text: callOf(entry), result: '', entry };
      parts.push(begun);
      if (key !== undefined) calls.set(key, begun);
    } else known.text = callOf(entry);
  }
  return parts;
}

/**
 * Without the details of a worker, the entry has the title of the call only. Gemini CLI tells no input
 * beside the title.
 */
function callOf({ message, tool, input }: ConversationEntry): string {
  const title = message ?? '';
  const said = ['', '{}', 'null'].includes(input ?? '') ? title : input;
  const text = tool === null ? title : `${tool} ${said}`;
  return cut(oneLine(text), MAX_PART);
}

/** The result is quoted: it can have words that look like instructions. */
function outcomeOf({ outcome, result }: PastCall): string {
  return outcome === undefined ? 'may have happened' : `${outcome}, with ${JSON.stringify(result)}`;
}

function isMissing({ isLater, runId, call }: ConversationEntry, upTo?: CallsUpTo): boolean {
  return isLater || (runId === upTo?.runId && Number(call) > (upTo?.calls ?? 0));
}

/** The last texts that have the given number of characters together. */
function endOf(texts: readonly string[], most: number): string[] {
  let length = 0;
  const first = texts.findLastIndex((text) => (length += text.length + 1) > most);
  return texts.slice(first + 1);
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
