import { DroverError } from '#lib/kernel';

interface PgError extends Error {
  code?: string;
  constraint?: string;
}

/** SQLSTATEs after which the same transaction may well succeed. */
const RETRYABLE = new Set(['40001', '40P01', '55P03']);

/** The statement took longer than it may (statement_timeout), and was rolled back. */
const TIMED_OUT = '57014';

/** The server went away or refuses: class 08, shutdowns, too many connections, and socket errors. */
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
  return error instanceof Error && RETRYABLE.has((error as PgError).code ?? '');
}

/** Whether the database, and not the statement, is what failed. */
export function isUnreachable(error: unknown): boolean {
  if (error instanceof DroverError)
    return error.code === 'database_unavailable' || error.code === 'outcome_unknown';
  if (!(error instanceof Error)) return false;
  return UNREACHABLE.has((error as PgError).code ?? '') || BROKEN_CONNECTION.test(error.message);
}

/** The violated constraint's name, when the error is one (class 23), so that callers can say it in words. */
export function violatedConstraint(error: unknown): string | undefined {
  const { code, constraint } = (error ?? {}) as PgError;
  return code?.startsWith('23') ? (constraint ?? '') : undefined;
}

/**
 * Translates what a client should hear; passes everything else on.
 *
 * @param written whether a statement that writes, or a COMMIT, had been sent
 */
export function translateError(error: unknown, written: boolean): unknown {
  if (error instanceof DroverError) return error;
  if (isRetryable(error) || (error as PgError | null)?.code === TIMED_OUT)
    return new DroverError('conflict_retry', { retryAfterSeconds: 1, cause: error });
  if (!isUnreachable(error)) return error;
  return written
    ? new DroverError('outcome_unknown', { retryAfterSeconds: 2, cause: error })
    : new DroverError('database_unavailable', { retryAfterSeconds: 5, cause: error });
}
