/**
 * The states of an agent and the legal transitions: the only such table. A state says what an agent
 * has done or was told. Whether an ACTIVE agent is IDLE or WORKING follows from its live runs.
 */
export const AGENT_EDGES = {
  STARTING: ['ACTIVE', 'DRAINING', 'ERROR', 'TERMINATED'],
  ACTIVE: ['DRAINING', 'ERROR', 'TERMINATED'],
  // Never back to ACTIVE, because a draining agent leaves.
  DRAINING: ['ERROR', 'TERMINATED'],
  // It sends heartbeats again and returns to its earlier state.
  ERROR: ['ACTIVE', 'DRAINING', 'TERMINATED'],
  TERMINATED: [],
} as const satisfies Record<string, readonly string[]>;

export type AgentLifecycle = keyof typeof AGENT_EDGES;

export const AGENT_LIFECYCLES = Object.keys(AGENT_EDGES) as AgentLifecycle[];

/** The status in the API: ACTIVE is IDLE or WORKING. */
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
