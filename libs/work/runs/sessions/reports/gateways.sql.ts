import { isNearlyOutOfBudget } from '#lib/budgets';
import { command, query } from '#lib/database';
import { journalRow } from '#lib/transitions';

export interface HeartbeatRow {
  /** True if this heartbeat is the newest one known. Otherwise nothing is changed. */
  newest: boolean;
  /** True for the first heartbeat of a life. */
  begins: boolean;
  /** True if a known gateway has begun another life. */
  restarted: boolean;
  now: Date;
}

/**
 * Records a gateway's heartbeat. Within a life, its number decides which heartbeat is newer;
 * between lives, their start does. A clock that was set back between lives must not lock a gateway
 * out. After a silence longer than a heartbeat's token is valid, no heartbeat of an earlier life
 * can still arrive. So the next heartbeat is of a later life.
 *
 * As the service role. Index: primary key. $1 id, $2 boot, $3 started at, $4 version, $5 capacity,
 * $6 running, $7 queued, $8 draining, $9 number, $10 seconds of silence after which no heartbeat of
 * an earlier life can arrive, $11 number of sessions that belong to runs.
 */
export const recordGatewayHeartbeat = command<HeartbeatRow>(
  'record_gateway_heartbeat',
  `
WITH heartbeat AS (
  INSERT INTO gateways AS g (id, boot_id, started_at, version, capacity, running, queued, draining,
    last_sequence, others)
  VALUES ($1, $2, $3, $4, $5, $6::int, $7::int, $8, $9, greatest($6::int + $7::int - $11::int, 0))
  ON CONFLICT (id) DO UPDATE SET boot_id = excluded.boot_id, started_at = excluded.started_at,
    version = excluded.version, capacity = excluded.capacity, running = excluded.running,
    queued = excluded.queued, draining = excluded.draining, last_seen_at = now(),
    last_sequence = excluded.last_sequence, others = excluded.others,
    restarts = g.restarts + (g.boot_id <> excluded.boot_id)::int
  WHERE CASE WHEN g.boot_id = excluded.boot_id THEN excluded.last_sequence > g.last_sequence
    ELSE excluded.started_at > g.started_at
      OR g.last_seen_at < now() - make_interval(secs => $10::float8) END
  RETURNING old.boot_id IS DISTINCT FROM new.boot_id AS begins,
    coalesce(old.boot_id <> new.boot_id, false) AS restarted
)
SELECT b.begins IS NOT NULL AS newest, coalesce(b.begins, false) AS begins,
  coalesce(b.restarted, false) AS restarted, now() AS now
FROM (VALUES (1)) one LEFT JOIN heartbeat b ON true`,
);

export interface HeldSession {
  run_id: string;
  workspace_id: string | null;
  agent_id: string | null;
  action: 'stop' | 'pause' | 'warn' | null;
  reason: string | null;
}

/**
 * The signals for a gateway about the runs whose sessions it holds: runs that are no longer live
 * and why, runs with a session at another gateway (an answer was lost, and the next call went
 * there), runs to pause, runs that seem to hang, and runs whose budget is nearly used up. One row
 * for each run in question; the workspace is NULL for a run that does not exist.
 *
 * As the service role. Index: session_spawns_run_idx, then primary keys and
 * usage_budgets_reached_idx. $1 runs, $2 gateway.
 */
export const heldSessions = query<HeldSession>(
  'held_sessions',
  `
SELECT held.run_id, s.workspace_id, s.agent_id,
  CASE WHEN r.id IS NULL OR r.ended_at IS NOT NULL OR t.run_id IS DISTINCT FROM r.id
         OR s.gateway_id <> $2 THEN 'stop'
       WHEN t.status = 'PAUSED' AND r.pause_requested_at IS NOT NULL THEN 'pause'
       WHEN t.status = 'RUNNING'
         AND (r.hung_warned_at IS NOT NULL OR ${isNearlyOutOfBudget('t')}) THEN 'warn' END AS action,
  CASE WHEN r.id IS NULL THEN 'unknown_run'
       WHEN r.ended_at IS NOT NULL OR t.run_id IS DISTINCT
         FROM r.id THEN coalesce(r.end_reason, 'stale_run')
       WHEN s.gateway_id <> $2 THEN 'spawned_elsewhere'
       WHEN t.status = 'PAUSED' THEN coalesce(t.pause_reason, 'paused')
       WHEN r.hung_warned_at IS NOT NULL THEN 'hung'
       ELSE 'budget' END AS reason
FROM unnest($1::uuid[]) AS held (run_id)
LEFT JOIN session_spawns s ON s.run_id = held.run_id
LEFT JOIN task_runs r ON r.workspace_id = s.workspace_id AND r.id = s.run_id
LEFT JOIN agent_tasks t ON t.workspace_id = r.workspace_id AND t.id = r.task_id`,
);

/**
 * Signs of life of the agents whose sessions a gateway holds, and of the agents whose sessions are
 * still to be spawned. Spawning has its own deadline, and does not count as silence. A sign of life
 * never moves back.
 *
 * As the service role. Indexes: primary keys, session_spawns_due_idx (read whole: few wait). $1
 * workspaces, $2 agents, as two arrays of the same length.
 */
export const heartbeatForAgents = command<{ agent_id: string }>(
  'heartbeat_for_agents',
  `
UPDATE agent_heartbeats h SET last_seen_at = greatest(h.last_seen_at, now()), status = 'healthy',
  next_expected_at = now() + make_interval(secs => a.heartbeat_interval_seconds)
FROM (SELECT workspace_id, id, heartbeat_interval_seconds FROM agents
  WHERE (workspace_id, id) IN (SELECT * FROM unnest($1::uuid[], $2::uuid[])
    UNION SELECT workspace_id, agent_id FROM session_spawns WHERE state = 'PENDING')
  ORDER BY workspace_id, id) a
WHERE h.workspace_id = a.workspace_id AND h.agent_id = a.id
RETURNING h.agent_id`,
);

export interface SessionPlace {
  run_id: string;
  workspace_id: string;
  agent_id: string;
  /** The gateway whose answer was heard; NULL before. */
  gateway_id: string | null;
}

/** The places of runs that a gateway reports about. Index: session_spawns_run_idx. $1 runs. */
export const sessionPlaces = query<SessionPlace>(
  'session_places',
  `SELECT run_id, workspace_id, agent_id, gateway_id FROM session_spawns
WHERE run_id = ANY($1::uuid[])`,
);

/**
 * Logs that a gateway has a second session of a run whose session another gateway has, once for
 * each gateway.
 *
 * As the service role. Index: session_spawns_run_idx, then primary keys; the logs of the tasks are
 * read. $1 runs, $2 the gateway that has the second session.
 */
export const announceSecondSessions = command<{ run_id: string; gateway_id: string }>(
  'announce_second_sessions',
  `
WITH second AS MATERIALIZED (
  SELECT s.workspace_id, r.task_id, s.run_id, s.agent_id, s.gateway_id,
    jsonb_build_object('runId', s.run_id, 'agentId', s.agent_id, 'gatewayId', $2::text,
      'rightfulGatewayId', s.gateway_id) AS facts
  FROM session_spawns s JOIN task_runs r ON r.workspace_id = s.workspace_id AND r.id = s.run_id
  WHERE s.run_id = ANY ($1::uuid[]) AND s.gateway_id <> $2
    AND NOT EXISTS (SELECT FROM journal l
      WHERE l.workspace_id = s.workspace_id AND l.task_id = r.task_id AND l.run_id = s.run_id
        AND l.event = 'run.split_brain_conflict' AND l.details ->> 'gatewayId' = $2)
),
journaled AS (
  ${journalRow(
    {
      workspace_id: 'workspace_id',
      event: "'run.split_brain_conflict'",
      log_event: "'split_brain_conflict'",
      task_id: 'task_id',
      run_id: 'run_id',
      agent_id: 'agent_id',
      level: "'WARN'",
      message: "'Second session told to stop: another gateway had one of this run'",
      details: 'facts',
      actor_kind: "'system'",
      actor_id: "'gateway:' || $2",
    },
    'second',
  )}
)
SELECT run_id, gateway_id FROM second`,
);
