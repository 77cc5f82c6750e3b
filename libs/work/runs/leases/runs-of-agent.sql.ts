import { query } from '#lib/database';
import { isLiveRun, LOCKED_TASK_COLUMNS, type LockedTask } from '#lib/transitions';
import { cutPage, TASK_BYTES } from '#lib/task-manager';

/**
 * Locks the tasks that an agent holds, so that they can be taken from it.
 *
 * Index: task_runs_live_agent_idx. $1 workspace, $2 agent.
 */
export const lockRunsOfAgent = query<LockedTask>(
  'lock_runs_of_agent',
  `
SELECT ${LOCKED_TASK_COLUMNS}
FROM task_runs r JOIN agent_tasks t ON t.workspace_id = r.workspace_id AND t.id = r.task_id
  AND t.run_id = r.id
WHERE r.workspace_id = $1 AND r.agent_id = $2 AND ${isLiveRun('r')}
ORDER BY t.id
FOR NO KEY UPDATE OF t`,
);

/**
 * The tasks of an agent: the ones it holds, or all that it holds or held last.
 *
 * Index: agent_tasks_agent_idx. $1 workspace, $2 agent, $3 statuses or NULL, $4 only with a live
 * run, $5 tasks before this id or NULL, $6 rows.
 */
export const tasksOfAgent = query<{ id: string; cut: boolean }>(
  'tasks_of_agent',
  `
WITH found AS MATERIALIZED (
  SELECT t.id, ${TASK_BYTES} AS bytes FROM agent_tasks t
  WHERE t.workspace_id = $1 AND t.agent_id = $2
    AND ($3::text[] IS NULL OR t.status = ANY($3))
    AND (NOT $4::boolean OR t.run_id IS NOT NULL)
    AND ($5::uuid IS NULL OR t.id < $5)
  ORDER BY t.id DESC
  LIMIT $6
),
${cutPage('DESC')}
SELECT id, cut FROM page ORDER BY id DESC`,
);
