import { firstRow, type Transaction } from '#lib/database';
import { lockTasks } from '#lib/transitions';
import { lockChange, type LockedChange } from '../store/changes.sql.js';
import { idsOfOtherAttempts } from './attempts.sql.js';

/**
 * Locks a change with its task, and the tasks of the other attempts at it: an approval closes them.
 * So two approvals take turns.
 */
export async function lockWithAttempts(
  tx: Transaction,
  workspaceId: string,
  id: string,
): Promise<LockedChange | undefined> {
  const others = await tx.rows(idsOfOtherAttempts, [workspaceId, id]);
  await lockTasks(tx, workspaceId, [id, ...others.map(({ task_id }) => task_id)]);
  return firstRow(tx, lockChange, [workspaceId, id]);
}
