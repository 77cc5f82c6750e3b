export const DEFAULT_INTERVAL_SECONDS = 30;
export const DEFAULT_THRESHOLD_SECONDS = 180;
/** Without a threshold of its own, an agent may miss this many heartbeats. */
const HEARTBEATS_TO_MISS = 3;

export interface HeartbeatTiming {
  heartbeatIntervalSeconds: number;
  /** Seconds of silence after which the agent is taken for dead. */
  staleThresholdSeconds: number;
}

/**
 * The timing of an agent, from what its registration says and what was known before. A new agent's
 * threshold follows its interval; one that is known keeps its threshold.
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

/** The mistake in a timing, in words that follow the field's name; null when there is none. */
export function whyImpossible(timing: HeartbeatTiming): string | null {
  const { heartbeatIntervalSeconds: interval, staleThresholdSeconds: threshold } = timing;
  if (threshold > interval) return null;
  return `must be more than heartbeatIntervalSeconds (${interval}), but is ${threshold}`;
}
