import { query, type Sql } from '#lib/database';
import type { TaskFilter, TaskSort } from '../domain/task-filter.js';
import type { TaskRow } from '../domain/task-view.js';
import { cutPage, TASK_BYTES } from '../store/page-bytes.sql.js';
import { TASK_COLUMNS } from '../store/task-columns.sql.js';
import { Params, taskConditions } from '../store/task-conditions.sql.js';

export interface TaskPage {
  limit: number;
  /** Default: newest. */
  sort?: TaskSort | undefined;
  /** Only tasks after this one in the order. */
  after?: { key: string | null; id: string } | undefined;
}

/** The order by id, after a value that comes first. */
const ORDERS: Record<TaskSort, { key?: string; direction: 'ASC' | 'DESC' }> = {
  newest: { direction: 'DESC' },
  oldest: { direction: 'ASC' },
  priority: { key: 't.priority', direction: 'DESC' },
  updated: { key: '(extract(epoch FROM t.updated_at) * 1000000)', direction: 'DESC' },
};

export interface ListedTask extends TaskRow {
  /** True if there are more, which would be too large together. */
  cut: boolean;
  /** The value by which the list is ordered before the id. */
  sortKey: string | null;
}

/**
 * A page of tasks in an order.
 *
 * The text depends on the given filters, so the statement has no name and is planned for each call
 * (0.45 ms). One plan for all would be wrong for most.
 *
 * Indexes, with Postgres' time for a page of 50 in full, measured as drover_app with 100,000 tasks
 * in each of two workspaces:
 *
 *     no filter, the first page or a middle one   agent_tasks_pkey backwards            0.9 ms
 *     one status, rare or frequent                agent_tasks_status_idx backwards      0.9 ms
 *     several rare statuses                       agent_tasks_status_idx, sorted        2.7 ms
 *     several frequent statuses                   agent_tasks_pkey backwards            0.8 ms
 *     agentId                                     agent_tasks_agent_idx backwards       1.1 ms
 *     idPrefix                                    agent_tasks_pkey backwards            0.4 ms
 *     scheduleId                                  agent_tasks_schedule_idx backwards    1.1 ms
 *     deadLetter, failureFingerprint              agent_tasks_dead_idx backwards        1.1 ms
 *     projectId                                   agent_tasks_project_idx backwards     1.3 ms
 *     tags, one or several                        agent_task_tags_tag_idx backwards     1.0 ms
 *     priority, milestoneId, taskType, times      a walk through the tasks from the newest on
 *                                                 until the page is full; nothing found: 70 to 100 ms
 *     text                                        the same; nothing found: 140 ms
 *     unclaimable                                 agent_tasks_status_idx backwards, from the newest
 *                                                 ready task on; 52 ms for 51 of 50,000
 *     sorted by priority, by updated               all that match are read; 110 ms, 170 ms
 *
 * A trigram index would not help `text`: its operators are not leakproof, so under row-level
 * security they do not reach an index.
 *
 * The page's ids come first, alone. The wide columns and their sub-selects are read only for its
 * rows.
 */
export function listTasks(
  workspaceId: string,
  filter: TaskFilter,
  page: TaskPage,
): { sql: Sql<ListedTask>; params: unknown[] } {
  const params = new Params();
  const conditions = [`t.workspace_id = ${params.add(workspaceId)}`];
  const { key = 'NULL', direction } = ORDERS[page.sort ?? 'newest'];
  const isKeyed = key !== 'NULL';
  if (page.after !== undefined) {
    const sign = direction === 'ASC' ? '>' : '<';
    const id = `${params.add(page.after.id)}::uuid`;
    const from = isKeyed ? `(${params.add(page.after.key)}::bigint, ${id})` : id;
    conditions.push(`${isKeyed ? `(${key}::bigint, t.id)` : 't.id'} ${sign} ${from}`);
  }
  conditions.push(...taskConditions(filter, params));
  const sql = query<ListedTask>(
    '',
    `
WITH found AS MATERIALIZED (
  SELECT t.id, ${TASK_BYTES} AS bytes, ${key}::bigint AS key FROM agent_tasks t
  WHERE ${conditions.join('\n    AND ')}
  ORDER BY ${isKeyed ? `${key}::bigint DESC, ` : ''}t.id ${direction}
  LIMIT ${params.add(page.limit + 1)}
),
${cutPage(direction, `${isKeyed ? 'key DESC, ' : ''}id ${direction}`)}
SELECT page.cut, found.key::text AS "sortKey", ${TASK_COLUMNS}
FROM page JOIN found ON found.id = page.id
JOIN agent_tasks t ON t.workspace_id = $1 AND t.id = page.id
ORDER BY ${isKeyed ? 'found.key DESC, ' : ''}t.id ${direction}`,
  );
  return { sql, params: params.values };
}
