import type { FastifyRequest } from 'fastify';
import type { Database } from '#lib/database';
import type { ShortIds } from '#lib/http';
import type { AuthenticatedRequest } from '#lib/identity';
import { IDS_BETWEEN } from './ids-between.sql.js';

/**
 * Finds ids for people and API keys in their workspace. Agents and runs receive whole ids, and must
 * not learn other ids by guessing.
 */
export class ShortIdsOfTenant implements ShortIds {
  constructor(private readonly db: Database) {}

  find(
    request: FastifyRequest,
    collection: string,
    { from, to }: { from: string; to: string },
  ): Promise<string[]> | undefined {
    const { caller } = request as AuthenticatedRequest;
    const statement = IDS_BETWEEN[collection];
    const isPerson = caller?.kind === 'user' || caller?.kind === 'api_key';
    if (!isPerson || statement === undefined) return undefined;
    const { workspaceId } = caller;
    const rows = this.db.tenant(workspaceId).rows(statement, [workspaceId, from, to]);
    return rows.then((found) => found.map(({ id }) => id));
  }
}
