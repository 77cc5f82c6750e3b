import { pausedTypes } from '#lib/admission';
import { query } from '#lib/database';
import { isReady } from '#lib/transitions';

/**
 * Whether tasks of a paused type wait that an agent could take otherwise, suspended or not.
 *
 * Before a claim is answered with nothing where types are paused. Indexes: agents (primary key),
 * capability_sets (primary key), agent_tasks_queue_idx, the head of two queues for each set: where a claim
 * found nothing, what is at the head is paused. $1 workspace, $2 agent.
 */
export const pausedTasksWait = query<{ waits: boolean }>(
  'paused_tasks_wait',
  `
WITH paused AS MATERIALIZED (
  SELECT ${pausedTypes('$1')} AS types
)
SELECT EXISTS (
  SELECT FROM agents a
  JOIN capability_sets s ON s.workspace_id = $1 AND s.capabilities <@ a.capabilities
  CROSS JOIN LATERAL (VALUES (s.key), ('!' || s.key)) queue (key)
  CROSS JOIN LATERAL (
    SELECT FROM agent_tasks t
    WHERE t.workspace_id = $1 AND t.capability_key = queue.key
      AND ${isReady('t')}
      AND t.task_type = ANY ((SELECT types FROM paused)::text[])
    LIMIT 1) head
  WHERE a.workspace_id = $1 AND a.id = $2) AS waits`,
);
