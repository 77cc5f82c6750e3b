import type { JsonObject } from '#lib/agent-host';
import type { UsageReport } from '../api/types.js';

/** Reports on one line, as many as the server takes in one request. */
const MAX_REPORTS = 100;
/** Characters of an id, of a model and of an operation. */
export const MAX_NAME = 100;
/** What the server takes for possible, in one report. */
const MAX_TOKENS = 10n ** 12n;
const MAX_USD = 1_000_000;
const MODEL = /^[\w.:@/+-]+$/;
const WHOLE = /^\d{1,19}$/;
const DECIMAL = /^\d{1,7}(\.\d{1,12})?$/;

/** A report whose author may have left the naming to us. */
export type UsageLine = Omit<UsageReport, 'id'> & { id?: string };

/**
 * Reads what a process says of the tokens that it used: one report or a list of them.
 *
 * @returns null unless all of it is as the server wants it; members that it does not know are left out
 */
export function readUsage(value: unknown): UsageLine[] | null {
  const given = Array.isArray(value) ? (value as unknown[]) : [value];
  if (given.length === 0 || given.length > MAX_REPORTS) return null;
  const reports = given.map(readReport);
  return reports.includes(null) ? null : (reports as UsageLine[]);
}

const READERS: Record<keyof UsageLine, (value: unknown) => boolean> = {
  id: isName,
  model: (value) => isName(value) && MODEL.test(value),
  operation: isName,
  inputTokens: isTokens,
  outputTokens: isTokens,
  cacheReadTokens: isTokens,
  cacheWriteTokens: isTokens,
  costUsd: isUsd,
};
const REQUIRED = ['model', 'inputTokens', 'outputTokens'] as const;

function readReport(value: unknown): UsageLine | null {
  if (typeof value !== 'object' || value === null) return null;
  const given = value as JsonObject;
  const named = Object.keys(READERS).filter((name) => given[name] !== undefined);
  if (!REQUIRED.every((name) => named.includes(name))) return null;
  if (!named.every((name) => READERS[name as keyof UsageLine](given[name]))) return null;
  return Object.fromEntries(named.map((name) => [name, given[name]])) as unknown as UsageLine;
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= MAX_NAME;
}

function isTokens(value: unknown): boolean {
  if (typeof value === 'number') return Number.isSafeInteger(value) && isTokens(String(value));
  return typeof value === 'string' && WHOLE.test(value) && BigInt(value) <= MAX_TOKENS;
}

function isUsd(value: unknown): boolean {
  if (typeof value === 'number') return value >= 0 && value <= MAX_USD;
  return typeof value === 'string' && DECIMAL.test(value) && Number(value) <= MAX_USD;
}
