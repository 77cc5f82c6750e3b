import { Injectable } from '@nestjs/common';
import { Database } from '#lib/database';
import { actorOf, type Caller } from '#lib/kernel';
import type { BulkResult } from '../commands/bulk-commands.js';
import { requireTasks } from '../queries/require-named.js';
import { prioritizeTasks } from './prioritize-tasks.sql.js';

/** The same change of many tasks. */
@Injectable()
export class BulkUpdates {
  constructor(private readonly database: Database) {}

  /**
   * @param ids at most 1,000
   * @throws DroverError `task_not_found` if one is unknown: then nothing is done
   */
  async prioritize(caller: Caller, ids: string[], priority: number): Promise<BulkResult> {
    const { workspaceId } = caller;
    const tenant = this.database.tenant(workspaceId);
    const distinct = [...new Set(ids)];
    await requireTasks(tenant, workspaceId, distinct);
    const { kind, id } = actorOf(caller);
    const params = [workspaceId, distinct, kind, id, priority, ['priority']];
    const changed = await tenant.rows(prioritizeTasks, params);
    const skipped = distinct.length - changed.length;
    return { matched: distinct.length, changed: changed.length, skipped };
  }
}
