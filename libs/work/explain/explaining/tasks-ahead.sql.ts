import { query } from '#lib/database';
import { OFFER, takesType } from '#lib/runs';
import { isReady, serves } from '#lib/transitions';
import type { LineFacts } from '../domain/task-position.js';
import { kindOf } from '../store/kind.sql.js';

/**
 * Ready tasks that rank before one, by kind: in its own queue, and in the other queues of capable
 * agents. Counting ends at $5.
 *
 * Indexes: capability_sets (primary key; as many rows as the workspace has sets of capabilities),
 * then agent_tasks_queue_idx from its head, once for each queue. Tasks of a paused type are counted
 * until they have left the queue, a moment later. Without the inner ORDER BY, which the result does
 * not need, Postgres read the table: 16 ms with 100,000 tasks instead of 1.
 *
 * $1 workspace, $2 queue_rank, $3 capability key, $4 capabilities, $5 maximum number of tasks, $6
 * type of the task.
 */
export const tasksAhead = query<LineFacts['ahead'][number]>(
  'tasks_ahead',
  `
WITH ability AS MATERIALIZED (
  SELECT DISTINCT ${OFFER.join(', ')} FROM agents a
  WHERE a.workspace_id = $1 AND a.lifecycle IN ('STARTING', 'ACTIVE')
    AND a.capabilities @> $4::text[]
    AND a.dedicated_to <@ $4::text[] AND ${takesType('a', '$6')}
),
queue AS MATERIALIZED (
  SELECT s.key, s.capabilities FROM capability_sets s
  WHERE s.workspace_id = $1 AND (s.key = $3 OR EXISTS (SELECT FROM ability a
    WHERE ${serves('a', 's.capabilities')}))
)
SELECT ahead.kind, count(*)::int AS count
FROM (
  SELECT one.kind FROM queue CROSS JOIN LATERAL (
    SELECT ${kindOf('q')} AS kind FROM agent_tasks q
    WHERE q.workspace_id = $1 AND q.capability_key = queue.key
      AND ${isReady('q')} AND q.queue_rank < $2::bigint
      AND (q.task_type = $6 OR EXISTS (
        SELECT FROM ability a WHERE ${serves('a', 'queue.capabilities')}
          AND ${takesType('a', 'q.task_type')}))
    ORDER BY q.queue_rank LIMIT $5) one
  LIMIT $5) ahead
GROUP BY ahead.kind
ORDER BY ahead.kind`,
);
