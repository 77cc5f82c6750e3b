import { firstRow, type SqlRunner } from '#lib/database';
import { type Caller, DroverError } from '#lib/kernel';
import { type Holder, type Visibility, visibilityOf } from '../domain/access.js';
import { type TaskState, taskState } from '../store/task-state.sql.js';

/**
 * @throws DroverError `task_not_found` if the task does not exist, or not for this caller
 */
export async function requireReadable(
  runner: SqlRunner,
  caller: Caller,
  taskId: string,
): Promise<TaskState> {
  const task = await firstRow(runner, taskState, [caller.workspaceId, taskId]);
  const visibility = task && (await sightOf(runner, caller, holderOf(taskId, task)));
  if (!visibility) throw new DroverError('task_not_found');
  return task;
}

/** A caller that sees a task as its present or former holder sees its subtasks as people do. */
export async function sightOf(
  runner: SqlRunner,
  caller: Caller,
  task: Holder & { parentTaskId: string | null },
): Promise<Visibility> {
  const own = visibilityOf(caller, task);
  if (own !== null || task.parentTaskId === null) return own;
  const parent = await firstRow(runner, taskState, [caller.workspaceId, task.parentTaskId]);
  const sight = parent && visibilityOf(caller, holderOf(task.parentTaskId, parent));
  return sight ? 'people' : null;
}

function holderOf(taskId: string, task: TaskState) {
  const { run_id: runId, agent_id: agentId, parent_task_id: parentTaskId } = task;
  return { taskId, runId, agentId, parentTaskId };
}
