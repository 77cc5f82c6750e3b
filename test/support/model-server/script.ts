import { setTimeout as delay } from 'node:timers/promises';

/** A tool call of a scripted turn. The server finds the agent's tool that does it. */
export type ScriptedCall =
  | { write: string; content: string }
  | { run: string }
  | {
      /** The tool's name, or its end: `report_progress` finds `mcp__drover__report_progress`. */
      tool: string;
      input: Record<string, unknown>;
    };

/** Tokens of one request, as the provider bills them. */
export interface ServedUsage {
  /** Without the cached tokens. */
  input: number;
  /** With the reasoning tokens. */
  output: number;
  reasoning: number;
  cacheRead: number;
  /** Anthropic alone reports it; 0 for the others. */
  cacheWrite: number;
}

/** A refusal by the provider, in the form of its API. */
export interface Failure {
  status: 400 | 401 | 402 | 403 | 404 | 429 | 500 | 503 | 529;
  /** The number of refusals before the turn succeeds (default: always). */
  times?: number;
  /** Seconds, for the header `retry-after`. */
  retryAfter?: number;
  /** The time of the reset, for the reset headers of the provider. */
  resetsAt?: Date;
  /** The account's quota is used up, unlike a short rate limit. */
  isQuota?: boolean;
  /** The conversation exceeds the model's context (status 400). */
  isContextOverflow?: boolean;
}

/** One answer of the model. */
export interface Turn {
  /** The answer's text (default: `Done.` without calls, none with calls). */
  text?: string;
  calls?: ScriptedCall[];
  /** Text of the model's reasoning. */
  reasoning?: string;
  usage?: Partial<ServedUsage>;
  /** The number of chunks that carry the text (default 2). */
  chunks?: number;
  /** The time between two chunks in milliseconds (default 0). */
  delayMs?: number;
  /** Awaited before each chunk of the stream, and before its cut. The first chunk is 0. */
  beforeChunk?: (chunk: number) => Promise<void> | void;
  fails?: Failure;
  /** Breaks the connection after this number of chunks. */
  cutAfter?: number;
  /** Sends nothing more after this number of chunks, and keeps the connection open. */
  hangAfter?: number;
  /** Refuses to answer for reasons of safety, as a finished message of the model. */
  isRefusal?: boolean;
}

/** The conversation in a request, the same for all wires. */
export interface Conversation {
  /** The user's texts before the first answer of the model. */
  prompt: string;
  /** The user's texts after it. */
  later: string;
  items: ConversationItem[];
  tools: OfferedTool[];
}

export interface ConversationItem {
  /** An answer of the model, or the result of a tool. */
  kind: 'text' | 'result';
  text: string;
}

/** A tool that the agent offers. */
export interface OfferedTool {
  name: string;
  /** The group of the tool in the Responses API. */
  namespace?: string;
  /** Takes free text instead of an object (Responses API). */
  isFreeform?: boolean;
  schema?: JsonSchema;
}

export interface JsonSchema {
  type?: string;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  enum?: unknown[];
}

/** The turns of every conversation, or those of the given conversation. */
export type Script = Turn[] | ((conversation: Conversation) => Turn[]);

export function turnsOf(script: Script, conversation: Conversation): Turn[] {
  return typeof script === 'function' ? script(conversation) : script;
}

/**
 * Returns the number of turns that the conversation has passed. A turn with calls is passed with its
 * last tool result, a turn without calls when its whole text is in the conversation. So a resumed
 * conversation goes on where it was, also after an answer that was cut.
 */
export function passedTurns(turns: Turn[], items: ConversationItem[]): number {
  let passed = 0;
  let results = 0;
  for (const item of items) {
    if (item.kind === 'text') {
      const turn = turns[passed];
      if (turn && !hasCalls(turn) && item.text.includes(textOf(turn))) passed += 1;
      continue;
    }
    const next = turns.findIndex((turn, index) => index >= passed && hasCalls(turn));
    if (next < 0) return turns.length;
    passed = next;
    results += 1;
    if (results < (turns[passed]?.calls?.length ?? 0)) continue;
    passed += 1;
    results = 0;
  }
  return passed;
}

export function hasCalls({ calls = [] }: Turn): boolean {
  return calls.length > 0;
}

export function textOf(turn: Turn): string {
  return turn.text ?? (hasCalls(turn) ? '' : 'Done.');
}

/** Splits a text into the given number of parts, of which none is empty. */
export function partsOf(text: string, count: number): string[] {
  const size = Math.max(1, Math.ceil(text.length / Math.max(1, count)));
  const parts: string[] = [];
  for (let start = 0; start < text.length; start += size)
    parts.push(text.slice(start, start + size));
  return parts;
}

export async function waitBefore(turn: Turn, chunk: number): Promise<void> {
  if (turn.delayMs && chunk > 0) await delay(turn.delayMs);
  await turn.beforeChunk?.(chunk);
}
