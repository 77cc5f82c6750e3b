import type { FastifyRequest } from 'fastify';
import type { Database } from '#lib/database';
import type { FindIds, ShortIds } from '#lib/http';
import type { AuthenticatedRequest } from '#lib/identity';
import { IDS_BETWEEN } from './ids-between.sql.js';

/**
 * Finds ids for people and API keys in their workspace. Agents and runs receive whole ids, and must
 * not learn other ids by guessing.
 */
export class ShortIdsOfTenant implements ShortIds {
  readonly collections: ReadonlySet<string> = new Set(Object.keys(IDS_BETWEEN));

  constructor(private readonly db: Database) {}

  for(request: FastifyRequest): FindIds | undefined {
    const { caller } = request as AuthenticatedRequest;
    if (caller?.kind !== 'user' && caller?.kind !== 'api_key') return undefined;
    const { workspaceId } = caller;
    return async (collection, ranges) => {
      const [low, high] = [ranges.map(({ from }) => from), ranges.map(({ to }) => to)];
      const params = [workspaceId, low, high];
      const rows = await this.db.tenant(workspaceId).rows(IDS_BETWEEN[collection], params);
      const found: string[][] = ranges.map(() => []);
      for (const { nth, id } of rows) found[nth - 1]?.push(id);
      return found;
    };
  }
}
