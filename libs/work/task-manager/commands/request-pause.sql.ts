import { command } from '#lib/database';
import { isPausedForResource } from '#lib/transitions';

/**
 * Asks the runs of paused tasks to release their work, or withdraws the request. A paused run does
 * not hang. Only coding agents have turns; every other run releases its work at once.
 *
 * Under the tasks' locks. Index: primary keys. $1 workspace, $2 runs, $3 true to ask, false to
 * withdraw, $4 true to wait for the end of the turn.
 */
export const requestPause = command<{ id: string }>(
  'request_pause',
  `
UPDATE task_runs r SET pause_requested_at = CASE WHEN $3::boolean THEN now() END,
  pause_after_turn = $3::boolean AND $4::boolean AND t.agent IS NOT NULL,
  hung_warned_at = NULL
FROM agent_tasks t
WHERE r.workspace_id = $1 AND r.id = ANY($2::uuid[])
  AND t.workspace_id = r.workspace_id AND t.id = r.task_id
RETURNING r.id`,
);

/**
 * Asks runs that would pause after their turn to release their work at once.
 *
 * Under the tasks' locks. Index: primary key. $1 workspace, $2 runs.
 */
export const hastenPauses = command<{ id: string }>(
  'hasten_pauses',
  `
UPDATE task_runs r SET pause_requested_at = now(), pause_after_turn = false
WHERE r.workspace_id = $1 AND r.id = ANY($2::uuid[]) AND r.pause_after_turn
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
