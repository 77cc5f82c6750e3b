import type { HeartbeatTiming } from './timing.js';
import type { AgentStatus } from '#lib/transitions';

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

/**
 * @param heartbeat what the latest heartbeat said of itself, and whether it is missed by now; null: there was
 * none
 */
export function healthStatus(
  heartbeat: { status: HeartbeatStatus | 'stale'; isUnresponsive: boolean } | null,
): HealthStatus {
  if (heartbeat === null) return 'unknown';
  return heartbeat.isUnresponsive ? 'stale' : heartbeat.status;
}
