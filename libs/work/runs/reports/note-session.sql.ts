import { command } from '#lib/database';
import { isInUse } from '#lib/transitions';

/**
 * Stores the session's key and branch of a live run that began without them: the answer to the
 * spawn, or another report, came first. Values that it has stay. Its task has the key, too.
 *
 * Indexes: primary keys. $1 workspace, $2 run, $3 agent, $4 session key or NULL, $5 branch or NULL.
 */
export const noteSession = command<{ id: string }>(
  'note_session',
  `
WITH held AS MATERIALIZED (
  SELECT t.id FROM agent_tasks t
  WHERE t.workspace_id = $1 AND t.run_id = $2 AND ${isInUse('$1')}
    AND t.id = (SELECT r.task_id FROM task_runs r WHERE r.workspace_id = $1 AND r.id = $2
      AND r.agent_id = $3)
  FOR NO KEY UPDATE
),
of_task AS (
  UPDATE agent_tasks t SET session_key = $4 FROM held
  WHERE t.workspace_id = $1 AND t.id = held.id AND t.session_key IS NULL AND $4::text IS NOT NULL
)
UPDATE task_runs r SET session_key = coalesce(r.session_key, $4), branch = coalesce(r.branch, $5)
FROM held
WHERE r.workspace_id = $1 AND r.id = $2
  AND (r.session_key IS NULL AND $4::text IS NOT NULL OR r.branch IS NULL AND $5::text IS NOT NULL)
RETURNING r.id`,
);
