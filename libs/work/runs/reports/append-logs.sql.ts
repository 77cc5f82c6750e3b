import { command } from '#lib/database';
import { isInUse, logLine } from '#lib/transitions';

/** The time for the last lines of a run that a question of its agent has ended, in seconds. */
const LATE_SECONDS = 30;

/** Lines of a coding agent itself. The lines of its host are no progress. */
const SPOKEN = `('agent_message', 'agent_tool', 'agent_tool_result')`;
/** Progress of the same agent writes the run again after this time, in seconds. */
const PROGRESS_SECONDS = 10;

/**
 * Log entries of the live run, such as its process' output, in order of arrival. An agent ends its
 * run by a question in the middle of its work, and its host learns of that later. Words and tool
 * calls of a coding agent are its progress.
 *
 * Index: primary keys. $1 workspace, $2 run, $3 agent, $4 actor kind, $5 actor id, $6 JSON array of
 * {level, event, message, details}, $7 whether a task that has not begun is left out.
 */
export const appendLogs = command<{ accepted: number; task_id: string }>(
  'append_logs',
  `
WITH run AS MATERIALIZED (
  SELECT r.id, r.task_id, r.session_key, t.agent IS NOT NULL AS is_coding_agent FROM task_runs r JOIN agent_tasks t
    ON t.workspace_id = r.workspace_id AND t.id = r.task_id
  WHERE r.workspace_id = $1 AND r.id = $2 AND r.agent_id = $3 AND ${isInUse('$1')}
    AND (t.run_id = r.id AND (t.status <> 'ASSIGNED' OR NOT $7::boolean)
      OR r.end_reason = 'question' AND r.ended_at > now() - interval '${LATE_SECONDS} s')
),
appended AS (
  ${logLine(
    {
      workspace_id: '$1',
      task_id: 'run.task_id',
      run_id: 'run.id',
      agent_id: '$3',
      level: "e.entry ->> 'level'",
      event: "e.entry ->> 'event'",
      message: "e.entry ->> 'message'",
      details: "coalesce(e.entry -> 'details', '{}')",
      actor_kind: '$4',
      actor_id: '$5',
      session_key: 'run.session_key',
    },
    `run CROSS JOIN LATERAL jsonb_array_elements($6::jsonb) WITH ORDINALITY AS e (entry, position)
  ORDER BY e.position`,
  )}
  RETURNING 1
),
heard AS (
  UPDATE task_runs r SET last_progress_at = now(), hung_warned_at = NULL FROM run
  WHERE r.workspace_id = $1 AND r.id = run.id AND run.is_coding_agent AND r.ended_at IS NULL
    AND (r.last_progress_at > now() - interval '${PROGRESS_SECONDS} s' AND r.hung_warned_at IS NULL) IS NOT TRUE
    AND EXISTS (SELECT FROM jsonb_array_elements($6::jsonb) AS e (entry)
      WHERE e.entry ->> 'event' IN ${SPOKEN})
)
SELECT (SELECT count(*)::int FROM appended) AS accepted, run.task_id FROM run`,
);
