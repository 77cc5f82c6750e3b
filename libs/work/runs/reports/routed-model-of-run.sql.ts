import { query } from '#lib/database';

/**
 * Reads the model that routing gave a run of a coding agent. A task that names the model of its agent
 * keeps it. Indexes: primary keys. $1 workspace, $2 run.
 */
export const routedModelOfRun = query<{ model: string }>(
  'routed_model_of_run',
  `
SELECT r.model
FROM task_runs r JOIN agent_tasks t ON t.workspace_id = r.workspace_id AND t.id = r.task_id
WHERE r.workspace_id = $1 AND r.id = $2 AND r.model IS NOT NULL AND t.agent ->> 'model' IS NULL`,
);
