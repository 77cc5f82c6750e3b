import type { IncomingHttpHeaders } from 'node:http';
import type { ModelAccess } from '../domain/contract.js';

const HOP_BY_HOP = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];
/** Keys and accounts are the proxy's matter; encoded answers could not be read. */
const NOT_SENT = new Set([
  ...HOP_BY_HOP,
  'accept-encoding',
  'authorization',
  'content-length',
  'cookie',
  'expect',
  'forwarded',
  'host',
  'openai-organization',
  'openai-project',
  'x-api-key',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-goog-api-key',
  'x-goog-user-project',
]);
/** The account of the key is not the agent's matter. */
const NOT_RETURNED = new Set([
  ...HOP_BY_HOP,
  'alt-svc',
  'anthropic-organization-id',
  'content-length',
  'openai-organization',
  'openai-project',
  'set-cookie',
]);

/** Returns the headers of a request for the provider, with its key. */
export function headersToProvider(
  sent: IncomingHttpHeaders,
  { provider, key, headers = {} }: ModelAccess,
): Record<string, string | string[]> {
  const own = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  return {
    ...without(sent, NOT_SENT),
    'accept-encoding': 'identity',
    ...(provider === 'anthropic' ? { 'x-api-key': key } : {}),
    ...(provider === 'openai' ? { authorization: `Bearer ${key}` } : {}),
    ...(provider === 'gemini' ? { 'x-goog-api-key': key } : {}),
    ...Object.fromEntries(own),
  };
}

/** Returns the headers of an answer for the agent. */
export function headersToAgent(answer: IncomingHttpHeaders): Record<string, string | string[]> {
  return without(answer, NOT_RETURNED);
}

function without(
  headers: IncomingHttpHeaders,
  dropped: ReadonlySet<string>,
): Record<string, string | string[]> {
  const named = headers.connection?.split(',').map((name) => name.trim().toLowerCase()) ?? [];
  const result: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !dropped.has(name) && !named.includes(name)) result[name] = value;
  }
  return result;
}
