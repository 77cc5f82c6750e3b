import { ConnectionProblem, DroverProblem, type ErrorCode } from '#lib/api-client';

/** A JSON object as it travels. */
export type JsonObject = Record<string, unknown>;

/** Of the answer to the call that failed; undefined when there was none. */
export function statusOf(error: unknown): number | undefined {
  const isAnswer = error instanceof DroverProblem || error instanceof ConnectionProblem;
  return isAnswer ? error.status : undefined;
}

/** Whether the same request may succeed later as it is. */
export function isTransient(error: unknown): boolean {
  if (error instanceof ConnectionProblem) return error.status === undefined || passes(error.status);
  if (!(error instanceof DroverProblem)) return false;
  return passes(error.status) || error.code === 'idempotency_in_progress';
}

function passes(status: number): boolean {
  return status >= 500 || status === 429 || status === 408;
}

/** A proxy in front of the server may refuse as the server does. */
export function isUnauthenticated(error: unknown): boolean {
  return statusOf(error) === 401;
}

/** Whether waiting may cure it: a refused token is renewed beside the calls that it was refused for. */
export function isCurable(error: unknown): boolean {
  return isTransient(error) || isUnauthenticated(error);
}

/** The body is at fault, and would be again. A proxy may find it too large before the server does. */
export function isBodyRefused(error: unknown): boolean {
  return [400, 413, 422].includes(statusOf(error) ?? 0);
}

export function hasCode(error: unknown, ...codes: ErrorCode[]): boolean {
  return error instanceof DroverProblem && codes.includes(error.code);
}

const MAX_WAIT_MS = 300_000;

/** Milliseconds that the server wants to be left alone, five minutes at most; undefined where it names none. */
export function askedWaitMs(error: unknown): number | undefined {
  const isAnswer = error instanceof DroverProblem || error instanceof ConnectionProblem;
  const seconds = isAnswer ? error.retryAfterSeconds : undefined;
  return seconds === undefined ? undefined : Math.min(seconds * 1000, MAX_WAIT_MS);
}

/** What an error says, without its stack. */
export function messageOf(error: unknown): string {
  if (!(error instanceof DroverProblem))
    return error instanceof Error ? error.message : String(error);
  const { title, detail = title, errors = [] } = error.problem;
  const fields = errors.slice(0, 5).map(({ field, message }) => `${field} ${message}`);
  return fields.length === 0 ? detail : `${detail}: ${fields.join('; ')}`;
}
