import type { RunState } from '#lib/transitions';
import type { RunView } from '../domain/task-view.js';
import { instant } from './task-columns.js';

/** What a RunView is made of. */
export interface RunRow {
  id: string;
  task_id: string;
  agent_id: string;
  generation: number;
  state: RunState;
  version: number;
  session_key: string | null;
  lease_seconds: number;
  lease_expires_at: Date;
  lease_by_heartbeat: boolean;
  renewals: number;
  deadline_at: Date | null;
  pause_requested_at: Date | null;
  branch: string | null;
  review_url: string | null;
  end_reason: string | null;
  error: string | null;
  error_class: string | null;
  exit_code: number | null;
  signal: string | null;
  stack_trace: string | null;
  assigned_at: Date;
  started_at: Date | null;
  stale_at: Date | null;
  ended_at: Date | null;
  last_report_at: Date;
  last_progress_at: Date | null;
  hung_warned_at: Date | null;
}

/**
 * When the lease of `task_runs r` ends. No beat touches a run: a lease that beats carry is read from
 * the last of them.
 */
export const LEASE_END = `greatest(r.lease_expires_at, CASE WHEN r.lease_by_heartbeat AND r.ended_at IS NULL THEN (
    SELECT h.last_seen_at + make_interval(secs => r.lease_seconds) FROM agent_heartbeats h
    WHERE h.workspace_id = r.workspace_id AND h.agent_id = r.agent_id) END)`;

/** The columns of RunRow out of `task_runs r`. */
export const RUN_COLUMNS = `r.id, r.task_id, r.agent_id, r.generation, r.state, r.version, r.session_key,
  r.lease_seconds, ${LEASE_END} AS lease_expires_at, r.lease_by_heartbeat, r.renewals, r.deadline_at, r.pause_requested_at,
  r.branch, r.review_url, r.end_reason, r.error, r.error_class, r.exit_code, r.signal, r.stack_trace,
  r.assigned_at, r.started_at, r.stale_at, r.ended_at, r.last_report_at, r.last_progress_at, r.hung_warned_at`;

export function toRunView(row: RunRow): RunView {
  return {
    id: row.id,
    taskId: row.task_id,
    agentId: row.agent_id,
    generation: row.generation,
    state: row.state,
    version: row.version,
    sessionKey: row.session_key,
    leaseSeconds: row.lease_seconds,
    leaseExpiresAt: row.lease_expires_at.toISOString(),
    leaseByHeartbeat: row.lease_by_heartbeat,
    renewals: row.renewals,
    deadlineAt: instant(row.deadline_at),
    pauseRequestedAt: instant(row.pause_requested_at),
    branch: row.branch,
    reviewUrl: row.review_url,
    endReason: row.end_reason,
    error: row.error,
    errorClass: row.error_class,
    exitCode: row.exit_code,
    signal: row.signal,
    stackTrace: row.stack_trace,
    assignedAt: row.assigned_at.toISOString(),
    startedAt: instant(row.started_at),
    staleAt: instant(row.stale_at),
    endedAt: instant(row.ended_at),
    lastReportAt: row.last_report_at.toISOString(),
    lastProgressAt: instant(row.last_progress_at),
    hungWarnedAt: instant(row.hung_warned_at),
  };
}
