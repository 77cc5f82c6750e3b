import { Inject, Injectable } from '@nestjs/common';
import { Database } from '#lib/database';
import { DroverError } from '#lib/kernel';
import { forEyes, type TaskView } from '../domain/task-view.js';
import { toTaskView } from '../store/task-columns.js';
import { taskViews } from '../store/task-views.sql.js';

/** Reads tasks as the API shows them. */
@Injectable()
export class TaskQueries {
  constructor(@Inject(Database) private readonly db: Database) {}

  /**
   * One task, its secrets hidden.
   *
   * @throws DroverError `task_not_found`
   */
  async get(workspaceId: string, id: string): Promise<TaskView> {
    const [task] = await this.getMany(workspaceId, [id]);
    if (!task) throw new DroverError('task_not_found');
    return task;
  }

  /** Tasks in the order of `ids`, their secrets hidden; those that are not there are left out. */
  async getMany(workspaceId: string, ids: readonly string[]): Promise<TaskView[]> {
    if (ids.length === 0) return [];
    const rows = await this.db.tenant(workspaceId).rows(taskViews, [workspaceId, ids]);
    const byId = new Map(rows.map((row) => [row.id, row]));
    return ids.flatMap((id) => {
      const row = byId.get(id.toLowerCase());
      return row ? [forEyes('people', toTaskView(row))] : [];
    });
  }
}
