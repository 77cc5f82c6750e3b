import type { HeartbeatTiming } from './timing.js';
import type { AgentStatus } from '#lib/transitions/domain';

export const HEARTBEAT_STATUSES = ['healthy', 'degraded'] as const;
export type HeartbeatStatus = (typeof HEARTBEAT_STATUSES)[number];

/** `unknown`: it has never sent a heartbeat. */
export const HEALTH_STATUSES = [...HEARTBEAT_STATUSES, 'stale', 'unknown'] as const;
export type HealthStatus = (typeof HEALTH_STATUSES)[number];

/** The latest heartbeat of an agent with its consequences. */
export interface AgentHealth extends HeartbeatTiming {
  agentId: string;
  status: HealthStatus;
  agentStatus: AgentStatus;
  lastSeenAt: string | null;
  /** Seconds since the heartbeat. */
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

/** The stored content of a heartbeat. */
export type KeptHeartbeat = Pick<
  AgentHealth,
  'currentTaskId' | 'progressPercent' | 'currentStep' | 'memoryMb' | 'cpuPercent'
> & { seenAt: string; status: HeartbeatStatus };

/**
 * @param status the status in the latest heartbeat; null without one
 * @param isUnresponsive whether a sign of life is overdue
 */
export function healthStatus(
  status: HeartbeatStatus | 'stale' | null,
  isUnresponsive: boolean,
): HealthStatus {
  if (isUnresponsive) return 'stale';
  return status ?? 'unknown';
}
