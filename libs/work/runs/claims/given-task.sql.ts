import { query } from '#lib/database';
import type { TaskStatus } from '#lib/transitions';
import { serves, takesType } from '../store/hand-out.js';

/**
 * How a task stands that an agent asks for: one that it may take, as far as what it takes is concerned, or held last.
 * Of others it is told nothing.
 *
 * After a claim of that task that got nothing. Indexes: primary keys. $1 workspace, $2 agent, $3 task.
 */
export const givenTask = query<{ status: TaskStatus }>(
  'given_task',
  `
SELECT t.status FROM agents a JOIN agent_tasks t ON t.workspace_id = $1 AND t.id = $3
WHERE a.workspace_id = $1 AND a.id = $2
  AND (t.agent_id = a.id OR ${serves('a', 't.required_capabilities')} AND ${takesType('a', 't.task_type')})`,
);
