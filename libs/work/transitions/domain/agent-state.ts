/**
 * The states of an agent, and the legal transitions. The only such table. It holds what an
 * agent has done or was told; whether an ACTIVE one is IDLE or WORKING follows from its live runs.
 */
export const AGENT_EDGES = {
  STARTING: ['ACTIVE', 'DRAINING', 'ERROR', 'TERMINATED'],
  ACTIVE: ['DRAINING', 'ERROR', 'TERMINATED'],
  // Never back to ACTIVE: what was told to leave leaves.
  DRAINING: ['ERROR', 'TERMINATED'],
  // It sends heartbeats again: to where it was.
  ERROR: ['ACTIVE', 'DRAINING', 'TERMINATED'],
  TERMINATED: [],
} as const satisfies Record<string, readonly string[]>;

export type AgentLifecycle = keyof typeof AGENT_EDGES;

export const AGENT_LIFECYCLES = Object.keys(AGENT_EDGES) as AgentLifecycle[];

/** The status that clients see: ACTIVE is IDLE or WORKING. */
export const AGENT_STATUSES = [
  'STARTING',
  'IDLE',
  'WORKING',
  'DRAINING',
  'ERROR',
  'TERMINATED',
] as const;

export type AgentStatus = (typeof AGENT_STATUSES)[number];

export function legalAgentTransitions(from: AgentLifecycle): readonly AgentLifecycle[] {
  return AGENT_EDGES[from];
}
