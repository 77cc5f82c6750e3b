import type { JsonObject } from '#lib/agent-host';
import type { ProviderLimit } from '../api/types.js';

const MAX_NAME = 100;
export const MAX_MESSAGE = 500;
const WEEK_SECONDS = 604_800;
const MODEL = /^[\w.:@/+-]+$/;
const PROVIDER = /^[\w.-]+$/;

/**
 * Reads what a process says of a provider that has refused it.
 *
 * @returns null unless all of it is as the server wants it; members that it does not know are left out
 */
export function readProviderLimit(value: unknown): ProviderLimit | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const given = value as JsonObject;
  const named = Object.keys(READERS).filter((name) => given[name] !== undefined);
  if (!named.every((name) => READERS[name as keyof ProviderLimit](given[name]))) return null;
  if (named.includes('until') && named.includes('retryAfterSeconds')) return null;
  const limit: ProviderLimit = Object.fromEntries(named.map((name) => [name, given[name]]));
  // The server takes one form of a time, and not all that JavaScript does.
  return limit.until === undefined ? limit : { ...limit, until: timeOf(limit.until) };
}

function timeOf(text: string): string {
  return new Date(text).toISOString();
}

const READERS: Record<keyof ProviderLimit, (value: unknown) => boolean> = {
  provider: (value) => isText(value, MAX_NAME) && PROVIDER.test(value),
  model: (value) => isText(value, MAX_NAME) && MODEL.test(value),
  allModels: (value) => typeof value === 'boolean',
  kind: (value) => value === 'rate_limited' || value === 'quota_exhausted',
  retryAfterSeconds: (value) =>
    Number.isInteger(value) && Number(value) >= 1 && Number(value) <= WEEK_SECONDS,
  until: (value) => typeof value === 'string' && !Number.isNaN(Date.parse(value)),
  message: (value) => typeof value === 'string' && value.trim() !== '',
};

function isText(value: unknown, max: number): value is string {
  return typeof value === 'string' && value !== '' && value.length <= max;
}
