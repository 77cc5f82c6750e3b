import { query, type Sql } from '#lib/database';
import type { LogFilter } from '../domain/log-view.js';
import { bytesOf, cutPage } from '../store/page-bytes.sql.js';
import { Params } from '../store/task-conditions.sql.js';

export interface LogRow {
  id: string;
  task_id: string;
  run_id: string | null;
  agent_id: string | null;
  task_version: number | null;
  level: string;
  event: string;
  message: string | null;
  details: unknown;
  previous_status: string | null;
  new_status: string | null;
  actor_kind: string;
  actor_id: string | null;
  session_key: string | null;
  stack_trace: string | null;
  created_at: Date;
  /** True if there are more, which would be too large together. */
  cut: boolean;
}

/**
 * Ids are drawn when an entry is written, and it becomes visible at the commit, so an entry can
 * appear after later ones. After this time none does (ADR 31).
 */
const SETTLED_SECONDS = 2;

/** Earlier partitions are not opened. The hour allows for a clock that was set back. */
const SINCE = `(SELECT created_at - interval '1 hour' FROM agent_tasks
  WHERE workspace_id = $1 AND id = $2)`;

/**
 * A page of a task's log by the ids of its entries, which is the order of writing. It is cut where
 * it grows too large, which Prisma cannot express.
 *
 * Without a name, because its text depends on the filters.
 *
 * Indexes: journal_task_idx and task_log_lines_pkey of each partition since the task's creation,
 * merged, in either direction. `level` and `event` filter.
 */
export function taskLogs(
  workspaceId: string,
  taskId: string,
  filter: LogFilter,
  page: { limit: number; after?: string },
): { sql: Sql<LogRow>; params: unknown[] } {
  const params = new Params();
  const ofTask = `l.workspace_id = ${params.add(workspaceId)} AND l.task_id = ${params.add(taskId)}
    AND l.created_at >= ${SINCE}`;
  const conditions = [ofTask];
  const order = filter.follow || filter.order === 'asc' ? 'ASC' : 'DESC';
  if (page.after !== undefined)
    conditions.push(`l.id ${order === 'ASC' ? '>' : '<'} ${params.add(page.after)}::bigint`);
  if (filter.levels) conditions.push(`l.level = ANY(${params.add(filter.levels)}::text[])`);
  if (filter.event !== undefined) conditions.push(`l.event = ${params.add(filter.event)}`);
  if (filter.follow) {
    const isSettled = `l.id <= ${params.add(filter.settled ?? '0')}::bigint`;
    conditions.push(
      `(${isSettled} OR l.created_at < now() - interval '${SETTLED_SECONDS} seconds')`,
    );
  }
  const sql = query<LogRow>(
    '',
    `
WITH found AS MATERIALIZED (
  SELECT l.id, ${bytesOf('l.details')} AS bytes FROM agent_task_logs l
  WHERE ${conditions.join(' AND ')}
  ORDER BY l.id ${order}
  LIMIT ${params.add(page.limit + 1)}
),
${cutPage(order)}
SELECT page.cut, l.id, l.task_id, l.run_id, l.agent_id, l.task_version, l.level, l.event, l.message,
  l.details,
  l.previous_status, l.new_status, l.actor_kind, l.actor_id, l.session_key, l.stack_trace, l.created_at
FROM page JOIN agent_task_logs l ON ${ofTask} AND l.id = page.id
ORDER BY l.id ${order}`,
  );
  return { sql, params: params.values };
}
