import { command } from '#lib/database';

/**
 * Asks the runs of paused tasks to put the work down, or no longer. Neither hangs.
 *
 * Under the tasks' locks. Index: primary key.
 * $1 workspace, $2 runs, $3 true to ask, false to take it back.
 */
export const requestPause = command<{ id: string }>(
  'request_pause',
  `
UPDATE task_runs r SET pause_requested_at = CASE WHEN $3::boolean THEN now() END, hung_warned_at = NULL
WHERE r.workspace_id = $1 AND r.id = ANY($2::uuid[])
RETURNING r.id`,
);
