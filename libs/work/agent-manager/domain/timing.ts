export const DEFAULT_INTERVAL_SECONDS = 30;
export const DEFAULT_THRESHOLD_SECONDS = 180;
/** Missed heartbeats after which an agent without its own threshold is stale. */
const HEARTBEATS_TO_MISS = 3;

export interface HeartbeatTiming {
  heartbeatIntervalSeconds: number;
  /** Seconds without a sign of life after which the agent is declared dead. */
  staleThresholdSeconds: number;
}

/**
 * The timing of an agent from its registration and the earlier timing. A new agent's threshold
 * follows its interval. A known agent keeps its threshold.
 */
export function timingOf(
  requested: Partial<HeartbeatTiming>,
  known?: HeartbeatTiming,
): HeartbeatTiming {
  const heartbeatIntervalSeconds =
    requested.heartbeatIntervalSeconds ??
    known?.heartbeatIntervalSeconds ??
    DEFAULT_INTERVAL_SECONDS;
  const usual = Math.max(DEFAULT_THRESHOLD_SECONDS, HEARTBEATS_TO_MISS * heartbeatIntervalSeconds);
  const staleThresholdSeconds =
    requested.staleThresholdSeconds ?? known?.staleThresholdSeconds ?? usual;
  return { heartbeatIntervalSeconds, staleThresholdSeconds };
}

/** The error of a timing, to follow the field's name. Null if there is none. */
export function whyImpossible(timing: HeartbeatTiming): string | null {
  const { heartbeatIntervalSeconds: interval, staleThresholdSeconds: threshold } = timing;
  if (threshold > interval) return null;
  return `must be more than heartbeatIntervalSeconds (${interval}), but is ${threshold}`;
}
