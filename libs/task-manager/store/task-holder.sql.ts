import { query } from '#lib/database';

/**
 * Whether the task is there, and who holds it.
 *
 * Callers: `requireReadable`, before anything else about the task is read. Index: primary key.
 * $1 workspace, $2 task.
 */
export const taskHolder = query<{ run_id: string | null; agent_id: string | null }>(
  'task_holder',
  `SELECT run_id, agent_id FROM agent_tasks WHERE workspace_id = $1 AND id = $2`,
);
