import { command } from '#lib/database';

/**
 * The last that a run's session wrote, once: what is heard of it again is not added. The run may have ended;
 * under a run that has not, the session has left work undone, and its words are a warning.
 *
 * Index: primary keys; the logs of the one task are read.
 * $1 workspace, $2 run, $3 agent, $4 actor kind, $5 actor id, $6 event, $7 words, $8 details.
 */
export const addLastWords = command<never>(
  'add_last_words',
  `
INSERT INTO task_log_lines (workspace_id, task_id, run_id, agent_id, level, event, message, details,
  actor_kind, actor_id, session_key)
SELECT $1, r.task_id, r.id, $3, (CASE WHEN t.run_id = r.id THEN 'WARN' ELSE 'INFO' END)::log_level,
  $6::text, $7, $8::jsonb, $4, $5, r.session_key
FROM task_runs r JOIN agent_tasks t ON t.workspace_id = r.workspace_id AND t.id = r.task_id
WHERE r.workspace_id = $1 AND r.id = $2 AND r.agent_id = $3
  AND NOT EXISTS (SELECT FROM task_log_lines l
    WHERE l.workspace_id = $1 AND l.task_id = r.task_id AND l.run_id = r.id AND l.event = $6::text)`,
);
