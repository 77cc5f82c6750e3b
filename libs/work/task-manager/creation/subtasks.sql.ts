import { query } from '#lib/database';
import type { Parent } from '../domain/subtasks.js';

/** Index: primary key, once for each ancestor. $1 workspace, $2 task. */
export const parentOfSubtasks = query<Parent>(
  'parent_of_subtasks',
  `
WITH RECURSIVE above (parent_id, depth) AS (
  SELECT parent_task_id, 0 FROM agent_tasks WHERE workspace_id = $1 AND id = $2
  UNION ALL
  SELECT t.parent_task_id, a.depth + 1 FROM above a
  JOIN agent_tasks t ON t.workspace_id = $1 AND t.id = a.parent_id
)
SELECT run_id, agent_id, priority, project_id, milestone_id, (SELECT max(depth) FROM above) AS depth
FROM agent_tasks WHERE workspace_id = $1 AND id = $2`,
);

/**
 * With the task under lock. Index: agent_tasks_parent_idx. $1 workspace, $2 task, $3 limit of the
 * count.
 */
export const countSubtasks = query<{ subtasks: number }>(
  'count_subtasks',
  `
SELECT count(*)::int AS subtasks FROM (
  SELECT FROM agent_tasks WHERE workspace_id = $1 AND parent_task_id = $2 LIMIT $3) s`,
);

/** Selects the tasks of $3 that are $2 or its subtasks. Index: primary key. $1 workspace. */
export const familyOf = query<{ id: string }>(
  'family_of',
  `
SELECT id FROM agent_tasks
WHERE workspace_id = $1 AND id = ANY($3::uuid[]) AND (id = $2 OR parent_task_id = $2)`,
);

/**
 * Whether runs of a workspace can create tasks with a command. Index: primary key. $1 workspace.
 */
export const commandPolicy = query<{ allow_run_commands: boolean }>(
  'command_policy',
  `SELECT allow_run_commands FROM workspaces WHERE id = $1`,
);
