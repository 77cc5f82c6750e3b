/**
 * The states of a run and the legal transitions. Every live state can end in FAILED or RELEASED,
 * because a task can be cancelled and an agent can die at any moment. A run ends when it submits a
 * change: the change has the states of its review.
 */
export const RUN_EDGES = {
  ASSIGNED: ['WORKING', 'COMPLETED', 'FAILED', 'RELEASED'],
  WORKING: ['COMPLETED', 'STALE', 'FAILED', 'RELEASED'],
  STALE: ['WORKING', 'COMPLETED', 'FAILED', 'RELEASED'],
  COMPLETED: [],
  FAILED: [],
  RELEASED: [],
} as const satisfies Record<string, readonly string[]>;

export type RunState = keyof typeof RUN_EDGES;

export const RUN_STATES = Object.keys(RUN_EDGES) as RunState[];

export const LIVE_RUN_STATES = RUN_STATES.filter((state) => RUN_EDGES[state].length > 0);
