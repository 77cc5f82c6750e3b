import type { AgentMode, AgentView } from '../domain/agent-view.js';
import type { AgentLifecycle, AgentStatus } from '#lib/transitions';

/** What an AgentView is made of. */
export interface AgentRow {
  workspace_id: string;
  id: string;
  name: string;
  mode: AgentMode;
  model: string | null;
  lifecycle: AgentLifecycle;
  status: AgentStatus;
  live_runs: number;
  capabilities: string[];
  coordinator_enabled: boolean;
  max_concurrent_tasks: number;
  heartbeat_interval_seconds: number;
  stale_threshold_seconds: number;
  host_name: string | null;
  pid: number | null;
  agent_version: string | null;
  restart_count: number;
  token_version: number;
  metadata: Record<string, unknown>;
  command: string[];
  resting_until: Date | null;
  last_seen_at: Date | null;
  termination_reason: string | null;
  draining_at: Date | null;
  error_at: Date | null;
  terminated_at: Date | null;
  version: number;
  created_by: string | null;
  created_at: Date;
  updated_at: Date;
}

/** The columns of AgentRow, out of `agents a`. */
export const AGENT_COLUMNS = `a.workspace_id, a.id, a.name, a.mode, a.model, a.lifecycle, a.status,
  a.live_runs, a.capabilities, a.coordinator_enabled, a.max_concurrent_tasks,
  a.heartbeat_interval_seconds, a.stale_threshold_seconds, a.host_name, a.pid, a.agent_version,
  a.restart_count, a.token_version, a.metadata, a.command, a.resting_until, a.termination_reason, a.draining_at, a.error_at,
  a.terminated_at, a.version, a.created_by, a.created_at, a.updated_at,
  (SELECT h.last_seen_at FROM agent_heartbeats h
    WHERE h.workspace_id = a.workspace_id AND h.agent_id = a.id) AS last_seen_at`;

export function toAgentView(row: AgentRow): AgentView {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    name: row.name,
    mode: row.mode,
    model: row.model,
    status: row.status,
    capabilities: row.capabilities,
    coordinatorEnabled: row.coordinator_enabled,
    maxConcurrentTasks: row.max_concurrent_tasks,
    liveRuns: row.live_runs,
    heartbeatIntervalSeconds: row.heartbeat_interval_seconds,
    staleThresholdSeconds: row.stale_threshold_seconds,
    hostName: row.host_name,
    pid: row.pid,
    agentVersion: row.agent_version,
    restartCount: row.restart_count,
    metadata: row.metadata,
    command: row.command,
    restingUntil: timeOf(row.resting_until),
    lastSeenAt: timeOf(row.last_seen_at),
    terminationReason: row.termination_reason,
    drainingAt: timeOf(row.draining_at),
    errorAt: timeOf(row.error_at),
    terminatedAt: timeOf(row.terminated_at),
    version: row.version,
    createdBy: row.created_by,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

function timeOf(at: Date | null): string | null {
  return at?.toISOString() ?? null;
}
