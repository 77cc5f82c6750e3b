import type { BeatTiming } from './timing.js';
import type { AgentStatus } from '#lib/transitions';

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

/** @param beat what the latest beat said of itself, and whether it is missed by now; null: there was none */
export function healthStatus(
  beat: { status: BeatStatus | 'stale'; isSilent: boolean } | null,
): HealthStatus {
  if (beat === null) return 'unknown';
  return beat.isSilent ? 'stale' : beat.status;
}
