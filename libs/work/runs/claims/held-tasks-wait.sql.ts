import { query } from '#lib/database';
import { isReady, serves, suspendedKey } from '#lib/transitions';
import { scopeOf, takesType, whyTaskWaits } from '../store/hand-out.sql.js';
import type { NothingClaimed } from '../store/claim-tasks.sql.js';

const WHY = whyTaskWaits('t', scopeOf('$1'));

/**
 * Why tasks that an agent could take are held back, even if they are suspended. No row: none is
 * held back.
 *
 * Before an empty claim is answered while tasks may be held back. Indexes: agents (primary key),
 * capability_sets (primary key), agent_tasks_queue_idx, the head of two queues for each set: where
 * a claim found nothing, the task at the head is held back. $1 workspace, $2 agent.
 */
export const heldTasksWait = query<{ why: NothingClaimed }>(
  'held_tasks_wait',
  `
SELECT head.why
FROM agents a
JOIN capability_sets s ON s.workspace_id = $1 AND ${serves('a', 's.capabilities')}
CROSS JOIN LATERAL (VALUES (s.key), (${suspendedKey('s.key')})) queue (key)
CROSS JOIN LATERAL (
  SELECT ${WHY} AS why FROM agent_tasks t
  WHERE t.workspace_id = $1 AND t.capability_key = queue.key
    AND ${isReady('t')} AND ${takesType('a', 't.task_type')}
    AND ${WHY} IS NOT NULL
  LIMIT 1) head
WHERE a.workspace_id = $1 AND a.id = $2
LIMIT 1`,
);
