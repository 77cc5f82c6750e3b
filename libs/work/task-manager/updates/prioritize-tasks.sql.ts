import { command } from '#lib/database';
import { isClosed, recordOfChange } from '#lib/transitions';

const DETAILS = `jsonb_build_object('changed', jsonb_build_object('priority',
  jsonb_build_object('from', c.before, 'to', $5::int)))`;

/**
 * Changes the priority of tasks, except closed ones and those that have it, with a journal row each.
 * Locks them in the order of their ids, like each command for several tasks.
 *
 * Index: primary key. $1 workspace, $2 task ids, $3 and $4 the actor, $5 priority, $6 see
 * recordOfChange.
 */
export const prioritizeTasks = command<{ id: string }>(
  'prioritize_tasks',
  `
WITH locked AS MATERIALIZED (
  SELECT t.id, t.priority AS before FROM agent_tasks t
  WHERE t.workspace_id = $1 AND t.id = ANY($2::uuid[]) AND t.priority <> $5::int
    AND NOT ${isClosed('t')}
  ORDER BY t.id
  FOR NO KEY UPDATE
),
changed AS (
  UPDATE agent_tasks t SET priority = $5::int, version = t.version + 1, updated_at = now()
  FROM locked l WHERE t.workspace_id = $1 AND t.id = l.id
  RETURNING t.id, t.version, t.status, l.before
),
${recordOfChange('task_updated', DETAILS)}
SELECT id FROM changed`,
);
