import { command, query } from '#lib/database';
import { journaled } from '#lib/transitions';
import type { LockedTask } from '#lib/transitions';
import { LOCKED_TASK_COLUMNS } from '#lib/transitions';
import { LIVE_STATES_SQL } from '#lib/transitions';
import { taskDoor } from '#lib/transitions';

/**
 * The coordinator's selections over tasks and runs, for the service role, of every workspace. Each
 * locks what it returns and skips what somebody else has locked, because whoever has it is changing it.
 *
 * Caller: TaskRecovery. $1 is always the number of rows at most, $2 the workspace to look at, or NULL
 * for all: the indexes are of all workspaces, and what is due is few rows.
 */
const lostRuns = (name: string, joins: string, condition: string, order: string) =>
  query<LockedTask>(
    name,
    `
SELECT ${LOCKED_TASK_COLUMNS}
FROM task_runs r
JOIN agent_tasks t ON t.workspace_id = r.workspace_id AND t.id = r.task_id AND t.run_id = r.id
${joins}
WHERE r.state IN ${LIVE_STATES_SQL} AND ${condition}
  AND ($2::uuid IS NULL OR r.workspace_id = $2)
ORDER BY ${order}
LIMIT $1
-- Both: a renewal or a report that came between the look and the lock counts.
FOR NO KEY UPDATE OF t, r SKIP LOCKED`,
  );

/**
 * Leases that have passed, except those that beats carry: whether their agent is gone, or only can't
 * be heard, is decided with all agents in view (the coordinator's step for stale agents), and then
 * lockRunsOfLostAgents finds them. Otherwise an outage of ours that outlasts a lease would end every
 * run of the fleet. Index: task_runs_lease_idx.
 */
export const lockExpiredRuns = lostRuns(
  'lock_expired_runs',
  '',
  'r.lease_expires_at <= now() AND NOT r.lease_by_heartbeat',
  'r.lease_expires_at',
);

/**
 * Leases of agents that have never beaten since they registered (no beat is expected of them: their next
 * one stands at infinity). Nobody would ever find such an agent stale, so the lease itself is the limit.
 * Index: agents (a scan of few rows), agent_heartbeats (primary key), task_runs_live_agent_idx.
 */
export const lockExpiredRunsOfMuteAgents = lostRuns(
  'lock_expired_runs_of_mute_agents',
  `JOIN agents a ON a.workspace_id = r.workspace_id AND a.id = r.agent_id
LEFT JOIN agent_heartbeats h ON h.workspace_id = r.workspace_id AND h.agent_id = r.agent_id`,
  `r.lease_by_heartbeat AND r.lease_expires_at <= now() AND a.live_runs > 0
    AND (h.agent_id IS NULL OR h.next_expected_at = 'infinity')`,
  'r.workspace_id, r.task_id',
);

/** Live runs of agents that are taken for dead. Index: agents (a scan of few rows), task_runs_live_agent_idx. */
export const lockRunsOfLostAgents = lostRuns(
  'lock_runs_of_lost_agents',
  'JOIN agents a ON a.workspace_id = r.workspace_id AND a.id = r.agent_id',
  `a.lifecycle IN ('ERROR', 'TERMINATED') AND a.live_runs > 0`,
  'r.workspace_id, r.task_id',
);

/**
 * Live runs whose session's gateway is silent while another one is heard: that one's beats are its agents'
 * too, so that nobody would find the agent stale. Silent means for longer than $3 seconds and than the
 * agent's threshold, since its last beat and since it answered for the session; and somebody listened
 * for as long, $4 seconds. Index: gateways (a handful of rows), session_spawns_spawned_idx, primary keys.
 */
export const lockRunsOfLostGateways = lostRuns(
  'lock_runs_of_lost_gateways',
  `JOIN session_spawns s ON s.workspace_id = r.workspace_id AND s.run_id = r.id AND s.state = 'SPAWNED'
JOIN gateways g ON g.id = s.gateway_id
JOIN agents a ON a.workspace_id = r.workspace_id AND a.id = r.agent_id
CROSS JOIN LATERAL (SELECT greatest($3::float8, a.stale_threshold_seconds) AS seconds) AS longest`,
  `longest.seconds <= $4::float8
    AND greatest(g.last_seen_at, s.settled_at) < now() - make_interval(secs => longest.seconds)
    AND EXISTS (SELECT FROM gateways other
      WHERE other.id <> g.id AND other.last_seen_at > now() - make_interval(secs => $3::float8))`,
  'r.workspace_id, r.task_id',
);

/**
 * Runs past their task's timeout that their agent has not ended itself, which it should have; the
 * minute more is for its report to arrive. Index: task_runs_deadline_idx.
 */
export const lockOverdueRuns = lostRuns(
  'lock_overdue_runs',
  '',
  `r.deadline_at <= now() - interval '60 seconds' AND r.state IN ('ASSIGNED', 'WORKING', 'STALE')`,
  'r.deadline_at',
);

/**
 * Runs that made no progress since their agent was warned, which is $3 seconds ago or more.
 * Index: task_runs_hung_idx.
 */
export const lockHungRuns = lostRuns(
  'lock_hung_runs',
  '',
  `r.hung_warned_at <= now() - make_interval(secs => $3::float8) AND r.state IN ('WORKING', 'STALE')
    AND t.status = 'RUNNING'`,
  'r.hung_warned_at',
);

export interface ReadyRow {
  workspace_id: string;
  status: string;
}

/** ABORTED tasks whose retry is due go back to the queue. Index: agent_tasks_retry_due_idx. */
export const promoteDueRetries = command<ReadyRow>(
  'promote_due_retries',
  `
WITH due AS MATERIALIZED (
  SELECT d.workspace_id, d.id FROM agent_tasks d
  WHERE d.status = 'ABORTED' AND d.retry_at <= now()
    AND ($2::uuid IS NULL OR d.workspace_id = $2)
  ORDER BY d.retry_at
  LIMIT $1
  FOR NO KEY UPDATE SKIP LOCKED
),
${taskDoor('PENDING', 'due', {
  workspace_id: 'm.workspace_id',
  task_id: 'm.id',
  actor_kind: `'coordinator'`,
  message: `'retry due'`,
})},
${journaled('tasks')}
SELECT workspace_id, status FROM task_moved`,
);

/** PENDING tasks that have waited longer than they may. Index: agent_tasks_queue_expiry_idx. */
export const abortExpiredInQueue = command<ReadyRow>(
  'abort_expired_in_queue',
  `
WITH due AS MATERIALIZED (
  SELECT d.workspace_id, d.id FROM agent_tasks d
  WHERE d.status = 'PENDING' AND d.queue_expires_at <= now()
    AND ($2::uuid IS NULL OR d.workspace_id = $2)
  ORDER BY d.queue_expires_at
  LIMIT $1
  FOR NO KEY UPDATE SKIP LOCKED
),
${taskDoor('ABORTED', 'due', {
  workspace_id: 'm.workspace_id',
  task_id: 'm.id',
  actor_kind: `'coordinator'`,
  reason: `'queue_expired'`,
  message: `'It waited in the queue longer than it may'`,
  level: `'WARN'`,
})},
${journaled('tasks')}
SELECT workspace_id, status FROM task_moved`,
);
