import { command, type Transaction } from '#lib/database';
import type { TaskStatus } from '../domain/task-state.js';

/** A task that another one waits for, or is about to, under lock. */
export interface Prerequisite {
  id: string;
  status: TaskStatus;
  /** Completed; also when it has been archived since. */
  completed: boolean;
  /** Ended for good without success: only a retry by hand would bring it back. */
  ended_without_success: boolean;
}

/**
 * Locks tasks that are about to have dependents, in the order of their ids, marks them as having some,
 * and says how they stand.
 *
 * The lock is what makes a dependency safe: the door that completes a task reads has_dependents under
 * the same lock, so a prerequisite that completes at the same moment either sees that it has a
 * dependent, and releases it, or is seen here as completed. One that has ended without success is
 * put before the coordinator again, which applies the new edge's policy.
 *
 * Callers: `lockPrerequisites`. Index: primary key.
 * A row that is marked already is not written again, so that a task that thousands depend on costs
 * each of them a lock and no dead row.
 *
 * $1 workspace, $2 task ids.
 */
const lockPrerequisitesSql = command<Prerequisite>(
  'lock_prerequisites',
  `
WITH locked AS MATERIALIZED (
  SELECT t.id, t.status, t.completed_at IS NOT NULL AS completed,
    t.completed_at IS NULL AND (t.status IN ('FAILED', 'ARCHIVED')
      OR (t.status = 'ABORTED' AND t.retry_at IS NULL)) AS ended_without_success
  FROM agent_tasks t
  WHERE t.workspace_id = $1 AND t.id = ANY($2::uuid[])
  ORDER BY t.id
  FOR NO KEY UPDATE
),
marked AS (
  UPDATE agent_tasks t
  SET has_dependents = true, dependents_unsettled = t.dependents_unsettled OR l.ended_without_success
  FROM locked l
  WHERE t.workspace_id = $1 AND t.id = l.id
    AND (NOT t.has_dependents OR (l.ended_without_success AND NOT t.dependents_unsettled))
)
SELECT id, status, completed, ended_without_success FROM locked`,
);

/**
 * Locks the prerequisites of tasks that the same transaction is about to give dependencies.
 * An id that is not in the answer is of no task of this workspace.
 */
export async function lockPrerequisites(
  tx: Transaction,
  workspaceId: string,
  ids: readonly string[],
): Promise<Map<string, Prerequisite>> {
  if (ids.length === 0) return new Map();
  const rows = await tx.rows(lockPrerequisitesSql, [workspaceId, ids]);
  return new Map(rows.map((row) => [row.id, row]));
}
