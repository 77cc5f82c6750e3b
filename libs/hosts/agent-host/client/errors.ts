import { ConnectionProblem, DroverProblem, type ErrorCode } from '#lib/api-client';

/** A JSON object as it is sent. */
export type JsonObject = Record<string, unknown>;

/** The status of the answer to the failed call; undefined if there was no answer. */
export function statusOf(error: unknown): number | undefined {
  const isAnswer = error instanceof DroverProblem || error instanceof ConnectionProblem;
  return isAnswer ? error.status : undefined;
}

/** True if the same request can succeed later, unchanged. */
export function isTransient(error: unknown): boolean {
  if (error instanceof ConnectionProblem)
    return error.status === undefined || isTransientStatus(error.status);
  if (!(error instanceof DroverProblem)) return false;
  return isTransientStatus(error.status) || error.code === 'idempotency_in_progress';
}

function isTransientStatus(status: number): boolean {
  return status >= 500 || status === 429 || status === 408;
}

/** A proxy in front of the server can refuse a call in the same way. */
export function isUnauthenticated(error: unknown): boolean {
  return statusOf(error) === 401;
}

/** True if waiting can help: a refused token is renewed beside the refused calls. */
export function isCurable(error: unknown): boolean {
  return isTransient(error) || isUnauthenticated(error);
}

/**
 * True if the body is the problem and always will be. A proxy can find it too large before the
 * server does.
 */
export function isBodyRefused(error: unknown): boolean {
  return [400, 413, 422].includes(statusOf(error) ?? 0);
}

export function hasCode(error: unknown, ...codes: ErrorCode[]): boolean {
  return error instanceof DroverProblem && codes.includes(error.code);
}

const MAX_WAIT_MS = 300_000;

/**
 * The milliseconds to wait that the server asks for, at most 5 minutes; undefined if it asks for
 * none.
 */
export function askedWaitMs(error: unknown): number | undefined {
  const isAnswer = error instanceof DroverProblem || error instanceof ConnectionProblem;
  const seconds = isAnswer ? error.retryAfterSeconds : undefined;
  return seconds === undefined ? undefined : Math.min(seconds * 1000, MAX_WAIT_MS);
}

/** The message of an error, without its stack. */
export function messageOf(error: unknown): string {
  if (!(error instanceof DroverProblem))
    return error instanceof Error ? error.message : String(error);
  const { title, detail = title, errors = [] } = error.problem;
  const fields = errors.slice(0, 5).map(({ field, message }) => `${field} ${message}`);
  return fields.length === 0 ? detail : `${detail}: ${fields.join('; ')}`;
}
