import { isOfNone, isPaused, pausedTypes } from '#lib/admission';
import { command } from '#lib/database';
import { RUN_START } from '#lib/transitions';
import { journaled } from '#lib/transitions';
import { bytesOf } from '#lib/task-manager';
import { taskDoor } from '#lib/transitions';

/** One agent's wish. */
export interface ClaimWish {
  agent_id: string;
  /** Tasks at most. */
  max: number;
  /** NULL: the agent's beats carry the lease, if it beats. */
  lease_seconds: number | null;
}

/**
 * Gives agents the tasks that they may take, best first, and their runs with them. The agents of one
 * statement take the same tasks: those with other capabilities than the first who may claim are told
 * to come again (`deferred`), as is who gets none because the others' tasks fill the answer. Of what
 * there is, who comes first in $2 gets what it wants first.
 *
 * Caller: Claims (POST /agents/:id/claim, and `claimNext` of complete), with all agents of a workspace
 * that asked at once, each at most once.
 * Indexes: agents, agent_heartbeats and capability_sets (primary keys), agent_tasks_queue_idx.
 *
 * Reads the head of the queue of each capability set that the agents serve, so that neither the
 * length of the queue nor tasks they can't serve cost anything. Locking an agent's row makes two
 * claims of one agent take turns, so that it never holds more than max_concurrent_tasks; the count is
 * re-read from the locked row.
 *
 * Tried: one index scan ordered over all sets with `required_capabilities <@ capabilities` as a
 * filter: reads the whole queue when the agent serves none of it. `IN (SELECT … LIMIT)` instead of
 * the lateral join: may be evaluated more than once, and then claims more than it was asked for.
 * Dealing out by generate_series: an estimate of thousands of rows, and a sequential scan of the tasks.
 * One statement for each agent: setting it up costs Postgres 0.9 ms, twenty times as much as its rows.
 *
 * $1 workspace, $2 JSON array of ClaimWish, $3 lease in seconds of an agent that does not beat.
 */
export type ClaimRow = AgentRow & (ClaimedRow | { run_id: null });

/** Why a claim is answered with no task. */
export const NOTHING_CLAIMED = ['nothing_ready', 'agent_full', 'agent_in_error', 'paused'] as const;
export type NothingClaimed = (typeof NOTHING_CLAIMED)[number];

/** Every agent that there is has one row for each task it was given, or one without. */
interface AgentRow {
  agent_id: string;
  lifecycle: string;
  mode: 'pull' | 'push';
  capabilities: string[];
  deferred: boolean;
  /** Why it got nothing, if it did not. */
  why: NothingClaimed;
  /** Some types of tasks are paused: perhaps it got nothing for that. */
  types_paused: boolean;
}

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

/** Bytes of JSON that the answers of one statement may hold, and one task more. */
const CLAIM_BYTES = 32 * 1024 * 1024;

const CLAIMED_BYTES = bytesOf('t.input_context', 't.checkpoint_data', 't.metadata');

export const claimTasks = command<ClaimRow>(
  'claim_tasks',
  `
WITH agent AS MATERIALIZED (
  SELECT a.id, a.lifecycle, a.mode, a.capabilities, a.stale_threshold_seconds, w.lease_seconds, w.position,
    CASE WHEN a.mode = 'pull' AND a.lifecycle IN ('STARTING', 'ACTIVE') AND NOT ${isPaused('$1')}
      THEN greatest(least(w.max, a.max_concurrent_tasks - a.live_runs), 0) ELSE 0 END AS room,
    a.live_runs >= a.max_concurrent_tasks AS is_full
  FROM ROWS FROM (jsonb_to_recordset($2::jsonb) AS (agent_id uuid, max int, lease_seconds int))
    WITH ORDINALITY AS w (agent_id, max, lease_seconds, position)
  JOIN agents a ON a.workspace_id = $1 AND a.id = w.agent_id
  ORDER BY a.id
  FOR NO KEY UPDATE OF a
),
leader AS MATERIALIZED (
  SELECT a.capabilities FROM agent a WHERE a.room > 0 ORDER BY a.position LIMIT 1
),
-- The tasks are dealt out by number: an agent's are those above what the agents before it take.
seated AS MATERIALIZED (
  SELECT a.id, a.room, sum(a.room) OVER (ORDER BY a.position) - a.room AS before
  FROM agent a JOIN leader l ON a.capabilities = l.capabilities WHERE a.room > 0
),
lease AS MATERIALIZED (
  SELECT a.id AS agent_id,
    coalesce(a.lease_seconds, CASE WHEN beats.alive THEN a.stale_threshold_seconds END, $3::int) AS seconds,
    a.lease_seconds IS NULL AND coalesce(beats.alive, false) AS by_heartbeat
  FROM agent a LEFT JOIN LATERAL (
    -- Registering stamps a first beat, but with the next one at infinity: no beat is promised yet.
    SELECT h.last_seen_at > now() - make_interval(secs => a.stale_threshold_seconds)
      AND h.next_expected_at IS DISTINCT FROM 'infinity' AS alive
    FROM agent_heartbeats h WHERE h.workspace_id = $1 AND h.agent_id = a.id) beats ON true
),
-- Of an agent that never beats its claims are all that is heard. Written a few times in its threshold,
-- and not while a flush of beats has the row.
unheard AS MATERIALIZED (
  SELECT h.agent_id FROM agent a JOIN agent_heartbeats h ON h.workspace_id = $1 AND h.agent_id = a.id
  WHERE a.mode = 'pull' AND h.next_expected_at = 'infinity'
    AND h.last_seen_at < now() - make_interval(secs => a.stale_threshold_seconds / 4.0)
  FOR NO KEY UPDATE OF h SKIP LOCKED
),
heard AS (
  UPDATE agent_heartbeats h SET last_seen_at = now() FROM unheard u
  WHERE h.workspace_id = $1 AND h.agent_id = u.agent_id
),
paused AS MATERIALIZED (
  SELECT ${pausedTypes('$1')} AS types
),
served AS MATERIALIZED (
  SELECT s.key FROM capability_sets s JOIN leader l ON s.capabilities <@ l.capabilities
  WHERE s.workspace_id = $1
),
best AS MATERIALIZED (
  SELECT head.id, head.queue_rank, head.bytes
  FROM served s CROSS JOIN LATERAL (
    SELECT t.id, t.queue_rank, ${CLAIMED_BYTES} AS bytes FROM agent_tasks t
    WHERE t.workspace_id = $1 AND t.capability_key = s.key
      AND t.status = 'PENDING' AND t.unmet_dependencies = 0
      AND (t.queue_expires_at IS NULL OR t.queue_expires_at > now())
      AND ${isOfNone('t.task_type', '(SELECT types FROM paused)::text[]')}
    ORDER BY t.queue_rank
    LIMIT (SELECT sum(room) FROM seated)
    FOR NO KEY UPDATE SKIP LOCKED) head
  ORDER BY head.queue_rank
  LIMIT (SELECT sum(room) FROM seated)
),
-- As many as one answer may carry; whoever goes without for that comes again.
dealt AS MATERIALIZED (
  SELECT id, uuidv7() AS run_id, row_number() OVER line AS number, sum(bytes) OVER line - bytes AS before
  FROM best WINDOW line AS (ORDER BY queue_rank, id ROWS UNBOUNDED PRECEDING)
),
chosen AS MATERIALIZED (
  SELECT b.id, b.run_id, s.id AS agent_id
  FROM (SELECT * FROM dealt WHERE before < ${CLAIM_BYTES}) b
  JOIN seated s ON b.number > s.before AND b.number <= s.before + s.room
),
${taskDoor('ASSIGNED', 'chosen', {
  workspace_id: '$1',
  task_id: 'm.id',
  actor_kind: `'agent'`,
  actor_id: 'm.agent_id',
  run_id: 'm.run_id',
  agent_id: 'm.agent_id',
})},
${RUN_START},
${journaled('both')}
SELECT a.id AS agent_id, a.lifecycle, a.mode, a.capabilities,
  a.room > 0 AND s.id IS NULL AND (a.id NOT IN (SELECT id FROM seated)
    OR EXISTS (SELECT FROM dealt WHERE before >= ${CLAIM_BYTES})) AS deferred,
  CASE WHEN a.lifecycle NOT IN ('STARTING', 'ACTIVE') THEN 'agent_in_error'
       WHEN a.is_full THEN 'agent_full'
       WHEN a.room = 0 THEN 'paused' ELSE 'nothing_ready' END AS why,
  (SELECT types FROM paused) <> '{}' AS types_paused,
  s.id AS run_id, s.generation, s.lease_expires_at, t.id, t.title, t.description, t.task_type,
  t.priority, t.input_context, t.checkpoint_data, t.metadata, t.timeout_seconds, t.retry_count,
  t.max_retries, t.required_capabilities, ARRAY(
    SELECT g.tag FROM agent_task_tags g WHERE g.workspace_id = $1 AND g.task_id = t.id ORDER BY g.tag) AS tags
FROM agent a LEFT JOIN (run_moved s JOIN agent_tasks t ON t.workspace_id = $1 AND t.id = s.task_id)
  ON s.agent_id = a.id
-- Run ids are made in the order of the queue, and sort by the time they were made.
ORDER BY s.id`,
);
