import { query, type Transaction } from '#lib/database';
import type { LockedTask } from '../domain/locked-task.js';
import { hasDeadline, madeProgress, waitsForAnswer, waitsForReview } from './conditions.sql.js';

/**
 * The failed runs of a coding agent since the last one that made progress. The live run is not
 * counted. Index: task_runs_task_idx, only for tasks with an `agent` that were retried.
 */
const FRUITLESS_RUNS = `CASE WHEN t.agent IS NULL THEN NULL WHEN t.retry_count = 0 THEN 0 ELSE (
    SELECT least(t.retry_count, count(*)::int) FROM task_runs f
    WHERE f.workspace_id = t.workspace_id AND f.task_id = t.id AND f.state = 'FAILED'
      AND f.generation > coalesce((SELECT max(p.generation) FROM task_runs p
        WHERE p.workspace_id = t.workspace_id AND p.task_id = t.id AND p.ended_at IS NOT NULL
          AND ${madeProgress('p')}), 0)) END`;

/** The columns of LockedTask from `agent_tasks t LEFT JOIN task_runs r`. */
export const LOCKED_TASK_COLUMNS = `t.id, t.workspace_id, t.status, t.version, t.retry_count, t.max_retries,
  t.retry_backoff_seconds, ${FRUITLESS_RUNS} AS fruitless_runs, t.retry_at, t.has_dependents, t.run_id, r.state AS run_state,
  r.started_at IS NOT NULL AS run_started,
  ${madeProgress('r')} AS run_progressed,
  r.pause_requested_at IS NOT NULL AS pause_requested,
  r.deadline_at <= now() AND ${hasDeadline('r')} AS past_deadline, t.agent_id,
  ${waitsForAnswer('t')} AS waits_for_answer, ${waitsForReview('t')} AS waits_for_review`;

/** Index: primary key. $1 workspace, $2 task ids. */
const lockTaskIds = query<{ id: string }>(
  'lock_task_ids',
  `
SELECT t.id FROM agent_tasks t
WHERE t.workspace_id = $1 AND t.id = ANY($2::uuid[])
ORDER BY t.id
FOR NO KEY UPDATE`,
);

/** With the tasks under lock. Indexes: primary keys. $1 workspace, $2 task ids. */
const lockedTasks = query<LockedTask>(
  'locked_tasks',
  `
SELECT ${LOCKED_TASK_COLUMNS},
  t.status = 'ABORTED' AND t.repository_id IS NOT NULL
    AND change_may_have_landed(t.workspace_id, t.id) AS may_have_landed,
  t.replayed_by_id IS NOT NULL AND t.failure_fingerprint IS NULL AS is_replayed
FROM agent_tasks t LEFT JOIN task_runs r ON r.workspace_id = t.workspace_id AND r.id = t.run_id
WHERE t.workspace_id = $1 AND t.id = ANY($2::uuid[])
ORDER BY t.id`,
);

/**
 * Locks tasks in the order of their ids, so that two callers with overlapping sets take turns
 * instead of deadlocking. The live run needs no lock, because it changes only under its task's.
 *
 * A second statement reads them: a statement that waits for a lock reads the task again, but its
 * run as it was before.
 *
 * @returns the existing tasks
 */
export async function lockTasks(
  tx: Transaction,
  workspaceId: string,
  ids: readonly string[],
): Promise<LockedTask[]> {
  const locked = await tx.rows(lockTaskIds, [workspaceId, ids]);
  if (locked.length === 0) return [];
  return tx.rows(lockedTasks, [workspaceId, locked.map(({ id }) => id)]);
}
