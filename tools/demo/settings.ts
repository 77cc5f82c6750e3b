/**
 * How the demo's workers send heartbeats. The shipped ones send one every 10 s and are taken for dead after
 * 45; a demo that waits for that would be over before it was interesting.
 */
export const HEARTBEAT_SECONDS = 1;
export const STALE_SECONDS = 4;
export const SHIPPED = { heartbeatSeconds: 10, staleSeconds: 45 };

/** Between a failure and its retry, at most; shipped: 300. */
export const RETRY_BACKOFF_SECONDS = 1;

export interface WorkerPlan {
  name: string;
  capabilities: string[];
  concurrency: number;
}

/** Two workers can hash: one is killed while hashing, and the other takes over. */
export const WORKERS: readonly WorkerPlan[] = [
  { name: 'ada', capabilities: ['read', 'hash'], concurrency: 2 },
  { name: 'bob', capabilities: ['read', 'hash'], concurrency: 2 },
  { name: 'cyd', capabilities: ['read', 'compile', 'archive'], concurrency: 2 },
];

/** The task whose worker is killed. */
export const VICTIM = 'hash';
/** Kill when the server has a checkpoint, and this much of it is done. */
export const KILL_AT_PERCENT = 30;

/** What work with a model uses here: a little more than the estimate of a task of which nothing is known, 8,970. */
export const ASKED_MODEL = 'claude-sonnet-4';
export const USED_TOKENS = 9_500;
/** A budget for two tasks, and for three. */
export const ALLOCATED_TOKENS = 20_000;
export const RAISED_TOKENS = 30_000;

/** The demo gives up when the job is not done by then. */
export const PATIENCE_MS = 240_000;
