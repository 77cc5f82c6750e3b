import { query } from '#lib/database';
import type { LockedTask } from '../domain/locked-task.js';

/** The columns of LockedTask out of `agent_tasks t LEFT JOIN task_runs r`. */
export const LOCKED_TASK_COLUMNS = `t.id, t.workspace_id, t.status, t.version, t.retry_count, t.max_retries,
  t.retry_backoff_seconds, t.retry_at, t.has_dependents, t.run_id, r.state AS run_state,
  r.started_at IS NOT NULL AS run_started, r.pause_requested_at IS NOT NULL AS pause_requested,
  r.deadline_at <= now() AND r.state IN ('ASSIGNED', 'WORKING', 'STALE') AS past_deadline, t.agent_id`;

/**
 * Locks tasks in the order of their ids, so that two callers with overlapping sets take turns
 * instead of deadlocking. The live run needs no lock of its own: it changes only under its task's.
 *
 * Callers: TaskCommands (cancel, pause, resume, retry, archive), TaskUpdates, TaskDependencies.
 * Index: primary keys.
 *
 * $1 workspace, $2 task ids.
 */
export const lockTasks = query<LockedTask>(
  'lock_tasks',
  `
WITH locked AS MATERIALIZED (
  SELECT t.* FROM agent_tasks t
  WHERE t.workspace_id = $1 AND t.id = ANY($2::uuid[])
  ORDER BY t.id
  FOR NO KEY UPDATE
)
SELECT ${LOCKED_TASK_COLUMNS}
FROM locked t LEFT JOIN task_runs r ON r.workspace_id = t.workspace_id AND r.id = t.run_id
ORDER BY t.id`,
);
