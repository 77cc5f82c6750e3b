import type { Conversation, ConversationItem, Failure, ServedUsage } from './script.js';
import type { ToolCall } from './tools.js';

/** A request of an agent, as a wire reads it. */
export interface Asked {
  model: string;
  isStream: boolean;
  conversation: Conversation;
}

/** An answer of the model, for a wire to write. */
export interface Reply {
  id: string;
  model: string;
  /** The text in its chunks. */
  parts: string[];
  reasoning: string;
  calls: ToolCall[];
  usage: ServedUsage;
  isRefusal: boolean;
}

export interface Refusal {
  headers: Record<string, string>;
  body: unknown;
}

/** A protocol of a provider. */
export interface Wire {
  read(body: JsonObject, path: string): Asked;
  /** The events of a stream. A chunk of a turn is one element. */
  stream(reply: Reply, body: JsonObject): string[];
  whole(reply: Reply, body: JsonObject): unknown;
  refuse(failure: Failure): Refusal;
}

export type JsonObject = Record<string, unknown>;

export function objects(value: unknown): JsonObject[] {
  return Array.isArray(value) ? (value as JsonObject[]) : [];
}

/** Returns the text of a string, or of a list of parts with texts. */
export function textIn(content: unknown): string {
  if (typeof content === 'string') return content;
  return objects(content)
    .map(({ text }) => (typeof text === 'string' ? text : ''))
    .join('');
}

export function resultOf(text: string): ConversationItem {
  return { kind: 'result', text };
}

/** Formats events of a stream; an event without a name has its data only. */
export function sse(data: unknown, event?: string): string {
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  return `${event === undefined ? '' : `event: ${event}\n`}data: ${text}\n\n`;
}

export function messageOf({ status, isContextOverflow, isQuota }: Failure): string {
  if (isContextOverflow) return 'prompt is too long: 215000 tokens > 200000 maximum';
  if (isQuota)
    return 'You exceeded your current quota, please check your plan and billing details.';
  return MESSAGES[status];
}

const MESSAGES: Record<Failure['status'], string> = {
  400: 'The request is invalid.',
  401: 'The API key is invalid.',
  402: 'The credit balance is too low.',
  403: 'The key has no access to this model.',
  404: 'The model does not exist.',
  429: 'Rate limit reached for requests.',
  500: 'Internal server error',
  503: 'The service is unavailable.',
  529: 'Overloaded',
};

export function secondsUntil(time: Date): number {
  return Math.max(0, Math.ceil((time.getTime() - Date.now()) / 1000));
}
