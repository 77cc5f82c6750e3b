import { command, query, type Transaction } from '#lib/database';
import { endedBadly, endedWell, type TaskStatus } from '#lib/transitions';

/** A prerequisite, or a future one, under lock. */
export interface Prerequisite {
  id: string;
  status: TaskStatus;
  /** Completed, even if it has been archived since. */
  completed: boolean;
  /** Ended without success. Only a retry by hand would revive it. */
  ended_without_success: boolean;
}

interface LockedPrerequisite extends Prerequisite {
  /** Whether it must be marked: it had no dependents, or nobody would tell them of its end. */
  unmarked: boolean;
}

/** Index: primary key. $1 workspace, $2 task ids. */
const lockPrerequisiteRows = query<LockedPrerequisite>(
  'lock_prerequisite_rows',
  `
SELECT t.id, t.status, ${endedWell('t')} AS completed, bad.ended_without_success,
  NOT t.has_dependents OR (bad.ended_without_success AND NOT t.dependents_unsettled) AS unmarked
FROM agent_tasks t CROSS JOIN LATERAL (SELECT ${endedBadly('t')} AS ended_without_success) bad
WHERE t.workspace_id = $1 AND t.id = ANY($2::uuid[])
ORDER BY t.id
FOR NO KEY UPDATE OF t`,
);

/**
 * With the tasks under lock. Index: primary key. $1 workspace, $2 task ids, $3 those of them that
 * ended without success.
 */
const markPrerequisites = command(
  'mark_prerequisites',
  `
UPDATE agent_tasks t
SET has_dependents = true, dependents_unsettled = t.dependents_unsettled OR t.id = ANY($3::uuid[])
WHERE t.workspace_id = $1 AND t.id = ANY($2::uuid[])`,
);

/**
 * Locks tasks that get dependents, in the order of their ids, marks them as having some, and
 * returns their state. An id without a row belongs to no task of this workspace.
 *
 * The lock makes a dependency safe: the statement that completes a task reads has_dependents under
 * the same lock. So a prerequisite that completes at the same moment either sees its dependent, and
 * releases it, or is seen here as completed. One that ended without success is put before the
 * coordinator again, which applies the new edge's policy.
 *
 * A marked task is not written again, so a task with thousands of dependents costs each of them a
 * lock and no dead row. The rows to mark are found under the lock, and written by a second
 * statement: one that waited would still see what the coordinator has just processed.
 */
export async function lockPrerequisites(
  tx: Transaction,
  workspaceId: string,
  ids: readonly string[],
): Promise<Map<string, Prerequisite>> {
  if (ids.length === 0) return new Map();
  const rows = await tx.rows(lockPrerequisiteRows, [workspaceId, ids]);
  const unmarked = rows.filter((row) => row.unmarked);
  if (unmarked.length > 0) {
    const ended = unmarked.filter((row) => row.ended_without_success);
    await tx.rows(markPrerequisites, [workspaceId, unmarked.map(idOf), ended.map(idOf)]);
  }
  return new Map(rows.map((row) => [row.id, row]));
}

const idOf = ({ id }: { id: string }) => id;
