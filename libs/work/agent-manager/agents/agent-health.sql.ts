import { query } from '#lib/database';
import type { HeartbeatStatus } from '../domain/health.js';
import { type AgentStatus, NO_HEARTBEAT, promisesHeartbeat } from '#lib/transitions';
import { isUnresponsive } from './stale-agents.sql.js';

export interface HealthRow {
  agent_status: AgentStatus;
  live_runs: number;
  max_concurrent_tasks: number;
  heartbeat_interval_seconds: number;
  stale_threshold_seconds: number;
  heartbeat_status: HeartbeatStatus | 'stale' | null;
  age_seconds: number | null;
  is_unresponsive: boolean;
  last_seen_at: Date | null;
  /** Null if no heartbeat is expected: not yet, or not while a push agent has no session. */
  next_expected_at: Date | null;
  current_task_id: string | null;
  progress_percent: number | null;
  current_step: string | null;
  memory_mb: number | null;
  cpu_percent: number | null;
  metadata: Record<string, unknown> | null;
}

/**
 * The latest heartbeat of an agent, by the database's clock.
 *
 * Indexes: primary keys. $1 workspace, $2 agent.
 */
export const agentHealth = query<HealthRow>(
  'agent_health',
  `
SELECT a.status AS agent_status, a.live_runs, a.max_concurrent_tasks, a.heartbeat_interval_seconds,
  a.stale_threshold_seconds, CASE WHEN ${promisesHeartbeat('h')} THEN h.status END AS heartbeat_status,
  extract(epoch FROM now() - h.last_seen_at)::float8 AS age_seconds, h.last_seen_at,
  CASE WHEN a.mode = 'pull' OR a.live_runs > 0 THEN nullif(h.next_expected_at, ${NO_HEARTBEAT}) END AS next_expected_at,
  ${isUnresponsive('a', 'h')} AS is_unresponsive, h.current_task_id, h.progress_percent,
  h.current_step, h.memory_mb, h.cpu_percent, h.metadata
FROM agents a
LEFT JOIN agent_heartbeats h ON h.workspace_id = a.workspace_id AND h.agent_id = a.id
WHERE a.workspace_id = $1 AND a.id = $2`,
);
