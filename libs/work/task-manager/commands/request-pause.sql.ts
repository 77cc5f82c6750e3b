import { command } from '#lib/database';
import { isPausedForResource } from '#lib/transitions';

/**
 * Asks the runs of paused tasks to release their work, or withdraws the request. A paused run does
 * not hang.
 *
 * Under the tasks' locks. Index: primary key. $1 workspace, $2 runs, $3 true to ask, false to
 * withdraw.
 */
export const requestPause = command<{ id: string }>(
  'request_pause',
  `
UPDATE task_runs r SET pause_requested_at = CASE WHEN $3::boolean THEN now() END,
  hung_warned_at = NULL
WHERE r.workspace_id = $1 AND r.id = ANY($2::uuid[])
RETURNING r.id`,
);

/**
 * Gives pauses of the coordinator to another author, so that the coordinator does not resume these
 * tasks. No transition, so their version stays.
 *
 * Under the tasks' locks. Index: primary key. $1 workspace, $2 tasks, $3 the author, $4 reason.
 */
export const takeOverPauses = command<{ id: string }>(
  'take_over_pauses',
  `
UPDATE agent_tasks t SET paused_by = $3, paused_for = 'request', paused_for_id = NULL,
  pause_reason = $4,
  updated_at = now()
WHERE t.workspace_id = $1 AND t.id = ANY($2::uuid[]) AND ${isPausedForResource('t')}
RETURNING t.id`,
);
