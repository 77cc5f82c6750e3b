import { query } from '#lib/database';
import { isInUse } from './is-in-use.sql.js';
import type { LockedTask } from '../domain/locked-task.js';
import { LOCKED_TASK_COLUMNS } from './lock-tasks.sql.js';

/**
 * Locks the task of a reporting run, if the run is the task's live one. It also locks the run, so
 * that it is read after the locks were taken. None in an archived workspace, whose runs the
 * coordinator ends.
 *
 * Index: primary keys. $1 workspace, $2 run, $3 agent.
 */
export const lockLeasedTask = query<LockedTask>(
  'lock_leased_task',
  `
SELECT ${LOCKED_TASK_COLUMNS}
FROM task_runs r JOIN agent_tasks t ON t.workspace_id = r.workspace_id AND t.id = r.task_id
WHERE r.workspace_id = $1 AND r.id = $2 AND r.agent_id = $3 AND t.run_id = r.id
  AND ${isInUse('$1')}
FOR NO KEY UPDATE OF t, r`,
);
