import { query } from '#lib/database';

/**
 * Whether a run is one of a task.
 * Index: primary key. $1 workspace, $2 run, $3 task.
 */
export const runOfTask = query<{ id: string }>(
  'run_of_task',
  `SELECT r.id FROM task_runs r WHERE r.workspace_id = $1 AND r.id = $2 AND r.task_id = $3`,
);

/**
 * The latest run of a task, where it is the agent's. Index: task_runs_task_idx.
 * $1 workspace, $2 task, $3 agent.
 */
export const latestRunOfAgent = query<{ id: string | null }>(
  'latest_run_of_agent',
  `
SELECT CASE WHEN r.agent_id = $3 THEN r.id END AS id
FROM agent_tasks t LEFT JOIN LATERAL (
  SELECT r.id, r.agent_id FROM task_runs r WHERE r.workspace_id = $1 AND r.task_id = t.id
  ORDER BY r.generation DESC LIMIT 1) r ON true
WHERE t.workspace_id = $1 AND t.id = $2`,
);
