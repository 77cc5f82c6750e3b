/** An agent without a sign of life for longer than its threshold. */
export interface UnresponsiveAgent {
  thresholdMs: number;
}

export interface Fleet {
  /** Number of agents that must send heartbeats, the unresponsive ones included. */
  size: number;
  /** Milliseconds since the latest heartbeat of any agent; null: there was none yet. */
  lastHeardMs: number | null;
}

export interface Observation {
  /** Milliseconds for which this process could have received heartbeats without a blind window. */
  observedMs: number;
  /** Milliseconds for which earlier evaluations have suspected a mass failure; 0 at first. */
  suspectedMs: number;
}

export type Spared = 'listening_too_short' | 'whole_fleet_silent';

export interface Staleness<Agent> {
  /** Agents that count as dead. */
  lost: Agent[];
  /** Agents that are unresponsive while this process may be unable to hear them. */
  spared: Agent[];
  why: Spared | null;
  /** True if a mass failure is suspected, newly or still. */
  massFailure: boolean;
}

/** Fewer agents than this can fail together by chance: one machine that is switched off. */
const CROWD = 3;

/**
 * Decides which of the unresponsive agents are dead.
 *
 * 1. Only a process that could have heard an agent for one whole threshold can take it for dead. A
 *   server that has just started, was stopped, or had no database to receive heartbeats cannot.
 * 2. A mass failure is suspected if at least three agents, and more than half of the fleet, are
 *   unresponsive, while no agent was heard for the shortest of their thresholds. Then the API
 *   itself may be cut off, so these agents get the longest of their thresholds once more. If any
 *   other agent is heard, the API works, and they are dead.
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
