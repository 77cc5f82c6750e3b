import { firstRow, type Transaction } from '#lib/database';
import { actorOf, type Caller } from '#lib/kernel';
import type { NewTask } from '../domain/new-task.js';
import type { TaskView } from '../domain/task-view.js';
import { toTaskView } from '../store/task-columns.sql.js';
import { taskViews } from '../store/task-views.sql.js';
import { lockDebounceKey, moveStart } from './debouncing.sql.js';

/**
 * Moves the start of the task that waits under the debounce key of a new one. Creations of the same
 * key take turns until the transaction ends.
 *
 * @returns the waiting task with the start of the new one; undefined if none waits
 */
export async function moveWaitingStart(
  tx: Transaction,
  caller: Caller,
  task: NewTask | undefined,
): Promise<TaskView | undefined> {
  if (task?.debounceKey === undefined) return undefined;
  const { workspaceId } = caller;
  const { debounceKey, startAt = null, delaySeconds = null } = task;
  const { expiresAt = null, queueExpiresInSeconds = null } = task;
  const { kind, id } = actorOf(caller);
  await tx.rows(lockDebounceKey, [workspaceId, debounceKey]);
  const times = [startAt, delaySeconds, expiresAt, queueExpiresInSeconds];
  const params = [
    workspaceId,
    debounceKey,
    kind,
    id,
    '{}',
    ['startAt', 'queueExpiresAt'],
    ...times,
  ];
  const moved = await firstRow(tx, moveStart, params);
  if (!moved) return undefined;
  const row = await firstRow(tx, taskViews, [workspaceId, [moved.id]]);
  return row && toTaskView(row);
}
