import { firstRow, type SqlRunner } from '#lib/database';
import { type Caller, DroverError } from '#lib/kernel';
import { visibilityOf } from '../domain/access.js';
import { type TaskState, taskState } from '../store/task-state.sql.js';

/** @throws DroverError `task_not_found` when the task is not there, or not for this caller */
export async function requireReadable(
  runner: SqlRunner,
  caller: Caller,
  taskId: string,
): Promise<TaskState> {
  const task = await firstRow(runner, taskState, [caller.workspaceId, taskId]);
  const holder = task && { taskId, runId: task.run_id, agentId: task.agent_id };
  const visibility = holder && visibilityOf(caller, holder);
  if (!visibility) throw new DroverError('task_not_found');
  return task;
}
