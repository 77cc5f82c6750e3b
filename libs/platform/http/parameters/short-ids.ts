import type { FastifyInstance, FastifyRequest } from 'fastify';
import { DroverError, idsWith } from '#lib/kernel';

/** Finds the ids of a caller's things. An application without one accepts whole ids only. */
export interface ShortIds {
  /**
   * The ids of a collection from one id to another, or undefined if the caller must send whole ids.
   *
   * @param collection the word of the path before the id: `agent-tasks`
   * @returns at most `MAX_CANDIDATES + 1` ids
   */
  find(
    request: FastifyRequest,
    collection: string,
    range: { from: string; to: string },
  ): Promise<string[]> | undefined;
}

/** The number of ids that a refusal lists. */
export const MAX_CANDIDATES = 5;

const SHORT_IDS = Symbol('drover.short-ids');
type WithShortIds = FastifyInstance & { [SHORT_IDS]?: ShortIds };

export function setShortIds(fastify: FastifyInstance, shortIds: ShortIds): void {
  (fastify as WithShortIds)[SHORT_IDS] = shortIds;
}

/**
 * Completes the first digits of an id in a path. If no id has them, the answer is their lowest id,
 * which the service does not find either: so the refusal is that of an unknown id.
 *
 * @returns undefined if the caller must send the whole id
 * @throws DroverError `ambiguous_id`
 */
export async function completeId(
  request: FastifyRequest,
  name: string,
  digits: string,
): Promise<string | undefined> {
  const range = idsWith(digits);
  const collection = collectionBefore(request.routeOptions.url ?? '', name);
  const found =
    range && (await (request.server as WithShortIds)[SHORT_IDS]?.find(request, collection, range));
  if (range === undefined || found === undefined) return undefined;
  if (found.length > 1) throw ambiguous(digits, found);
  const id = found[0] ?? range.from;
  // Readers of the request's path see the whole id too, such as the audit log.
  (request.params as Record<string, string>)[name] = id;
  return id;
}

/** The word before a parameter: `agent-tasks` in `/api/v1/agent-tasks/:id/cancel`. */
function collectionBefore(route: string, name: string): string {
  const words = route.split('/');
  return words[words.indexOf(`:${name}`) - 1] ?? '';
}

function ambiguous(digits: string, found: readonly string[]): DroverError {
  const candidates = found.slice(0, MAX_CANDIDATES);
  const rest = found.length > MAX_CANDIDATES ? ' and more' : '';
  const detail = `${digits} begins the ids ${candidates.join(', ')}${rest}.`;
  return new DroverError('ambiguous_id', { detail, members: { candidates } });
}
