import { firstRow, type SqlRunner } from '#lib/database';
import { type Caller, DroverError } from '#lib/kernel';
import { sightOf } from '../domain/access.js';
import { taskHolder } from '../store/task-holder.sql.js';

/** @throws DroverError `task_not_found` when the task is not there, or not for this caller */
export async function requireReadable(
  runner: SqlRunner,
  caller: Caller,
  taskId: string,
): Promise<void> {
  const row = await firstRow(runner, taskHolder, [caller.workspaceId, taskId]);
  const sight = row && sightOf(caller, { runId: row.run_id, agentId: row.agent_id });
  if (!sight) throw new DroverError('task_not_found');
}
