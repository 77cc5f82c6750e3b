import { query } from '#lib/database';

/** Reads whether a run belongs to a task. Index: primary key. $1 workspace, $2 run, $3 task. */
export const runOfTask = query<{ id: string }>(
  'run_of_task',
  `SELECT r.id FROM task_runs r WHERE r.workspace_id = $1 AND r.id = $2 AND r.task_id = $3`,
);

/**
 * The run of a task that the agent has or had, if there was only one. Otherwise the request is
 * ambiguous. Index: task_runs_task_idx. $1 workspace, $2 task, $3 agent.
 */
export const onlyRunOfAgent = query<{ id: string | null }>(
  'only_run_of_agent',
  `
SELECT (SELECT CASE WHEN count(*) = 1 THEN (array_agg(r.id))[1] END FROM task_runs r
  WHERE r.workspace_id = $1 AND r.task_id = t.id AND r.agent_id = $3) AS id
FROM agent_tasks t WHERE t.workspace_id = $1 AND t.id = $2`,
);
