import type { FastifyInstance, FastifyRequest } from 'fastify';
import { DroverError, type IdRange, idsWith, idWith } from '#lib/kernel';

/** The things of a workspace, by the word before their ids in paths. */
export type Collection =
  | 'agent-tasks'
  | 'agents'
  | 'api-keys'
  | 'artifacts'
  | 'budgets'
  | 'changes'
  | 'dependencies'
  | 'inbound-hooks'
  | 'invitations'
  | 'members'
  | 'milestones'
  | 'pauses'
  | 'projects'
  | 'provider-limits'
  | 'questions'
  | 'repositories'
  | 'runs'
  | 'schedules'
  | 'task-templates'
  | 'webhooks';

/** Finds at most `MAX_CANDIDATES + 1` ids of a collection in each of the ranges. */
export type FindIds = (
  collection: Collection,
  ranges: readonly IdRange[],
) => Promise<readonly string[][]>;

/** Finds the ids of a caller's things. An application without one accepts whole ids only. */
export interface ShortIds {
  readonly collections: ReadonlySet<string>;
  /** Returns undefined if the caller must send whole ids. */
  for(request: FastifyRequest): FindIds | undefined;
}

/** The first digits of an id in a request. */
export interface ShortId {
  digits: string;
  /** The collections that can have the thing. */
  collections(): readonly Collection[];
  /** The place of the digits, as errors name it: `dependsOn[0]`. */
  field: string;
  /** Receives the whole id. */
  replace(id: string): void;
}

/** The number of ids that a refusal lists. */
export const MAX_CANDIDATES = 5;

/** The number of different ids that a request can shorten. */
export const MAX_SHORT_IDS = 1_000;

/** The description of an id that can be shortened. */
export const SHORT_ID =
  'People and API keys can send the first digits of an id instead, at least 4, if only one thing ' +
  'of the workspace has them.';

const SHORT_IDS = Symbol('drover.short-ids');
type WithShortIds = FastifyInstance & { [SHORT_IDS]?: ShortIds };

export function setShortIds(fastify: FastifyInstance, shortIds: ShortIds): void {
  (fastify as WithShortIds)[SHORT_IDS] = shortIds;
}

/** Returns undefined if the caller must send whole ids. */
export function finderFor(request: FastifyRequest): FindIds | undefined {
  return (request.server as WithShortIds)[SHORT_IDS]?.for(request);
}

/** The collection of a parameter in the path of a request, if its ids can be shortened. */
export function collectionOf(request: FastifyRequest, name: string): Collection | undefined {
  const words = (request.routeOptions.url ?? '').split('/');
  const word = words[words.indexOf(`:${name}`) - 1] ?? '';
  const known = (request.server as WithShortIds)[SHORT_IDS]?.collections.has(word);
  return known ? (word as Collection) : undefined;
}

/**
 * Completes the first digits of ids, with one statement for each collection. Digits of nothing
 * become an id that begins with them: the service does not find it either, so the answer is that
 * for an unknown id.
 *
 * @throws DroverError `ambiguous_id` for digits of several things, and `validation_failed` for more
 *   than `MAX_SHORT_IDS` different ids
 */
export async function completeIds(find: FindIds, shortIds: readonly ShortId[]): Promise<void> {
  const asked = askedRanges(shortIds);
  const found = new Map<string, readonly string[]>();
  await Promise.all(
    [...asked].map(async ([collection, ranges]) => {
      const digits = [...ranges.keys()];
      const ids = await find(collection, [...ranges.values()]);
      digits.forEach((one, index) => found.set(keyOf(collection, one), ids[index] ?? []));
    }),
  );
  for (const { digits, collections, replace } of shortIds) {
    const ids = collections().flatMap((collection) => found.get(keyOf(collection, digits)) ?? []);
    if (ids.length > 1) throw ambiguous(digits, ids.sort());
    replace(ids[0] ?? idWith(digits));
  }
}

function askedRanges(shortIds: readonly ShortId[]): Map<Collection, Map<string, IdRange>> {
  const asked = new Map<Collection, Map<string, IdRange>>();
  const different = new Set<string>();
  for (const { digits, collections, field } of shortIds) {
    different.add(digits);
    if (different.size > MAX_SHORT_IDS) throw tooMany(field);
    for (const collection of collections()) {
      const ranges = asked.get(collection) ?? new Map<string, IdRange>();
      asked.set(collection, ranges.set(digits, idsWith(digits)));
    }
  }
  return asked;
}

function keyOf(collection: Collection, digits: string): string {
  return `${collection}/${digits}`;
}

function ambiguous(digits: string, found: readonly string[]): DroverError {
  const candidates = found.slice(0, MAX_CANDIDATES);
  const rest = found.length > MAX_CANDIDATES ? ' and more' : '';
  const detail = `${digits} begins the ids ${candidates.join(', ')}${rest}.`;
  return new DroverError('ambiguous_id', { detail, members: { candidates } });
}

function tooMany(field: string): DroverError {
  const message = `must be a UUID, because ${MAX_SHORT_IDS} other ids are shortened`;
  return new DroverError('validation_failed', { errors: [{ field, message }] });
}
