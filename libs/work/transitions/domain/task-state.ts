/** The states of a task and the legal transitions: the only such table. */
export const TASK_EDGES = {
  PENDING: ['ASSIGNED', 'PAUSED', 'FAILED', 'ABORTED'],
  ASSIGNED: ['RUNNING', 'PENDING', 'PAUSED', 'COMPLETED', 'ABORTED'],
  RUNNING: ['PAUSED', 'COMPLETED', 'FAILED', 'ABORTED'],
  PAUSED: ['PENDING', 'RUNNING', 'COMPLETED', 'FAILED', 'ABORTED'],
  // To itself: cancelled while it waited for its retry.
  ABORTED: ['PENDING', 'ABORTED', 'FAILED', 'ARCHIVED'],
  FAILED: ['PENDING', 'ARCHIVED'],
  COMPLETED: ['ARCHIVED'],
  ARCHIVED: [],
} as const satisfies Record<string, readonly string[]>;

export type TaskStatus = keyof typeof TASK_EDGES;

export const TASK_STATUSES = Object.keys(TASK_EDGES) as TaskStatus[];

/** The phases of statuses, for code that need not distinguish all of them. */
export const TASK_PHASES = {
  PENDING: 'queued',
  ASSIGNED: 'leased',
  RUNNING: 'leased',
  PAUSED: 'paused',
  // Can be retried: by itself if it is ABORTED with a time, or by hand.
  ABORTED: 'unsuccessful',
  FAILED: 'unsuccessful',
  COMPLETED: 'closed',
  ARCHIVED: 'closed',
} as const satisfies Record<TaskStatus, string>;

/**
 * The cause of a pause: a request of a person or key, a question of its run, the proof, review and
 * merge of its change, or the coordinator.
 */
export const PAUSED_FOR = ['request', 'question', 'review', 'budget', 'provider'] as const;

export type PausedFor = (typeof PAUSED_FOR)[number];

export type TaskPhase = (typeof TASK_PHASES)[TaskStatus];

export function legalTaskTransitions(from: TaskStatus): readonly TaskStatus[] {
  return TASK_EDGES[from];
}

export function mayTransition(from: TaskStatus, to: TaskStatus): boolean {
  return legalTaskTransitions(from).includes(to);
}

/**
 * Every reason for an abort. `cancelled`, `queue_expired` and `budget_exceeded` are never retried.
 */
export const ABORT_REASONS = [
  'cancelled',
  'dependency_cancelled',
  'queue_expired',
  'agent_stale',
  'agent_terminated',
  'lease_expired',
  'timeout',
  'oom',
  'disk',
  'exit_code',
  'signal',
  'infrastructure',
  'setup',
  'stuck',
  'acceptance_failed',
  'refused',
  'denied',
  'context_full',
  'turn_limit',
  'crash',
  'unknown',
  'released',
  'spawn_failed',
  'gateway_restart',
  'budget_exceeded',
  'secrets_unreadable',
] as const;

export type AbortReason = (typeof ABORT_REASONS)[number];
