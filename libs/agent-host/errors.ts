/** A JSON object as it travels. */
export type JsonObject = Record<string, unknown>;

/** The server did not answer; whether it acted is unknown. */
export class NetworkError extends Error {}

/** The server answered with a problem document, or with another status than success; or it would, to such a body. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    detail: string,
    readonly retryAfterMs: number | undefined,
  ) {
    super(detail);
  }
}

/** Makes an error of an answer that is not a success. */
export function toApiError(status: number, body: unknown, retryAfter?: string): ApiError {
  const problem = (typeof body === 'object' && body !== null ? body : {}) as JsonObject;
  const code = typeof problem['code'] === 'string' ? problem['code'] : `http_${status}`;
  const detail = problem['detail'] ?? problem['title'] ?? `The server answered ${status}`;
  return new ApiError(status, code, `${String(detail)}${fieldErrors(problem)}`, waitOf(retryAfter));
}

function fieldErrors(problem: JsonObject): string {
  if (!Array.isArray(problem['errors'])) return '';
  const lines = (problem['errors'] as JsonObject[]).map(
    (error) => `${String(error['field'])} ${String(error['message'])}`,
  );
  return `: ${lines.slice(0, 5).join('; ')}`;
}

const MAX_WAIT_MS = 300_000;

/** Retry-After in milliseconds, whether it came as seconds or as a date; at most five minutes. */
export function waitOf(retryAfter: string | undefined, now = Date.now()): number | undefined {
  if (retryAfter === undefined) return undefined;
  const seconds = Number(retryAfter);
  const wait = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(retryAfter) - now;
  return Number.isFinite(wait) ? Math.min(Math.max(wait, 0), MAX_WAIT_MS) : undefined;
}

/** Whether the same request may succeed later as it is. */
export function isTransient(error: unknown): boolean {
  if (error instanceof NetworkError) return true;
  if (!(error instanceof ApiError)) return false;
  return (
    error.status >= 500 ||
    error.status === 429 ||
    error.status === 408 ||
    error.code === 'idempotency_in_progress'
  );
}

export function isUnauthenticated(error: unknown): boolean {
  return error instanceof ApiError && error.status === 401;
}

export function hasCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof ApiError && codes.includes(error.code);
}
