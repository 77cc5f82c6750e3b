import type { BeatTiming } from './timing.js';
import type { AgentStatus } from './lifecycle.js';

export const BEAT_STATUSES = ['healthy', 'degraded'] as const;
export type BeatStatus = (typeof BEAT_STATUSES)[number];

/** `unknown`: it has never beaten. */
export const HEALTH_STATUSES = [...BEAT_STATUSES, 'stale', 'unknown'] as const;
export type HealthStatus = (typeof HEALTH_STATUSES)[number];

/** The latest beat of an agent, and what follows from it. */
export interface AgentHealth extends BeatTiming {
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

/** @param beat what the latest beat said of itself; null: there was none */
export function healthStatus(
  beat: { status: BeatStatus | 'stale'; ageSeconds: number } | null,
  staleThresholdSeconds: number,
): HealthStatus {
  if (beat === null) return 'unknown';
  return beat.ageSeconds > staleThresholdSeconds ? 'stale' : beat.status;
}
