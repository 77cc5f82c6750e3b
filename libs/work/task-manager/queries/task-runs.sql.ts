import { query } from '#lib/database';
import type { RunRow } from '../domain/task-view.js';
import { RUN_COLUMNS } from './run-columns.sql.js';

/**
 * A page of a task's runs, latest first. SQL computes the end of a lease, which Prisma cannot.
 *
 * Index: task_runs_task_idx, backwards. $1 workspace, $2 task, $3 only runs of a lower generation,
 * or NULL, $4 maximum number of rows.
 */
export const runsOfTask = query<RunRow>(
  'runs_of_task',
  `
SELECT ${RUN_COLUMNS} FROM task_runs r
WHERE r.workspace_id = $1 AND r.task_id = $2 AND r.generation < coalesce($3::int, 2147483647)
ORDER BY r.generation DESC
LIMIT $4`,
);
