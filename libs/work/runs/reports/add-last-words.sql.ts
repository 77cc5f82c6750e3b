import { command } from '#lib/database';
import { logLine } from '#lib/transitions';

/**
 * Adds the last output of a run's session once; a repeated report adds nothing. The run may have
 * ended. If the run is live, the session has left work undone, and its output is a warning.
 *
 * Index: primary keys; the logs of the one task are read. $1 workspace, $2 run, $3 agent, $4 actor
 * kind, $5 actor id, $6 event, $7 words, $8 details.
 */
export const addLastWords = command<never>(
  'add_last_words',
  `
${logLine(
  {
    workspace_id: '$1',
    task_id: 'r.task_id',
    run_id: 'r.id',
    agent_id: '$3',
    level: "(CASE WHEN t.run_id = r.id THEN 'WARN' ELSE 'INFO' END)::log_level",
    event: '$6::text',
    message: '$7',
    details: '$8::jsonb',
    actor_kind: '$4',
    actor_id: '$5',
    session_key: 'r.session_key',
  },
  `task_runs r JOIN agent_tasks t ON t.workspace_id = r.workspace_id AND t.id = r.task_id
WHERE r.workspace_id = $1 AND r.id = $2 AND r.agent_id = $3
  AND NOT EXISTS (SELECT FROM task_log_lines l
    WHERE l.workspace_id = $1 AND l.task_id = r.task_id AND l.run_id = r.id
      AND l.event = $6::text)`,
)}`,
);
