import { command, query, type Transaction } from '#lib/database';
import { endedBadly, endedWell, type TaskStatus } from '#lib/transitions';

/** A task that another one waits for, or is about to, under lock. */
export interface Prerequisite {
  id: string;
  status: TaskStatus;
  /** Completed; also when it has been archived since. */
  completed: boolean;
  /** Ended without success: only a retry by hand would bring it back. */
  ended_without_success: boolean;
}

interface LockedPrerequisite extends Prerequisite {
  /** Whether it has to be marked: it has had no dependents, or nobody would tell them of its end. */
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
 * With the tasks under lock. Index: primary key.
 * $1 workspace, $2 task ids, $3 those of them that have ended without success.
 */
const markPrerequisites = command(
  'mark_prerequisites',
  `
UPDATE agent_tasks t
SET has_dependents = true, dependents_unsettled = t.dependents_unsettled OR t.id = ANY($3::uuid[])
WHERE t.workspace_id = $1 AND t.id = ANY($2::uuid[])`,
);

/**
 * Locks tasks that are about to have dependents, in the order of their ids, marks them as having some,
 * and says how they stand. An id that is not in the answer is of no task of this workspace.
 *
 * The lock is what makes a dependency safe: the statement that completes a task reads has_dependents under
 * the same lock, so a prerequisite that completes at the same moment either sees that it has a
 * dependent, and releases it, or is seen here as completed. One that has ended without success is
 * put before the coordinator again, which applies the new edge's policy.
 *
 * One that is marked already is not written again, so that a task that thousands depend on costs each of
 * them a lock and no dead row. The rows to mark are found under the lock, and written by a second
 * statement: one that waited would still see what the coordinator has just taken account of.
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
