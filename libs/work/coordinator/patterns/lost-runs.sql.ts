import { query } from '#lib/database';
import { isLiveRun, LOCKED_TASK_COLUMNS, type LockedTask } from '#lib/transitions';

/**
 * Selects lost live runs with their tasks, of every workspace, as the service role. It locks the
 * rows that it returns and skips locked rows, because these are being changed.
 *
 * $1 rows at most, $2 the workspace or NULL for all: the indexes cover all workspaces, and few rows
 * are due.
 */
export const lostRuns = (name: string, joins: string, condition: string, order: string) =>
  query<LockedTask>(
    name,
    `
SELECT ${LOCKED_TASK_COLUMNS}
FROM task_runs r
JOIN agent_tasks t ON t.workspace_id = r.workspace_id AND t.id = r.task_id AND t.run_id = r.id
${joins}
WHERE ${isLiveRun('r')} AND ${condition}
  AND ($2::uuid IS NULL OR r.workspace_id = $2)
ORDER BY ${order}
LIMIT $1
-- Locks both, so that a renewal or report before the lock counts.
FOR NO KEY UPDATE OF t, r SKIP LOCKED`,
  );
