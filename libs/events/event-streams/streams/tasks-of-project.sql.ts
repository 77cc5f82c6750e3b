import { query } from '#lib/database';

/**
 * The given tasks that belong to the project now, for a stretch of events of a stream with a
 * project.
 *
 * Index: primary key. $1 workspace, $2 project, $3 tasks.
 */
export const tasksOfProject = query<{ id: string }>(
  'streams_tasks_of_project',
  `SELECT id FROM agent_tasks WHERE workspace_id = $1 AND project_id = $2 AND id = ANY($3::uuid[])`,
);
