import { query, type Sql } from '#lib/database';
import type { TaskFilter } from '../domain/task-filter.js';
import { TASK_COLUMNS, type TaskRow } from './task-columns.js';
import { Params, taskConditions } from './task-conditions.js';

export interface TaskPage {
  limit: number;
  /** Only tasks that are older than this one. */
  before?: string;
}

/**
 * A page of tasks, the newest first.
 *
 * Caller: TaskQueries.list. The text depends on the filters that are given, so the statement has no
 * name and is planned for each call (0.2 ms): a plan for all values would be wrong for most.
 *
 * Indexes, measured as drover_app with 100,000 tasks in each of two workspaces:
 *   no filter, a page further on      agent_tasks_pkey backwards                      0.3 ms
 *   one status                        agent_tasks_status_idx backwards                0.3 ms
 *   several statuses                  agent_tasks_status_idx, sorted: 2,400 rows      0.7 ms
 *   agentId, projectId                agent_tasks_agent_idx, agent_tasks_project_idx  0.3 ms
 *   tags                              agent_task_tags_tag_idx, then the task          0.4 ms
 *   priority, taskType, times, text   a walk through the newest tasks until the page is full; at
 *                                     worst, when nothing matches, through all: 55 to 100 ms
 * A trigram index would not help `text`: its operators are not leakproof, so under row-level
 * security they do not reach an index.
 *
 * The page's ids come first, alone: the wide columns and their sub-selects are read for its rows only.
 */
export function listTasks(
  workspaceId: string,
  filter: TaskFilter,
  page: TaskPage,
): { sql: Sql<TaskRow>; params: unknown[] } {
  const params = new Params();
  const conditions = [`t.workspace_id = ${params.add(workspaceId)}`];
  if (page.before !== undefined) conditions.push(`t.id < ${params.add(page.before)}::uuid`);
  conditions.push(...taskConditions(filter, params));
  const sql = query<TaskRow>(
    '',
    `
WITH page AS MATERIALIZED (
  SELECT t.id FROM agent_tasks t
  WHERE ${conditions.join('\n    AND ')}
  ORDER BY t.id DESC
  LIMIT ${params.add(page.limit + 1)}
)
SELECT ${TASK_COLUMNS}
FROM page JOIN agent_tasks t ON t.workspace_id = $1 AND t.id = page.id
ORDER BY t.id DESC`,
  );
  return { sql, params: params.values };
}
