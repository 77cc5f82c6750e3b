import { query } from '#lib/database';
import { serves, type TaskStatus } from '#lib/transitions';
import { takesType } from '../store/hand-out.sql.js';

/**
 * The status of a task that an agent asks for, if the agent may take it or held it last. Of other
 * tasks the agent learns nothing.
 *
 * After a claim of that task returned nothing. Indexes: primary keys. $1 workspace, $2 agent, $3
 * task.
 */
export const givenTask = query<{ status: TaskStatus }>(
  'given_task',
  `
SELECT t.status FROM agents a JOIN agent_tasks t ON t.workspace_id = $1 AND t.id = $3
WHERE a.workspace_id = $1 AND a.id = $2
  AND (t.agent_id = a.id OR ${serves('a', 't.required_capabilities')}
    AND ${takesType('a', 't.task_type')})`,
);
