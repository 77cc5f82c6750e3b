import { Injectable } from '@nestjs/common';
import { Database, firstRow } from '#lib/database';
import { type Caller, DroverError } from '#lib/kernel';
import type { BulkResult } from '../commands/bulk-commands.js';
import { requireTasks } from '../queries/require-named.js';
import { taskState } from '../store/task-state.sql.js';
import { TaskUpdates } from './task-updates.js';

/** The same change of many tasks. */
@Injectable()
export class BulkUpdates {
  constructor(
    private readonly database: Database,
    private readonly updates: TaskUpdates,
  ) {}

  /**
   * Each task is changed by itself, so a repetition after an interruption continues with the rest.
   *
   * @param ids at most 1,000
   * @throws DroverError `task_not_found` if one is unknown: then nothing is done
   */
  async prioritize(caller: Caller, ids: string[], priority: number): Promise<BulkResult> {
    const { workspaceId } = caller;
    const distinct = [...new Set(ids)];
    await requireTasks(this.database.tenant(workspaceId), workspaceId, distinct);
    const result: BulkResult = { matched: distinct.length, changed: 0, skipped: 0 };
    for (const id of distinct) {
      const isChanged = await this.change(caller, id, priority);
      result[isChanged ? 'changed' : 'skipped'] += 1;
    }
    return result;
  }

  private async change(caller: Caller, id: string, priority: number): Promise<boolean> {
    try {
      const { workspaceId } = caller;
      const before = await firstRow(this.database.tenant(workspaceId), taskState, [
        workspaceId,
        id,
      ]);
      const { version } = await this.updates.update(caller, id, { fields: { priority } });
      return version !== before?.version;
    } catch (error) {
      if (error instanceof DroverError && error.code === 'task_closed') return false;
      throw error;
    }
  }
}
