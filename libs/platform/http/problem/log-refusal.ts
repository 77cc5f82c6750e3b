import type { Caller, DroverError } from '#lib/kernel';
import type { Logger } from '#lib/observability';

const IDS = ['workspaceId', 'userId', 'apiKeyId', 'agentId', 'taskId', 'runId'] as const;

/** Clients choose these names. One can be refused because it is a secret of the task. */
const NAME_OF_ARTIFACT = /(?<=\/runs\/[^/]+\/artifacts\/).+/;

/** The known parts of the request. A request that could not be parsed has only an id. */
export interface RefusedRequest {
  id: string;
  traceId?: string | undefined;
  method?: string;
  path?: string;
  /** The caller, once it is known. */
  caller?: Caller | undefined;
}

/**
 * Logs every error answer, so that the id that a client received finds its line. Faults of the
 * server have their cause; others are `request refused`.
 */
export function logRefusal(
  logger: Logger,
  { id, caller, path, ...request }: RefusedRequest,
  error: DroverError,
  exception: unknown = error,
): void {
  const { status } = error.spec;
  const shown = path?.replace(NAME_OF_ARTIFACT, '[redacted]');
  const { code } = error;
  const fields = { requestId: id, ...request, path: shown, ...idsOf(caller), status, code };
  if (status === 500) logger.error('request failed', { ...fields, error: exception });
  else if (status > 500)
    logger.warn('request could not be served', { ...fields, error: error.cause });
  else if (logger.writes('info')) {
    logger.info('request refused', { ...fields, detail: error.extras.detail });
  }
}

/**
 * Each id is a field of its own, as in all other lines. Parts of the caller's token are not logged.
 */
function idsOf(caller: Caller | undefined): Partial<Record<(typeof IDS)[number], unknown>> {
  if (!caller) return {};
  const known: Partial<Record<string, unknown>> = { ...caller };
  return Object.fromEntries(IDS.filter((id) => id in known).map((id) => [id, known[id]]));
}
