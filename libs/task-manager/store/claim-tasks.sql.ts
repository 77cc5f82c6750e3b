import { command } from '#lib/database';
import { RUN_START } from './run-door.sql.js';
import { announced } from './events.sql.js';
import { taskDoor } from './task-door.sql.js';

/**
 * Gives an agent the tasks that it may take, best first, and its runs with them.
 *
 * Caller: RunService.claim (POST /agents/:id/claim, and `claimNext` of complete).
 * Indexes: agents (primary key), capability_sets (primary key), agent_tasks_queue_idx.
 *
 * Reads the head of the queue of each capability set that the agent serves, so that neither the
 * length of the queue nor tasks it can't serve cost anything. Locking the agent's row makes two
 * claims of one agent take turns, so that it never holds more than max_concurrent_tasks; the count is
 * re-read from the locked row.
 *
 * Tried: one index scan ordered over all sets with `required_capabilities <@ capabilities` as a
 * filter: reads the whole queue when the agent serves none of it. `IN (SELECT … LIMIT)` instead of
 * the lateral join: may be evaluated more than once, and then claims more than it was asked for.
 *
 * $1 workspace, $2 agent, $3 tasks at most, $4 lease in seconds or NULL (then the agent's beats carry
 * it, if it beats), $5 lease in seconds of an agent that does not beat.
 */
export interface ClaimedRow {
  run_id: string;
  generation: number;
  lease_expires_at: Date;
  id: string;
  title: string;
  description: string | null;
  task_type: string;
  priority: number;
  input_context: unknown;
  checkpoint_data: unknown;
  metadata: unknown;
  timeout_seconds: number | null;
  retry_count: number;
  max_retries: number;
  required_capabilities: string[];
  tags: string[];
}

export const claimTasks = command<ClaimedRow>(
  'claim_tasks',
  `
WITH agent AS MATERIALIZED (
  SELECT a.id, a.capabilities, a.stale_threshold_seconds,
    least($3::int, a.max_concurrent_tasks - a.live_runs) AS room
  FROM agents a
  WHERE a.workspace_id = $1 AND a.id = $2 AND a.lifecycle IN ('STARTING', 'ACTIVE')
  FOR NO KEY UPDATE
),
lease AS MATERIALIZED (
  SELECT coalesce($4::int, CASE WHEN beats.alive THEN a.stale_threshold_seconds END, $5::int) AS seconds,
    $4::int IS NULL AND coalesce(beats.alive, false) AS by_heartbeat
  FROM agent a LEFT JOIN LATERAL (
    SELECT h.last_seen_at > now() - make_interval(secs => a.stale_threshold_seconds) AS alive
    FROM agent_heartbeats h WHERE h.workspace_id = $1 AND h.agent_id = a.id) beats ON true
),
served AS MATERIALIZED (
  SELECT s.key FROM capability_sets s, agent a
  WHERE s.workspace_id = $1 AND a.room > 0 AND s.capabilities <@ a.capabilities
),
chosen AS MATERIALIZED (
  SELECT head.id, uuidv7() AS run_id
  FROM served s CROSS JOIN LATERAL (
    SELECT t.id, t.queue_rank FROM agent_tasks t
    WHERE t.workspace_id = $1 AND t.capability_key = s.key
      AND t.status = 'PENDING' AND t.unmet_dependencies = 0
      AND (t.queue_expires_at IS NULL OR t.queue_expires_at > now())
    ORDER BY t.queue_rank
    LIMIT (SELECT greatest(room, 0) FROM agent)
    FOR NO KEY UPDATE SKIP LOCKED) head
  ORDER BY head.queue_rank
  LIMIT (SELECT greatest(room, 0) FROM agent)
),
${taskDoor('ASSIGNED', 'chosen', {
  workspace_id: '$1',
  task_id: 'm.id',
  actor_kind: `'agent'`,
  actor_id: '$2::uuid',
  run_id: 'm.run_id',
  agent_id: '$2',
})},
${RUN_START},
${announced('both')}
SELECT s.id AS run_id, s.generation, s.lease_expires_at, t.id, t.title, t.description, t.task_type,
  t.priority, t.input_context, t.checkpoint_data, t.metadata, t.timeout_seconds, t.retry_count,
  t.max_retries, t.required_capabilities, ARRAY(
    SELECT g.tag FROM agent_task_tags g WHERE g.workspace_id = $1 AND g.task_id = t.id ORDER BY g.tag) AS tags
FROM run_moved s JOIN agent_tasks t ON t.workspace_id = $1 AND t.id = s.task_id
-- Run ids are made in the order of the queue, and sort by the time they were made.
ORDER BY s.id`,
);
