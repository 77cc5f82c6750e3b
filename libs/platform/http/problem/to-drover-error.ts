import { HttpException } from '@nestjs/common';
import { DroverError, type ErrorCode } from '#lib/kernel';

const FASTIFY_CODES: Record<string, ErrorCode> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'payload_too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_EMPTY_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_INVALID_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'malformed_json',
  FST_ERR_CTP_INVALID_JSON_BODY: 'malformed_json',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'malformed_header',
};

const URL_ERRORS: Record<string, string> = {
  FST_ERR_BAD_URL: 'is not a well-formed URL path',
  FST_ERR_MAX_PARAM_LENGTH: 'has a part that is too long',
};

const STATUS_CODES: Record<number, ErrorCode> = {
  400: 'validation_failed',
  401: 'unauthenticated',
  403: 'forbidden',
  404: 'route_not_found',
  405: 'method_not_allowed',
  413: 'payload_too_large',
  414: 'validation_failed',
  415: 'unsupported_media_type',
  429: 'rate_limited',
  503: 'shutting_down',
};

/** Prisma's own codes for a value that the column refuses. */
const PRISMA_VALUE_ERRORS = new Set([
  'P2000',
  'P2005',
  'P2006',
  'P2007',
  'P2019',
  'P2020',
  'P2023',
]);

const NOT_STORABLE = 'A value has a form or size that cannot be stored.';
const OUT_OF_RANGE = '22003';
const TOO_LARGE = 'A number, or a sum that it would become part of, is too large to be stored.';

/**
 * The error as the client sees it. An unexpected error becomes `internal_error` without details.
 */
export function toDroverError(error: unknown): DroverError {
  if (error instanceof DroverError) return error;
  const source = error instanceof HttpException && error.cause ? error.cause : error;
  if (source instanceof DroverError) return source;
  return (
    fromFastify(source) ??
    fromDatabase(source) ??
    fromStatus(error) ??
    new DroverError('internal_error', { cause: error })
  );
}

function fromFastify(error: unknown): DroverError | undefined {
  const code = codeOf(error);
  const urlError = URL_ERRORS[code];
  if (urlError !== undefined) {
    return new DroverError('validation_failed', { errors: [{ field: 'path', message: urlError }] });
  }
  const known = FASTIFY_CODES[code];
  if (known === undefined) return undefined;
  const detail =
    known === 'malformed_header' ? 'Content-Length is not the length of the body.' : undefined;
  return new DroverError(known, { detail });
}

/** Class 22, "data exception": the statement was correct, its value was not. */
function fromDatabase(error: unknown): DroverError | undefined {
  const code = codeOf(error);
  const driverCode = driverCodeOf(error);
  const isPostgres = [code, driverCode].some((each) => /^22[0-9A-Z]{3}$/.test(each));
  if (!isPostgres && !PRISMA_VALUE_ERRORS.has(code)) return undefined;
  return new DroverError('validation_failed', {
    detail: [code, driverCode].includes(OUT_OF_RANGE) ? TOO_LARGE : NOT_STORABLE,
    cause: error,
  });
}

function fromStatus(error: unknown): DroverError | undefined {
  const status = statusOf(error);
  const code = status === undefined ? undefined : STATUS_CODES[status];
  if (code === undefined) return undefined;
  // Nest and Fastify write for developers. Only their texts about a bad request help the client.
  const detail = status === 400 ? (error as Error).message : undefined;
  return new DroverError(code, { detail, cause: error });
}

function statusOf(error: unknown): number | undefined {
  if (error instanceof HttpException) return error.getStatus();
  const { statusCode } = (error ?? {}) as { statusCode?: unknown };
  const isClients = typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500;
  return isClients ? statusCode : undefined;
}

function codeOf(error: unknown): string {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : '';
}

/** Prisma stores the driver's SQLSTATE deep inside its own error. */
function driverCodeOf(error: unknown): string {
  type PrismaError = { meta?: { driverAdapterError?: { cause?: { originalCode?: unknown } } } };
  const code = (error as PrismaError | null)?.meta?.driverAdapterError?.cause?.originalCode;
  return typeof code === 'string' ? code : '';
}
