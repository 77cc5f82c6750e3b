/** An agent of which nothing was heard for longer than its threshold. */
export interface UnresponsiveAgent {
  thresholdMs: number;
}

export interface Fleet {
  /** Agents that are expected to send heartbeats, the unresponsive ones included. */
  size: number;
  /** Milliseconds since anybody's latest heartbeat; null when there was none yet. */
  lastHeardMs: number | null;
}

export interface Observation {
  /** For how long heartbeats could have been heard without a blind window, as far as this process knows. */
  observedMs: number;
  /** For how long a mass failure has been suspected, by the evaluations before; 0 at first. */
  suspectedMs: number;
}

export type Spared = 'listening_too_short' | 'whole_fleet_silent';

export interface Staleness<Agent> {
  /** Taken for dead. */
  lost: Agent[];
  /** Unresponsive, but it may be this process that is blind. */
  spared: Agent[];
  why: Spared | null;
  /** Whether a mass failure is suspected, now or still. */
  massFailure: boolean;
}

/** Fewer agents than this fail together by themselves: one machine that is switched off. */
const CROWD = 3;

/**
 * Which of the unresponsive agents are dead?
 *
 * 1. An agent is taken for dead only by a process that could have heard it for one whole threshold: not
 *    by a server that has just started, was stopped, or had no database to hear with.
 * 2. Three agents or more, and more than half of the fleet, at once, while nobody at all was heard for
 *    as long as the shortest of their thresholds: the API may be what is cut off. They get the longest
 *    of their thresholds once more. If a single other agent is heard, the API works, and they are dead.
 */
export function evaluateStaleness<Agent extends UnresponsiveAgent>(
  unresponsive: readonly Agent[],
  fleet: Fleet,
  { observedMs, suspectedMs }: Observation,
): Staleness<Agent> {
  const massFailure = isMassFailure(unresponsive, fleet);
  const longest = Math.max(0, ...unresponsive.map((agent) => agent.thresholdMs));
  if (massFailure && suspectedMs < longest) {
    return { lost: [], spared: [...unresponsive], why: 'whole_fleet_silent', massFailure };
  }
  const lost = unresponsive.filter((agent) => agent.thresholdMs <= observedMs);
  const spared = unresponsive.filter((agent) => agent.thresholdMs > observedMs);
  return { lost, spared, why: spared.length > 0 ? 'listening_too_short' : null, massFailure };
}

function isMassFailure(unresponsive: readonly UnresponsiveAgent[], fleet: Fleet): boolean {
  if (unresponsive.length < CROWD || unresponsive.length * 2 <= fleet.size) return false;
  const shortest = Math.min(...unresponsive.map((agent) => agent.thresholdMs));
  return fleet.lastHeardMs === null || fleet.lastHeardMs >= shortest;
}
