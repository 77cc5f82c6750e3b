import { command, hotCommand, type Sql } from '#lib/database';
import { type NetworkLevels, networkLevels } from '#lib/projects';
import {
  journaled,
  promisesHeartbeat,
  promisesNoHeartbeat,
  runStart,
  serves,
  taskTransition,
} from '#lib/transitions';
import { bytesOf, REQUESTED_COLUMNS, type TaskAnswer } from '#lib/task-manager';
import { hasRoom, OFFER, type Offer, HOLD_WHYS, type HoldWhy, takesType } from './hand-out.sql.js';
import { type Holds, WITH_HOLDS, WITHOUT_HOLDS } from './claim-holds.sql.js';
import { ROUTED_BY, type RoutedRow } from './routed-row.js';

/** One agent's request. */
export interface AgentClaim {
  agent_id: string;
  /** Maximum number of tasks. */
  max: number;
  /** NULL: the agent's heartbeats renew the lease, if it sends any. */
  lease_seconds: number | null;
}

/**
 * Gives agents the best tasks that they can take, with runs. The agents of one statement take the
 * same tasks. An agent must come again (`deferred`) if it takes other tasks than the first agent
 * that can claim. The same holds if the others' tasks leave no room in the answer. The agents are
 * served in the order of $2.
 *
 * Serves all agents of a workspace that asked at once, each at most once. Indexes: agents,
 * agent_heartbeats and capability_sets (primary keys), agent_tasks_queue_idx.
 *
 * Reads the head of the queue of each capability set that the agents serve. So the length of the
 * queue costs nothing, nor do tasks that they cannot serve. The lock on an agent's row makes two
 * claims of one agent take turns, so it never holds more than max_concurrent_tasks. The count is
 * read again from the locked row.
 *
 * Tried: one index scan ordered over all sets with `required_capabilities <@ capabilities` as a
 * filter. It reads the whole queue when the agent serves none of it. `IN (SELECT … LIMIT)` instead
 * of the lateral join: it can be evaluated more than once, and then claims more than requested.
 * Dealing out by generate_series: an estimate of thousands of rows, and a sequential scan of the
 * tasks. One statement for each of several agents: its setup costs Postgres as much as twenty of
 * its rows.
 *
 * $1 workspace, $2 agents, $3 maximum tasks of each, $4 leases in seconds or NULL, $5 lease in
 * seconds of an agent that sends no heartbeats, $6 true behind other statements of a transaction: a
 * task that changed after its start would be assigned before it was ready, by the times in its log.
 */
export type ClaimRow = AgentRow & (ClaimedRow | { run_id: null });

/** Reasons for a claim without a task. */
const NO_HOLD = ['nothing_ready', 'agent_full', 'agent_in_error'] as const;
export type NothingClaimed = (typeof NO_HOLD)[number] | HoldWhy;
export const NOTHING_CLAIMED: NothingClaimed[] = [...NO_HOLD, ...HOLD_WHYS];

/** Every existing agent has one row for each of its tasks, or one row without a task. */
interface AgentRow extends Offer {
  agent_id: string;
  lifecycle: string;
  mode: 'pull' | 'push';
  deferred: boolean;
  /** True if something may hold back tasks of its workspace. The plain statement then gives none. */
  is_held: boolean;
  /** The reason if it got nothing. */
  why: NothingClaimed;
  /** True if some tasks may be held back, which may be the reason that it got nothing. */
  some_held: boolean;
  /**
   * True if it owes no heartbeats, and its last sign of life is older than a quarter of its
   * threshold.
   */
  unresponsive: boolean;
}

export interface ClaimedRow extends RoutedRow {
  generation: number;
  /** Seconds since the task became ready. */
  waited_seconds: number;
  lease_expires_at: Date;
  /** The time at which the run times out. */
  deadline_at: Date | null;
  id: string;
  title: string;
  description: string | null;
  agent: unknown;
  instructions: string | null;
  steps: string[];
  deliverables: string[];
  acceptance: string[];
  acceptance_script: string | null;
  input_context: unknown;
  checkpoint_data: unknown;
  metadata: unknown;
  secrets: unknown;
  answers: TaskAnswer[] | null;
  continues_id: string | null;
  repository_id: string | null;
  timeout_seconds: number | null;
  retry_count: number;
  max_retries: number;
  required_capabilities: string[];
  tags: string[];
  /** The trace of the request that created the task; null if it was not traced. */
  traceparent: string | null;
  network_levels: NetworkLevels | null;
}

/** Maximum bytes of JSON in the answers of one statement, and one task more. */
const CLAIM_BYTES = 32 * 1024 * 1024;
/** This many tasks always fit: a value has at most a megabyte, and a task has three. */
const SURELY_SMALL = 10;

/** The columns that an agent receives of its task, and the columns that choose its model. */
const RECEIVED = [
  'title',
  'description',
  'agent',
  'instructions',
  'steps',
  'deliverables',
  'acceptance',
  'acceptance_script',
  'input_context',
  'checkpoint_data',
  'metadata',
  'secrets',
  'answers',
  'continues_id',
  'repository_id',
  'timeout_seconds',
  'retry_count',
  'max_retries',
  'required_capabilities',
  'traceparent',
  ...ROUTED_BY,
];

interface Askers {
  /** SQL: rows `w` of (agent_id, max, lease_seconds, position). */
  asked: string;
  /**
   * CTEs that end in `chosen (id, run_id, agent_id, seconds, by_heartbeat)`, with the columns for
   * holds.
   */
  chosen: (holds: Holds) => string;
  /** SQL: the agent `a` must come again. */
  deferred: string;
}

const OFFERED = OFFER.map((column) => `a.${column}`).join(', ');

const unchangedSinceStart = (t: string): string =>
  `($6::boolean IS NOT TRUE OR ${t}.updated_at <= now())`;

/** The best ranked tasks that a row `o` of `offer` takes, as many as it has room for, locked. */
function best(offer: string, { mayBeHandedOut, columns }: Holds, bytes = ''): string {
  return `best AS MATERIALIZED (
  SELECT head.*
  FROM ${offer} o JOIN capability_sets s ON s.workspace_id = $1 AND ${serves('o', 's.capabilities')}
  CROSS JOIN LATERAL (
    SELECT t.id, t.queue_rank${columns('t')}${bytes} FROM agent_tasks t
    WHERE t.workspace_id = $1 AND t.capability_key = s.key
      AND ${mayBeHandedOut('t')}
      AND ${takesType('o', 't.task_type')} AND ${unchangedSinceStart('t')}
    ORDER BY t.queue_rank
    LIMIT o.room
    FOR NO KEY UPDATE OF t SKIP LOCKED) head
  ORDER BY head.queue_rank
  LIMIT (SELECT room FROM ${offer})
)`;
}

const chosenByOne = ({ columns }: Holds): string => `chosen AS (
  SELECT b.id, uuidv7() AS run_id, a.id AS agent_id, a.seconds, a.by_heartbeat, a.model${columns('b')}
  FROM best b CROSS JOIN agent a
)`;

/** Most claims come alone, so nothing has to be dealt out. */
const ONE: Askers = {
  asked: `(SELECT ($2::uuid[])[1] AS agent_id, ($3::int[])[1] AS max, ($4::int[])[1] AS lease_seconds,
    1 AS position) w`,
  chosen: (holds) => `${best('agent', holds)},
${chosenByOne(holds)}`,
  deferred: 'false',
};

/** $7 the requested task. */
const GIVEN: Askers = {
  ...ONE,
  chosen: (holds) => `best AS MATERIALIZED (
  SELECT t.id${holds.columns('t')} FROM agent o JOIN agent_tasks t ON t.workspace_id = $1 AND t.id = $7 AND o.room > 0
  WHERE ${serves('o', 't.required_capabilities')} AND ${takesType('o', 't.task_type')}
    AND ${unchangedSinceStart('t')}
    AND ${holds.mayBeHandedOut('t')}
  FOR NO KEY UPDATE OF t SKIP LOCKED
),
${chosenByOne(holds)}`,
};

/**
 * @param bytes true if the answer could become too large
 */
function several(bytes: boolean): Askers {
  const size = bytes
    ? `, ${bytesOf(...REQUESTED_COLUMNS, 't.checkpoint_data', 't.answers')} AS bytes`
    : '';
  const numbered = ({ columns }: Holds) =>
    `SELECT id, row_number() OVER (ORDER BY queue_rank, id) AS number${columns('best')} FROM best`;
  const numberedByBytes = ({ columns }: Holds) => `SELECT id, number${columns('b')} FROM (
      SELECT id, row_number() OVER line AS number, sum(bytes) OVER line - bytes AS before${columns('best')}
      FROM best WINDOW line AS (ORDER BY queue_rank, id ROWS UNBOUNDED PRECEDING)) b
    WHERE before < ${CLAIM_BYTES}`;
  return {
    asked: `unnest($2::uuid[], $3::int[], $4::int[]) WITH ORDINALITY AS w (agent_id, max, lease_seconds, position)`,
    // The tasks are dealt out by number: each agent's tasks follow the tasks of the agents before
    // it.
    chosen: (holds) => `share AS MATERIALIZED (
  SELECT a.id, a.room, a.seconds, a.by_heartbeat, a.model, sum(a.room) OVER (ORDER BY a.position) - a.room AS before
  FROM agent a
  WHERE a.room > 0 AND (${OFFERED}) = (SELECT ${OFFERED} FROM agent a WHERE room > 0 ORDER BY position LIMIT 1)
),
together AS MATERIALIZED (
  SELECT sum(a.room) AS room, ${OFFERED} FROM agent a JOIN share USING (id) GROUP BY ${OFFERED}
),
${best('together', holds, size)},
chosen AS MATERIALIZED (
  SELECT b.id, uuidv7() AS run_id, s.id AS agent_id, s.seconds, s.by_heartbeat, s.model${holds.columns('b')}
  FROM (${bytes ? numberedByBytes(holds) : numbered(holds)}) b
  JOIN share s ON b.number > s.before AND b.number <= s.before + s.room
)`,
    deferred: `a.room > 0 AND m.id IS NULL AND (a.id NOT IN (SELECT id FROM share)
    OR (SELECT count(*) FROM best) > (SELECT count(*) FROM chosen))`,
  };
}

function claimStatement({ asked, chosen, deferred }: Askers, holds: Holds): string {
  const returned = [
    ...RECEIVED.map((column) => `t.${column}`),
    't.ready_at',
    'm.seconds',
    'm.by_heartbeat',
    'm.model',
    ...holds.returned,
  ];
  return `
WITH ${holds.first}agent AS MATERIALIZED (
  SELECT a.id, a.lifecycle, a.mode, a.model, ${OFFERED}, w.position,
    CASE WHEN a.mode = 'pull' AND ${holds.takesWork('a')} AND ${holds.handsOut}
      THEN greatest(least(w.max, a.max_concurrent_tasks - a.live_runs), 0) ELSE 0 END AS room,
    ${holds.takesWork('a')} AS takes_work, NOT ${hasRoom('a')} AS is_full,
    coalesce(w.lease_seconds, CASE WHEN heard.alive THEN a.stale_threshold_seconds END, $5::int) AS seconds,
    w.lease_seconds IS NULL AND coalesce(heard.alive, false) AS by_heartbeat,
    a.mode = 'pull' AND coalesce(heard.unresponsive, false) AS unresponsive
  FROM ${asked}
  JOIN agents a ON a.workspace_id = $1 AND a.id = w.agent_id
  LEFT JOIN LATERAL (
    -- Registering stamps a first heartbeat with the next one at infinity: none is owed yet.
    SELECT h.last_seen_at > now() - make_interval(secs => a.stale_threshold_seconds)
      AND ${promisesHeartbeat('h')} AS alive,
      ${promisesNoHeartbeat('h')}
      AND h.last_seen_at < now() - make_interval(secs => a.stale_threshold_seconds / 4.0) AS unresponsive
    FROM agent_heartbeats h WHERE h.workspace_id = $1 AND h.agent_id = a.id) heard ON true
  ORDER BY a.id
  FOR NO KEY UPDATE OF a
),
${chosen(holds)},
${holds.afforded}${taskTransition(
    'ASSIGNED',
    holds.source,
    {
      workspace_id: '$1',
      task_id: 'm.id',
      actor_kind: `'agent'`,
      actor_id: 'm.agent_id',
      run_id: 'm.run_id',
      agent_id: 'm.agent_id',
    },
    { returned },
  )},
${runStart({ timed: true, holding: holds.holding })},
${journaled('begun')}
SELECT a.id AS agent_id, a.lifecycle, a.mode, ${OFFERED}, a.unresponsive, ${deferred} AS deferred,
  CASE WHEN NOT a.takes_work THEN CASE a.lifecycle WHEN 'ERROR' THEN 'agent_in_error' ELSE 'provider_limited' END
       WHEN a.is_full THEN 'agent_full'
       ELSE coalesce(CASE WHEN a.room = 0 THEN ${holds.why} END, 'nothing_ready') END AS why,
  ${holds.someHeld} AS some_held, ${holds.isHeld} AS is_held,
  m.run_id, m.generation, m.model, now() + make_interval(secs => m.seconds) AS lease_expires_at,
  now() + make_interval(secs => m.timeout_seconds) AS deadline_at, m.id,
  extract(epoch FROM now() - greatest(m.ready_at, (m.answers -> -1 ->> 'answeredAt')::timestamptz))::float8 AS waited_seconds,
  ${RECEIVED.map((column) => `m.${column}`).join(', ')}, ARRAY(
    SELECT g.tag FROM agent_task_tags g WHERE g.workspace_id = $1 AND g.task_id = m.id ORDER BY g.tag) AS tags,
  ${networkLevels('$1', 'm.project_id')} AS network_levels${holds.noted}
FROM agent a LEFT JOIN task_moved m ON m.agent_id = a.id
-- Run ids are created in the order of the queue, and sort by their creation time.
ORDER BY m.run_id`;
}

/** The statements for workspaces in which nothing holds tasks back, and for others. */
export type ClaimStatements = readonly [plain: Sql<ClaimRow>, holding: Sql<ClaimRow>];

const claimForOne: ClaimStatements = [
  hotCommand('claim_for_one', claimStatement(ONE, WITHOUT_HOLDS)),
  hotCommand('claim_for_one_holding', claimStatement(ONE, WITH_HOLDS)),
];
const claimForSeveral: ClaimStatements = [
  hotCommand('claim_for_several', claimStatement(several(false), WITHOUT_HOLDS)),
  hotCommand('claim_for_several_holding', claimStatement(several(false), WITH_HOLDS)),
];
const claimMany: ClaimStatements = [
  hotCommand('claim_many', claimStatement(several(true), WITHOUT_HOLDS)),
  hotCommand('claim_many_holding', claimStatement(several(true), WITH_HOLDS)),
];

/**
 * One agent's claim of the task $7, if it can take it. The other parameters as above. Indexes:
 * primary keys.
 */
const claimGiven: ClaimStatements = [
  command('claim_given', claimStatement(GIVEN, WITHOUT_HOLDS)),
  command('claim_given_holding', claimStatement(GIVEN, WITH_HOLDS)),
];

/** The statements for claims of this many agents and tasks in total, or of a given task. */
export function claimOf(agents: number, tasks: number, isGiven: boolean): ClaimStatements {
  if (isGiven) return claimGiven;
  if (tasks > SURELY_SMALL) return claimMany;
  return agents === 1 ? claimForOne : claimForSeveral;
}

/**
 * The claims of an agent without heartbeats are its only signs of life. Skips rows that a flush of
 * heartbeats has locked. Index: primary key. $1 workspace, $2 agents.
 */
export const hearAgents = command<never>(
  'hear_agents',
  `
UPDATE agent_heartbeats h SET last_seen_at = now() FROM (
  SELECT agent_id FROM agent_heartbeats WHERE workspace_id = $1 AND agent_id = ANY($2::uuid[])
  FOR NO KEY UPDATE SKIP LOCKED) u
WHERE h.workspace_id = $1 AND h.agent_id = u.agent_id`,
);
