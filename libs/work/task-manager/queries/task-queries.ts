import { Injectable } from '@nestjs/common';
import { Database } from '#lib/database';
import {
  type Caller,
  decodeCursor,
  DroverError,
  idOfCursor,
  isUuid,
  malformedCursor,
  type Page,
  toPage,
} from '#lib/kernel';
import type { PageRequest, TaskFilter, TaskSort } from '../domain/task-filter.js';
import type { TaskView } from '../domain/task-view.js';
import { HeldSecrets } from '#lib/secrets';
import { type ListedTask, listTasks, type TaskPage } from './list-tasks.sql.js';
import { toTaskView } from '../store/task-columns.sql.js';
import { taskViews } from '../store/task-views.sql.js';
import { requireNamed } from './require-named.js';
import { sightOf } from './require-readable.js';

/** Reads tasks for the API. */
@Injectable()
export class TaskQueries {
  constructor(
    private readonly db: Database,
    private readonly secrets: HeldSecrets,
  ) {}

  /**
   * One task with hidden secrets, the answer to commands.
   *
   * @throws DroverError `task_not_found`
   */
  async get(workspaceId: string, id: string): Promise<TaskView> {
    const [task] = await this.getMany(workspaceId, [id]);
    if (!task) throw new DroverError('task_not_found');
    return task;
  }

  /** Tasks in the order of `ids` with hidden secrets, without missing ones. */
  async getMany(workspaceId: string, ids: readonly string[]): Promise<TaskView[]> {
    if (ids.length === 0) return [];
    const rows = await this.db.tenant(workspaceId).rows(taskViews, [workspaceId, ids]);
    const byId = new Map(rows.map((row) => [row.id, row]));
    return ids.flatMap((id) => {
      const row = byId.get(id.toLowerCase());
      return row ? [toTaskView(row)] : [];
    });
  }

  /**
   * One task as the caller can see it. Agents and runs see their tasks with secrets, and the
   * subtasks.
   *
   * @throws DroverError `task_not_found`, `secrets_unreadable`
   */
  async read(caller: Caller, id: string): Promise<TaskView> {
    const { workspaceId } = caller;
    const tenant = this.db.tenant(workspaceId);
    const [row] = await tenant.rows(taskViews, [workspaceId, [id]]);
    const visibility = row ? await sightOf(tenant, caller, { ...row, taskId: row.id }) : null;
    if (!row || visibility === null) throw new DroverError('task_not_found');
    if (visibility === 'people') return toTaskView(row);
    return toTaskView(await this.secrets.openOne(tenant, workspaceId, row));
  }

  /**
   * A page of the tasks that match the filter. Default: newest first.
   *
   * @throws DroverError `malformed_cursor`; `agent_not_found`, `project_not_found` or
   *   `milestone_not_found` if the filter names a missing one
   */
  async list(caller: Caller, filter: TaskFilter, page: PageRequest): Promise<Page<TaskView>> {
    const { workspaceId } = caller;
    const { limit, cursor, sort = 'newest' } = page;
    const range = { limit, sort, after: placeOfCursor(cursor, sort) };
    const { sql, params } = listTasks(workspaceId, filter, range);
    const tenant = this.db.tenant(workspaceId);
    await requireNamed(tenant, workspaceId, filter);
    const rows = await tenant.rows(sql, params);
    const toItem = ({ cut: _cut, sortKey: _key, ...row }: ListedTask) => toTaskView(row);
    return toPage(rows, limit, keyIn(sort), toItem, rows[0]?.cut);
  }
}

const KEY = ['string', 'string', 'string'] as const;

/** The default order has the cursor that servers of 0.1.0 know. Others begin with their name. */
const keyIn =
  (sort: TaskSort) =>
  ({ id, sortKey }: ListedTask): string[] =>
    sort === 'newest' ? [id] : [sort, sortKey ?? '0', id];

/** @throws DroverError `malformed_cursor`, also for a cursor of another order */
function placeOfCursor(cursor: string | undefined, sort: TaskSort): TaskPage['after'] {
  if (cursor === undefined) return undefined;
  if (sort === 'newest') return { key: null, id: String(idOfCursor(cursor)) };
  const [order, key, id] = decodeCursor(cursor, KEY) as [string, string, string];
  if (order !== sort || !/^\d{1,16}$/.test(key) || !isUuid(id)) throw malformedCursor();
  return { key, id };
}
