/**
 * The demo workers' heartbeat settings. Shipped workers send one every 10 s and count as dead after
 * 45 s. The demo would be finished before that.
 */
export const HEARTBEAT_SECONDS = 1;
export const STALE_SECONDS = 4;
export const SHIPPED = { heartbeatSeconds: 10, staleSeconds: 45 };

/** The maximum time between a failure and its retry; shipped: 300. */
export const RETRY_BACKOFF_SECONDS = 1;

export interface WorkerPlan {
  name: string;
  capabilities: string[];
  concurrency: number;
}

/** Two workers can hash: one is killed while hashing, and the other continues. */
export const WORKERS: readonly WorkerPlan[] = [
  { name: 'ada', capabilities: ['read', 'hash'], concurrency: 2 },
  { name: 'bob', capabilities: ['read', 'hash'], concurrency: 2 },
  { name: 'cyd', capabilities: ['read', 'compile', 'archive'], concurrency: 2 },
];

/** The task whose worker is killed. */
export const VICTIM = 'hash';
/** The kill happens when the server has a checkpoint, and this part of the work is done. */
export const KILL_AT_PERCENT = 30;

/** The tokens of a model's work here: a little more than the default estimate of a task, 8,970. */
export const ASKED_MODEL = 'claude-sonnet-4';
export const USED_TOKENS = 9_500;
/** Budgets for two tasks, and for three. */
export const ALLOCATED_TOKENS = 20_000;
export const RAISED_TOKENS = 30_000;

/** The demo fails if the job has not finished by then. */
export const PATIENCE_MS = 240_000;
