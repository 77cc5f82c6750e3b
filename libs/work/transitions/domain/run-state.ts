/**
 * The states of a run and the legal transitions. Every live state can end in FAILED or RELEASED,
 * because a task can be cancelled and an agent can die at any moment.
 */
export const RUN_EDGES = {
  ASSIGNED: ['WORKING', 'COMPLETED', 'FAILED', 'RELEASED'],
  WORKING: ['IN_REVIEW', 'COMPLETED', 'STALE', 'FAILED', 'RELEASED'],
  IN_REVIEW: ['APPROVED', 'WORKING', 'STALE', 'FAILED', 'RELEASED'],
  APPROVED: ['COMPLETED', 'WORKING', 'FAILED', 'RELEASED'],
  STALE: ['WORKING', 'COMPLETED', 'FAILED', 'RELEASED'],
  COMPLETED: [],
  FAILED: [],
  RELEASED: [],
} as const satisfies Record<string, readonly string[]>;

export type RunState = keyof typeof RUN_EDGES;

export const RUN_STATES = Object.keys(RUN_EDGES) as RunState[];

export const LIVE_RUN_STATES = RUN_STATES.filter((state) => RUN_EDGES[state].length > 0);
