import { query } from '#lib/database';
import { isOpen } from '#lib/transitions';

/**
 * A task with all unfinished tasks that wait for it or are its subtasks, directly or through
 * others. Over a settled edge nothing waits.
 *
 * Index: task_dependencies_depends_on_idx, agent_tasks_parent_idx, primary key. UNION (not ALL)
 * ends the walk even on a cycle. An array, not a join: Postgres expects a walk to find few, and
 * compared each task with each of 10,000 (24 s instead of 30 ms). $1 workspace, $2 task ids, $3
 * maximum number of tasks.
 */
export const dependentsOf = query<{ id: string }>(
  'dependents_of',
  `
WITH RECURSIVE reached (id) AS (
  SELECT unnest($2::uuid[])
  UNION
  SELECT further.id FROM reached r CROSS JOIN LATERAL (
    SELECT d.task_id AS id FROM task_dependencies d
      WHERE d.workspace_id = $1 AND d.depends_on_id = r.id AND d.settled_at IS NULL
      -- The whole of which it is a part goes on without it.
      AND NOT EXISTS (SELECT FROM agent_tasks part WHERE part.workspace_id = $1 AND part.id = r.id
        AND part.parent_task_id = d.task_id)
    UNION ALL
    SELECT s.id FROM agent_tasks s WHERE s.workspace_id = $1 AND s.parent_task_id = r.id) further
)
SELECT t.id FROM agent_tasks t
WHERE t.workspace_id = $1 AND t.id = ANY(ARRAY(SELECT id FROM reached)) AND (t.id = ANY($2::uuid[])
  OR ${isOpen('t')})
LIMIT $3`,
);
