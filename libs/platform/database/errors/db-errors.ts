import { isNativeError } from 'node:util/types';
import { DroverError } from '#lib/kernel';

interface PgError extends Error {
  code?: string;
  constraint?: string;
  severity?: string;
}

/** SQLSTATEs after which a repetition of the transaction can succeed. */
const RETRYABLE = new Set(['40001', '40P01']);

/**
 * The statement ran, or waited for a lock, longer than its limit (statement_timeout, lock_timeout)
 * and was rolled back. The client decides about a repetition, because it would wait again.
 */
const TIMED_OUT = new Set(['57014', '55P03']);

/**
 * The server answers but refuses to write: it is read-only (a standby, or an operator's setting),
 * out of disk or memory, or its disk fails. Nothing was changed.
 */
const REFUSED = new Set(['25006', '53000', '53100', '53200', '53400', '58000', '58030']);

/**
 * The server went away or refuses connections: class 08, shutdowns, too many connections, and
 * socket errors.
 */
const UNREACHABLE = new Set([
  '08000',
  '08001',
  '08003',
  '08004',
  '08006',
  '57P01',
  '57P02',
  '57P03',
  '53300',
  // The server ended the session because of one of its limits.
  '25P03',
  '25P04',
  '57P05',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
]);

const BROKEN_CONNECTION =
  /^(Connection terminated|Query read timeout|timeout exceeded when trying to connect|timeout expired|Client has encountered a connection error|Client was closed)/;

export function isRetryable(error: unknown): boolean {
  return isNativeError(error) && RETRYABLE.has((error as PgError).code ?? '');
}

export function isTimedOut(error: unknown): boolean {
  return isNativeError(error) && TIMED_OUT.has((error as PgError).code ?? '');
}

/** Whether the database failed, and not the statement. */
export function isUnreachable(error: unknown): boolean {
  if (error instanceof DroverError)
    return error.code === 'database_unavailable' || error.code === 'outcome_unknown';
  // Not `instanceof Error`: socket errors can come from another realm, for example under Jest.
  if (!isNativeError(error)) return false;
  if (refusesWrites(error) || endedByPooler(error)) return true;
  return UNREACHABLE.has((error as PgError).code ?? '') || BROKEN_CONNECTION.test(error.message);
}

/** Whether the same statement can succeed later: the database was away, or a lock in the way. */
export function mayPass(error: unknown): boolean {
  return isUnreachable(error) || (error instanceof DroverError && error.code === 'conflict_retry');
}

/** Whether the database answers but accepts no changes, judged by a Drover or driver error. */
export function refusesWrites(error: unknown): boolean {
  const source = error instanceof DroverError ? error.extras.cause : error;
  return isNativeError(source) && REFUSED.has((source as PgError).code ?? '');
}

/**
 * A pooler reports this when it has no server for a client. From Postgres itself, 08P01 is a bug of
 * ours.
 */
function endedByPooler(error: PgError): boolean {
  return error.code === '08P01' && error.severity === 'FATAL';
}

/** The name of the violated constraint of a class 23 error, so that callers can describe it. */
export function violatedConstraint(error: unknown): string | undefined {
  const { code, constraint } = (error ?? {}) as PgError;
  return code?.startsWith('23') ? (constraint ?? '') : undefined;
}

/** Whether Postgres does not know a time zone that the runtime knows. */
export function isUnknownTimeZone(error: unknown): boolean {
  const { code, message } = (error ?? {}) as PgError;
  return code === '22023' && /^time zone ".*" not recognized$/.test(message);
}

/**
 * Translates errors that a client should see, and passes all others on.
 *
 * @param written whether a writing statement or a COMMIT had been sent
 */
export function translateError(error: unknown, written: boolean): unknown {
  if (error instanceof DroverError) return error;
  if (isRetryable(error) || isTimedOut(error))
    return new DroverError('conflict_retry', { retryAfterSeconds: 1, cause: error });
  if (!isUnreachable(error)) return error;
  if (refusesWrites(error))
    return new DroverError('database_unavailable', {
      detail: 'The database takes no changes now: it is read-only, or short of disk or memory.',
      retryAfterSeconds: 5,
      cause: error,
    });
  return written
    ? new DroverError('outcome_unknown', { retryAfterSeconds: 2, cause: error })
    : new DroverError('database_unavailable', { retryAfterSeconds: 5, cause: error });
}
