import { query } from '#lib/database';
import type { TaskRow } from '../domain/task-view.js';
import { DEPENDENCIES_COLUMN, TASK_COLUMNS } from './task-columns.sql.js';

/**
 * Tasks for the API by their ids, also the answer of every command.
 *
 * Indexes: primary keys of agent_tasks, agent_task_tags and task_dependencies;
 * task_dependencies_depends_on_idx for tasks with dependents.
 *
 * $1 workspace, $2 task ids.
 */
export const taskViews = query<TaskRow>(
  'task_views',
  `
SELECT ${TASK_COLUMNS}, ${DEPENDENCIES_COLUMN}
FROM agent_tasks t
WHERE t.workspace_id = $1 AND t.id = ANY($2::uuid[])`,
);
