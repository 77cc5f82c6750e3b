import type { DroverError } from '#lib/kernel';
import type { Logger } from '#lib/observability';

/** The request as far as it is known: of one that nobody could read there is only the id. */
export interface RefusedRequest {
  id: string;
  traceId?: string | undefined;
  method?: string;
  path?: string;
}

/**
 * Every answer that is an error, so that the id that a client was told finds its line: what is our own fault with
 * its cause, the others as `request refused`.
 */
export function logRefusal(
  logger: Logger,
  { id, traceId, method, path }: RefusedRequest,
  error: DroverError,
  exception: unknown = error,
): void {
  const { status } = error.spec;
  const fields = { requestId: id, traceId, method, path, status, code: error.code };
  if (status === 500) logger.error('request failed', { ...fields, error: exception });
  else if (status > 500)
    logger.warn('request could not be served', { ...fields, error: error.cause });
  else if (logger.writes('info')) {
    logger.info('request refused', { ...fields, detail: error.extras.detail });
  }
}
