import { query } from '#lib/database';
import type { TaskStatus } from '#lib/transitions';

/** A task's state and its holder. */
export interface TaskState {
  status: TaskStatus;
  version: number;
  unmet_dependencies: number;
  run_id: string | null;
  agent_id: string | null;
  parent_task_id: string | null;
}

/**
 * Whether the task exists, and its holder.
 *
 * Before anything else of the task is read. Index: primary key. $1 workspace, $2 task.
 */
export const taskState = query<TaskState>(
  'task_state',
  `
SELECT status, version, unmet_dependencies, run_id, agent_id, parent_task_id
FROM agent_tasks WHERE workspace_id = $1 AND id = $2`,
);
