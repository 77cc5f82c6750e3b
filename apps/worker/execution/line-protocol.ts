import { copyStart } from '#lib/session-runtime';
import type { JsonObject } from '#lib/agent-host';
import { ENTRY_LEVELS, type EntryLevel, type ProviderLimit, type Question } from '../api/types.js';
import { readProviderLimit } from './provider-limit-line.js';
import { readQuestion } from './question-line.js';
import { readUsage, type UsageLine } from './usage-line.js';

export const PROTOCOL_PREFIX = '::drover ';
/** Characters of one protocol line; a checkpoint or result beyond it belongs in its file. */
export const MAX_PROTOCOL_LINE = 262_144;
const MAX_STEP = 500;
const MAX_SUMMARY = 10_000;

/** The content of one protocol line; at least one member is present. */
export interface ProtocolMessage {
  /** A whole number from 0 to 100. */
  progress?: number;
  step?: string;
  checkpoint?: JsonObject;
  result?: JsonObject;
  summary?: string;
  log?: { level: EntryLevel; message: string };
  error?: { message?: string; retryable?: boolean };
  /** At least one report. */
  usage?: UsageLine[];
  providerLimit?: ProviderLimit;
  ask?: Question;
}

/**
 * Reads a line of a process' standard output. Members that it does not know are passed over, so a
 * program may speak a later version of the protocol; a known member of the wrong shape makes the
 * whole line ordinary output, so that its author sees it in the log.
 *
 * @returns null for a line that is ordinary output
 */
export function parseProtocolLine(line: string): ProtocolMessage | null {
  if (!line.startsWith(PROTOCOL_PREFIX)) return null;
  const value = parseObject(line.slice(PROTOCOL_PREFIX.length));
  if (value === null) return null;
  const message: ProtocolMessage = {};
  for (const [name, read] of Object.entries(READERS)) {
    if (!Object.hasOwn(value, name)) continue;
    if (!read(value[name], message)) return null;
  }
  return Object.keys(message).length === 0 ? null : message;
}

/** @returns null unless the text is a JSON object */
export function parseObject(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

const READERS: Record<keyof ProtocolMessage, (value: unknown, into: ProtocolMessage) => boolean> = {
  progress: (value, into) => {
    if (typeof value !== 'number' || !(value >= 0 && value <= 100)) return false;
    into.progress = Math.floor(value);
    return true;
  },
  step: (value, into) => {
    if (typeof value !== 'string') return false;
    into.step = copyStart(value, MAX_STEP);
    return true;
  },
  checkpoint: (value, into) => {
    if (!isObject(value)) return false;
    into.checkpoint = value;
    return true;
  },
  result: (value, into) => {
    if (!isObject(value)) return false;
    into.result = value;
    return true;
  },
  summary: (value, into) => {
    if (typeof value !== 'string') return false;
    into.summary = copyStart(value, MAX_SUMMARY);
    return true;
  },
  log: (value, into) => {
    if (!isObject(value) || typeof value['message'] !== 'string') return false;
    const level = ENTRY_LEVELS.find((known) => known === (value['level'] ?? 'INFO'));
    if (level === undefined) return false;
    into.log = { level, message: value['message'] };
    return true;
  },
  error: (value, into) => {
    if (!isObject(value)) return false;
    const { message, retryable } = value;
    if (message !== undefined && typeof message !== 'string') return false;
    if (retryable !== undefined && typeof retryable !== 'boolean') return false;
    into.error = { message, retryable };
    return true;
  },
  usage: (value, into) => {
    const reports = readUsage(value);
    if (reports !== null) into.usage = reports;
    return reports !== null;
  },
  ask: (value, into) => {
    const question = readQuestion(value);
    if (question !== null) into.ask = question;
    return question !== null;
  },
  providerLimit: (value, into) => {
    const limit = readProviderLimit(value);
    if (limit !== null) into.providerLimit = limit;
    return limit !== null;
  },
};

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
