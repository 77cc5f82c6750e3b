import { isOfNone, isPaused, pausedTypes } from '#lib/admission';
import { command, type Sql } from '#lib/database';
import { journaled, RUN_START, taskTransition } from '#lib/transitions';
import { bytesOf } from '#lib/task-manager';

/** What one agent asks for. */
export interface AgentClaim {
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
 * For all agents of a workspace that asked at once, each at most once.
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
 * $1 workspace, $2 agents, $3 tasks for each at most, $4 leases in seconds or NULL, $5 lease in seconds of an agent
 * that does not beat.
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
  /** No beat was ever promised, and its last sign of life is older than a quarter of its threshold. */
  unheard: boolean;
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
/** As many tasks as can't be larger together: a value has a megabyte at most, and a task three of them. */
const SURELY_SMALL = 10;

/** The tasks of the batch with their numbers, best first; all of them, where they can't be too large together. */
const NUMBERED = `SELECT id, row_number() OVER (ORDER BY queue_rank, id) AS number FROM best`;
const NUMBERED_BY_BYTES = `SELECT id, number FROM (
      SELECT id, row_number() OVER line AS number, sum(bytes) OVER line - bytes AS before
      FROM best WINDOW line AS (ORDER BY queue_rank, id ROWS UNBOUNDED PRECEDING)) b
    WHERE before < ${CLAIM_BYTES}`;

/** What an agent is told of the task that it was given. */
const TOLD = [
  'title',
  'description',
  'task_type',
  'priority',
  'input_context',
  'checkpoint_data',
  'metadata',
  'timeout_seconds',
  'retry_count',
  'max_retries',
  'required_capabilities',
];

function claimStatement(numbered: string, bytes: string): string {
  return `
WITH agent AS MATERIALIZED (
  SELECT a.id, a.lifecycle, a.mode, a.capabilities, w.position,
    CASE WHEN a.mode = 'pull' AND a.lifecycle IN ('STARTING', 'ACTIVE') AND NOT ${isPaused('$1')}
      THEN greatest(least(w.max, a.max_concurrent_tasks - a.live_runs), 0) ELSE 0 END AS room,
    a.live_runs >= a.max_concurrent_tasks AS is_full,
    coalesce(w.lease_seconds, CASE WHEN beats.alive THEN a.stale_threshold_seconds END, $5::int) AS seconds,
    w.lease_seconds IS NULL AND coalesce(beats.alive, false) AS by_heartbeat,
    a.mode = 'pull' AND coalesce(beats.unheard, false) AS unheard
  FROM unnest($2::uuid[], $3::int[], $4::int[]) WITH ORDINALITY AS w (agent_id, max, lease_seconds, position)
  JOIN agents a ON a.workspace_id = $1 AND a.id = w.agent_id
  LEFT JOIN LATERAL (
    -- Registering stamps a first beat, but with the next one at infinity: no beat is promised yet.
    SELECT h.last_seen_at > now() - make_interval(secs => a.stale_threshold_seconds)
      AND h.next_expected_at IS DISTINCT FROM 'infinity' AS alive,
      h.next_expected_at = 'infinity'
      AND h.last_seen_at < now() - make_interval(secs => a.stale_threshold_seconds / 4.0) AS unheard
    FROM agent_heartbeats h WHERE h.workspace_id = $1 AND h.agent_id = a.id) beats ON true
  ORDER BY a.id
  FOR NO KEY UPDATE OF a
),
-- The tasks are dealt out by number: an agent's are those above what the agents before it take.
seat AS MATERIALIZED (
  SELECT a.id, a.room, a.capabilities, a.seconds, a.by_heartbeat, sum(a.room) OVER (ORDER BY a.position) - a.room AS before
  FROM agent a
  WHERE a.room > 0 AND a.capabilities = (SELECT capabilities FROM agent WHERE room > 0 ORDER BY position LIMIT 1)
),
best AS MATERIALIZED (
  SELECT head.*
  FROM capability_sets s CROSS JOIN LATERAL (
    SELECT t.id, t.queue_rank${bytes} FROM agent_tasks t
    WHERE t.workspace_id = $1 AND t.capability_key = s.key
      AND t.status = 'PENDING' AND t.unmet_dependencies = 0
      AND (t.queue_expires_at IS NULL OR t.queue_expires_at > now())
      AND ${isOfNone('t.task_type', `(${pausedTypes('$1')})::text[]`)}
    ORDER BY t.queue_rank
    LIMIT (SELECT sum(room) FROM seat)
    FOR NO KEY UPDATE SKIP LOCKED) head
  WHERE s.workspace_id = $1 AND s.capabilities <@ (SELECT capabilities FROM seat LIMIT 1)
  ORDER BY head.queue_rank
  LIMIT (SELECT sum(room) FROM seat)
),
chosen AS MATERIALIZED (
  SELECT b.id, uuidv7() AS run_id, s.id AS agent_id, s.seconds, s.by_heartbeat
  FROM (${numbered}) b JOIN seat s ON b.number > s.before AND b.number <= s.before + s.room
),
${taskTransition(
  'ASSIGNED',
  'chosen',
  {
    workspace_id: '$1',
    task_id: 'm.id',
    actor_kind: `'agent'`,
    actor_id: 'm.agent_id',
    run_id: 'm.run_id',
    agent_id: 'm.agent_id',
  },
  { returned: [...TOLD.map((column) => `t.${column}`), 'm.seconds', 'm.by_heartbeat'] },
)},
${RUN_START},
${journaled('begun')}
SELECT a.id AS agent_id, a.lifecycle, a.mode, a.capabilities, a.unheard,
  a.room > 0 AND m.id IS NULL AND (a.id NOT IN (SELECT id FROM seat)
    OR (SELECT count(*) FROM best) > (SELECT count(*) FROM chosen)) AS deferred,
  CASE WHEN a.lifecycle NOT IN ('STARTING', 'ACTIVE') THEN 'agent_in_error'
       WHEN a.is_full THEN 'agent_full'
       WHEN a.room = 0 THEN 'paused' ELSE 'nothing_ready' END AS why,
  ${pausedTypes('$1')} <> '{}' AS types_paused,
  m.run_id, m.generation, now() + make_interval(secs => m.seconds) AS lease_expires_at, m.id,
  ${TOLD.map((column) => `m.${column}`).join(', ')}, ARRAY(
    SELECT g.tag FROM agent_task_tags g WHERE g.workspace_id = $1 AND g.task_id = m.id ORDER BY g.tag) AS tags
FROM agent a LEFT JOIN task_moved m ON m.agent_id = a.id
-- Run ids are made in the order of the queue, and sort by the time they were made.
ORDER BY m.run_id`;
}

const claimFew = command<ClaimRow>('claim_tasks', claimStatement(NUMBERED, ''));
const claimMany = command<ClaimRow>(
  'claim_many_tasks',
  claimStatement(
    NUMBERED_BY_BYTES,
    `, ${bytesOf('t.input_context', 't.checkpoint_data', 't.metadata')} AS bytes`,
  ),
);

/** The statement for claims that ask for so many tasks together. */
export function claimOf(tasks: number): Sql<ClaimRow> {
  return tasks <= SURELY_SMALL ? claimFew : claimMany;
}

/**
 * Of an agent that never beats its claims are all that is heard. Not while a flush of beats has the row.
 * Index: primary key. $1 workspace, $2 agents.
 */
export const hearAgents = command<never>(
  'hear_agents',
  `
UPDATE agent_heartbeats h SET last_seen_at = now() FROM (
  SELECT agent_id FROM agent_heartbeats WHERE workspace_id = $1 AND agent_id = ANY($2::uuid[])
  FOR NO KEY UPDATE SKIP LOCKED) u
WHERE h.workspace_id = $1 AND h.agent_id = u.agent_id`,
);
