import type { Failure } from './script.js';
import { messageOf, type Refusal, secondsUntil } from './wire.js';

/** The errors of both APIs of OpenAI. */
export function refuseAsOpenAi(failure: Failure): Refusal {
  const { status, retryAfter, resetsAt, isQuota, isContextOverflow } = failure;
  const headers: Record<string, string> = {};
  if (retryAfter !== undefined) headers['retry-after'] = `${retryAfter}`;
  if (resetsAt) {
    headers['x-ratelimit-remaining-requests'] = '0';
    headers['x-ratelimit-reset-requests'] = toDuration(secondsUntil(resetsAt));
  }
  const code = isContextOverflow
    ? 'context_length_exceeded'
    : isQuota
      ? 'insufficient_quota'
      : CODES[status];
  const type = status < 500 ? 'invalid_request_error' : 'server_error';
  return { headers, body: { error: { message: messageOf(failure), type, param: null, code } } };
}

const CODES: Partial<Record<Failure['status'], string>> = {
  401: 'invalid_api_key',
  403: 'permission_denied',
  404: 'model_not_found',
  429: 'rate_limit_exceeded',
};

/** Formats seconds as OpenAI's headers do: `6m0s`. */
function toDuration(seconds: number): string {
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor(seconds / 60) % 60;
  const rest = `${seconds % 60}s`;
  if (hours > 0) return `${hours}h${minutes}m${rest}`;
  return minutes > 0 ? `${minutes}m${rest}` : rest;
}
