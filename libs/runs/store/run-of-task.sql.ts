import { query } from '#lib/database';

/**
 * Whether a run is one of a task.
 * Index: primary key. $1 workspace, $2 run, $3 task.
 */
export const runOfTask = query<{ id: string }>(
  'run_of_task',
  `SELECT r.id FROM task_runs r WHERE r.workspace_id = $1 AND r.id = $2 AND r.task_id = $3`,
);
