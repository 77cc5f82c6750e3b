import { query } from '#lib/database';

/** Completed tasks that an estimate is drawn from: the latest ones, whatever their number. */
const LOOKED_AT = 200;

/**
 * How long the latest completed tasks of a type took and waited, in seconds.
 *
 * Caller: TaskExplainer. Index: agent_tasks_history_idx, backwards, and as many rows of the table.
 *
 * $1 workspace, $2 task type.
 */
export const kindHistory = query<{ duration: number; wait: number | null }>(
  'kind_history',
  `
SELECT extract(epoch FROM t.completed_at - coalesce(t.started_at, t.assigned_at))::float8 AS duration,
  extract(epoch FROM t.assigned_at - t.ready_at)::float8 AS wait
FROM agent_tasks t
WHERE t.workspace_id = $1 AND t.task_type = $2 AND t.completed_at IS NOT NULL
  AND t.assigned_at IS NOT NULL
ORDER BY t.completed_at DESC
LIMIT ${LOOKED_AT}`,
);
