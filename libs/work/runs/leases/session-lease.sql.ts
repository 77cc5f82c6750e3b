import { command, query } from '#lib/database';
import { isLiveRun } from '#lib/transitions';

/** SQL: the run `r` has a session, or waits for one. Index: primary key of session_spawns. */
export const hasSession = (r: string) => `EXISTS (SELECT FROM session_spawns ss
    WHERE ss.workspace_id = ${r}.workspace_id AND ss.run_id = ${r}.id)`;

/**
 * SQL: the session's reports renew the lease of the run `r`: its gateway speaks the basic protocol,
 * and sends no heartbeats for it.
 */
export const isKeptByReports = (r: string) => `(NOT ${r}.lease_by_heartbeat AND ${hasSession(r)})`;

/**
 * Reads whether reports renew the lease of any live run. A server of the other protocol may have
 * begun it, before this one started or beside it. Without a gateway of the basic protocol, one row
 * is read.
 *
 * As the service role. Indexes: gateways (primary key), task_runs_lease_idx, session_spawns
 * (primary key). $1 id of the gateway of the basic protocol.
 */
export const anyKeptByReports = query<{ found: boolean }>(
  'any_kept_by_reports',
  `
SELECT EXISTS (SELECT FROM gateways g WHERE g.id = $1)
  AND EXISTS (SELECT FROM task_runs r WHERE ${isLiveRun('r')}
    AND ${isKeptByReports('r')}) AS found`,
);

/** A sign of life of a session: of its run, or of the task that it names. */
export interface SessionHeard {
  workspace_id: string;
  agent_id: string;
  run_id: string | null;
  task_id: string | null;
}

/**
 * Renews the leases of sessions that were heard. A task identifies its run only if the agent has
 * had no other run of it. Otherwise an earlier session could keep a later run alive. Locked rows
 * are being reported about or ended, and are skipped. The first sign of life of a session also
 * starts its timeout, because it may never report its start.
 *
 * As the service role. Indexes: primary keys, task_runs_task_idx. $1 JSON array of SessionHeard.
 */
export const renewSessionLeases = command<{ run_id: string }>(
  'renew_session_leases',
  `
WITH heard AS MATERIALIZED (
  SELECT * FROM jsonb_to_recordset($1::jsonb)
    AS b (workspace_id uuid, agent_id uuid, run_id uuid, task_id uuid)
),
meant AS MATERIALIZED (
  SELECT b.workspace_id, b.run_id, b.agent_id FROM heard b WHERE b.run_id IS NOT NULL
  UNION
  SELECT b.workspace_id, only_one.id, b.agent_id FROM heard b
  CROSS JOIN LATERAL (SELECT (array_agg(o.id))[1] AS id FROM task_runs o
    WHERE o.workspace_id = b.workspace_id AND o.task_id = b.task_id AND o.agent_id = b.agent_id
    HAVING count(*) = 1) only_one
  WHERE b.run_id IS NULL
),
held AS MATERIALIZED (
  SELECT r.workspace_id, r.id, r.task_id FROM meant m
  JOIN task_runs r ON r.workspace_id = m.workspace_id AND r.id = m.run_id
    AND r.agent_id = m.agent_id
  WHERE ${isLiveRun('r')} AND ${isKeptByReports('r')}
  ORDER BY r.workspace_id, r.id
  FOR NO KEY UPDATE OF r SKIP LOCKED
)
UPDATE task_runs r SET lease_expires_at = now() + make_interval(secs => r.lease_seconds),
  last_report_at = now(),
  deadline_at = coalesce(r.deadline_at, now() + make_interval(secs => t.timeout_seconds))
FROM held JOIN agent_tasks t ON t.workspace_id = held.workspace_id AND t.id = held.task_id
WHERE r.workspace_id = held.workspace_id AND r.id = held.id
RETURNING r.id AS run_id`,
);
