/** An agent that has been silent for longer than its threshold. */
export interface SilentAgent {
  thresholdMs: number;
}

export interface Fleet {
  /** Agents that are expected to beat, the silent ones included. */
  size: number;
  /** Milliseconds since anybody's latest beat; null when nobody has ever beaten. */
  lastHeardMs: number | null;
}

export interface Listener {
  /** For how long beats could have been heard without interruption, as far as this process knows. */
  listeningMs: number;
  /** For how long the whole fleet has been suspiciously silent, by the verdicts before; 0 at first. */
  suspiciousMs: number;
}

export type Spared = 'listening_too_short' | 'whole_fleet_silent';

export interface Verdict<Agent> {
  /** Taken for dead. */
  lost: Agent[];
  /** Silent, but it may be us who is deaf. */
  spared: Agent[];
  why: Spared | null;
  /** Whether the silence of the whole fleet goes on being suspicious. */
  suspicious: boolean;
}

/** Fewer agents than this fall silent together by themselves: one machine that is switched off. */
const CROWD = 3;

/**
 * Who of the silent agents is dead?
 *
 * 1. An agent is taken for dead only by somebody who could have heard it for one whole threshold: not
 *    by a server that has just started, was stopped, or had no database to hear with.
 * 2. Three agents or more, and more than half of the fleet, at once, while nobody at all was heard for
 *    as long as the shortest of their thresholds: the API may be what is cut off. They get the longest
 *    of their thresholds once more. If a single other agent is heard, the API works, and they are dead.
 */
export function judgeSilence<Agent extends SilentAgent>(
  silent: readonly Agent[],
  fleet: Fleet,
  listener: Listener,
): Verdict<Agent> {
  const suspicious = isWholeFleetSilent(silent, fleet);
  const longest = Math.max(0, ...silent.map((agent) => agent.thresholdMs));
  if (suspicious && listener.suspiciousMs < longest) {
    return { lost: [], spared: [...silent], why: 'whole_fleet_silent', suspicious };
  }
  const lost = silent.filter((agent) => agent.thresholdMs <= listener.listeningMs);
  const spared = silent.filter((agent) => agent.thresholdMs > listener.listeningMs);
  return { lost, spared, why: spared.length > 0 ? 'listening_too_short' : null, suspicious };
}

function isWholeFleetSilent(silent: readonly SilentAgent[], fleet: Fleet): boolean {
  if (silent.length < CROWD || silent.length * 2 <= fleet.size) return false;
  const shortest = Math.min(...silent.map((agent) => agent.thresholdMs));
  return fleet.lastHeardMs === null || fleet.lastHeardMs >= shortest;
}
