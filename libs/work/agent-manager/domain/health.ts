import type { HeartbeatTiming } from './timing.js';
import type { AgentStatus } from '#lib/transitions/domain';

export const HEARTBEAT_STATUSES = ['healthy', 'degraded'] as const;
export type HeartbeatStatus = (typeof HEARTBEAT_STATUSES)[number];

/** `unknown`: it has never sent a heartbeat. */
export const HEALTH_STATUSES = [...HEARTBEAT_STATUSES, 'stale', 'unknown'] as const;
export type HealthStatus = (typeof HEALTH_STATUSES)[number];

/** The latest heartbeat of an agent, and what follows from it. */
export interface AgentHealth extends HeartbeatTiming {
  agentId: string;
  status: HealthStatus;
  agentStatus: AgentStatus;
  lastSeenAt: string | null;
  /** Seconds since then. */
  ageSeconds: number | null;
  nextExpectedAt: string | null;
  liveRuns: number;
  maxConcurrentTasks: number;
  currentTaskId: string | null;
  progressPercent: number | null;
  currentStep: string | null;
  memoryMb: number | null;
  cpuPercent: number | null;
  metadata: Record<string, unknown>;
}

/** What an agent said of itself at a time. */
export type KeptHeartbeat = Pick<
  AgentHealth,
  'currentTaskId' | 'progressPercent' | 'currentStep' | 'memoryMb' | 'cpuPercent'
> & { seenAt: string; status: HeartbeatStatus };

/**
 * @param status what the latest heartbeat said of itself; null: there was none
 * @param isUnresponsive whether a sign of life is missed by now
 */
export function healthStatus(
  status: HeartbeatStatus | 'stale' | null,
  isUnresponsive: boolean,
): HealthStatus {
  if (isUnresponsive) return 'stale';
  return status ?? 'unknown';
}
