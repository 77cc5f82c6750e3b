import type { Provider } from './contract.js';

/**
 * Returns the body of an error in the provider's own form, so that every agent shows its sentence.
 *
 * @param code a stable word for programs, for example `budget_exceeded`
 */
export function refusalBody(
  provider: Provider,
  { status, code, message }: { status: number; code: string; message: string },
): object {
  const kind = KINDS[status] ?? KINDS[500];
  if (provider === 'anthropic')
    return { type: 'error', error: { type: kind?.anthropic, message, code } };
  if (provider === 'openai') {
    return { error: { message, type: kind?.openai, param: null, code } };
  }
  const details = [
    {
      '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
      reason: code.toUpperCase(),
      domain: 'drover',
    },
  ];
  return { error: { code: status, message, status: kind?.gemini, details } };
}

const KINDS: Record<number, Record<Provider, string>> = {
  400: {
    anthropic: 'invalid_request_error',
    openai: 'invalid_request_error',
    gemini: 'INVALID_ARGUMENT',
  },
  401: {
    anthropic: 'authentication_error',
    openai: 'authentication_error',
    gemini: 'UNAUTHENTICATED',
  },
  403: { anthropic: 'permission_error', openai: 'permission_error', gemini: 'PERMISSION_DENIED' },
  404: { anthropic: 'not_found_error', openai: 'invalid_request_error', gemini: 'NOT_FOUND' },
  413: {
    anthropic: 'request_too_large',
    openai: 'invalid_request_error',
    gemini: 'INVALID_ARGUMENT',
  },
  415: {
    anthropic: 'invalid_request_error',
    openai: 'invalid_request_error',
    gemini: 'INVALID_ARGUMENT',
  },
  500: { anthropic: 'api_error', openai: 'server_error', gemini: 'UNAVAILABLE' },
};
