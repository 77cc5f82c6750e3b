import { command } from '#lib/database';
import { isReady, isSuspended, suspendedKey } from '#lib/transitions';

/** How far a sweep looks into each queue: further than the claims until the next sweep. */
const LOOK_AHEAD = 5_000;

/**
 * Moves tasks of a paused type out of the head of their queue, into a queue of their own key that
 * nobody reads. Claims skip tasks of a paused type anyway (`pausedTypes`), but with thousands at
 * the head each claim would read them all.
 *
 * Once a cycle, as the service role. Indexes: pauses_holding_idx (nothing more if no type is
 * paused), agent_tasks_queue_idx from its head. $1 maximum number of rows.
 */
export const suspendPausedTasks = command<{ workspace_id: string }>(
  'suspend_paused_tasks',
  `
WITH paused AS MATERIALIZED (
  SELECT p.workspace_id, p.task_type::text FROM pauses p
  WHERE p.task_type IS NOT NULL AND p.ended_at IS NULL AND (p.until IS NULL OR p.until > now())
),
head AS MATERIALIZED (
  SELECT h.workspace_id, h.id
  FROM capability_sets c CROSS JOIN LATERAL (
    SELECT t.workspace_id, t.id, t.task_type FROM agent_tasks t
    WHERE t.workspace_id = c.workspace_id AND t.capability_key = c.key
      AND ${isReady('t')}
    ORDER BY t.queue_rank
    LIMIT ${LOOK_AHEAD}) h
  JOIN paused p ON p.workspace_id = h.workspace_id AND p.task_type = h.task_type
  WHERE c.workspace_id IN (SELECT workspace_id FROM paused)
  LIMIT $1
),
locked AS MATERIALIZED (
  SELECT t.workspace_id, t.id FROM head h
  JOIN agent_tasks t ON t.workspace_id = h.workspace_id AND t.id = h.id
  -- The second of two concurrent sweeps must not suspend it again.
  WHERE t.status = 'PENDING' AND NOT ${isSuspended('t')}
  ORDER BY t.id
  FOR NO KEY UPDATE OF t SKIP LOCKED
)
UPDATE agent_tasks t SET capability_key = ${suspendedKey('t.capability_key')}
FROM locked l WHERE t.workspace_id = l.workspace_id AND t.id = l.id
RETURNING t.workspace_id`,
);

/**
 * Resumes them if no pause of their type applies any more, whatever their status is.
 *
 * Once a cycle, as the service role. Indexes: pauses (read whole), then agent_tasks_parked_idx once
 * for each type that was ever paused. $1 maximum number of rows.
 */
export const resumeTasks = command<{ workspace_id: string; status: string }>(
  'resume_tasks',
  `
WITH over AS MATERIALIZED (
  SELECT p.workspace_id, p.task_type::text FROM pauses p
  WHERE p.task_type IS NOT NULL
  GROUP BY p.workspace_id, p.task_type
  HAVING bool_and(p.ended_at IS NOT NULL OR coalesce(p.until <= now(), false))
),
free AS MATERIALIZED (
  SELECT h.workspace_id, h.id
  FROM over o CROSS JOIN LATERAL (
    SELECT t.workspace_id, t.id FROM agent_tasks t
    WHERE t.workspace_id = o.workspace_id AND t.task_type = o.task_type AND ${isSuspended('t')}
    ORDER BY t.queue_rank
    LIMIT $1
    FOR NO KEY UPDATE SKIP LOCKED) h
  LIMIT $1
)
UPDATE agent_tasks t SET capability_key = substr(t.capability_key, 2)
FROM free f WHERE t.workspace_id = f.workspace_id AND t.id = f.id
RETURNING t.workspace_id, t.status`,
);
