import type { Caller, DroverError } from '#lib/kernel';
import type { Logger } from '#lib/observability';

const IDS = ['workspaceId', 'userId', 'apiKeyId', 'agentId', 'taskId', 'runId'] as const;

/** The request as far as it is known: of one that nobody could read there is only the id. */
export interface RefusedRequest {
  id: string;
  traceId?: string | undefined;
  method?: string;
  path?: string;
  /** Whoever asked, once that is known. */
  caller?: Caller | undefined;
}

/**
 * Every answer that is an error, so that the id that a client was told finds its line: what is our own fault with
 * its cause, the others as `request refused`.
 */
export function logRefusal(
  logger: Logger,
  { id, caller, ...request }: RefusedRequest,
  error: DroverError,
  exception: unknown = error,
): void {
  const { status } = error.spec;
  const fields = { requestId: id, ...request, ...idsOf(caller), status, code: error.code };
  if (status === 500) logger.error('request failed', { ...fields, error: exception });
  else if (status > 500)
    logger.warn('request could not be served', { ...fields, error: error.cause });
  else if (logger.writes('info')) {
    logger.info('request refused', { ...fields, detail: error.extras.detail });
  }
}

/** Each a field of its own, as in all other lines; not the marks of its token. */
function idsOf(caller: Caller | undefined): Partial<Record<(typeof IDS)[number], unknown>> {
  if (!caller) return {};
  const known: Partial<Record<string, unknown>> = { ...caller };
  return Object.fromEntries(IDS.filter((id) => id in known).map((id) => [id, known[id]]));
}
