/**
 * The fleet of a chaos run. All waits are short, so that many kills fit into a minute. Only these
 * numbers differ from the shipped ones.
 */
export const SERVERS = 2;
export const WORKERS = 3;
export const WORKER_CONCURRENCY = 3;
export const SESSIONS = 3;
export const CLIENTS = 3;

export const HEARTBEAT_SECONDS = 1;
export const STALE_SECONDS = 4;
export const LOCK_TTL_SECONDS = 3;
/** The maximum life of a session or process after its settings. */
export const GRACE_SECONDS = 1;

/** The limit of queued and running tasks. Above it, clients only read and command. */
export const BACKLOG = 60;

/** The limit after the faults for every task to end, and every event to go out. */
export const QUIET_WITHIN_MS = 120_000;

export const SERVER_ENV = {
  COORDINATOR_CRON: '*/3 * * * * *',
  COORDINATOR_LOCK_TTL_SECONDS: String(LOCK_TTL_SECONDS),
  RECONCILE_INTERVAL_SECONDS: '5',
  HEARTBEAT_FLUSH_MS: '250',
  RETRY_BACKOFF_CAP_SECONDS: '2',
  DATABASE_STATEMENT_TIMEOUT_MS: '8000',
  CANCEL_GRACE_SECONDS: String(GRACE_SECONDS),
  SHUTDOWN_DEADLINE_SECONDS: '6',
  GATEWAY_TIMEOUT_MS: '1500',
  GATEWAY_STALE_SECONDS: String(STALE_SECONDS),
  SPAWN_DEADLINE_SECONDS: '10',
  LOG_LEVEL: 'warn',
};

/**
 * Sessions record their births outside of their folders, and are found by the marks in their
 * environment.
 */
const UNSANDBOXED = {
  DROVER_SANDBOX: 'off',
  DROVER_ACCOUNTS: 'off',
  ALLOW_UNSANDBOXED_TENANTS: 'true',
};

export const WORKER_ENV = {
  DROVER_WORKER_CONCURRENCY: String(WORKER_CONCURRENCY),
  DROVER_WORKER_HEARTBEAT_SECONDS: String(HEARTBEAT_SECONDS),
  DROVER_WORKER_STALE_SECONDS: String(STALE_SECONDS),
  DROVER_WORKER_DRAIN_SECONDS: '1',
  DROVER_WORKER_GRACE_SECONDS: String(GRACE_SECONDS),
  // The next process of a drained worker is the same agent.
  DROVER_WORKER_DEREGISTER: 'false',
  DROVER_SANDBOX: UNSANDBOXED.DROVER_SANDBOX,
  DROVER_ACCOUNTS: UNSANDBOXED.DROVER_ACCOUNTS,
};

export const GATEWAY_ENV = {
  ...UNSANDBOXED,
  GATEWAY_HEARTBEAT_SECONDS: String(HEARTBEAT_SECONDS),
  GATEWAY_GRACE_SECONDS: String(GRACE_SECONDS),
  MAX_CONCURRENT_WORKERS: String(SESSIONS),
  WORKER_CREATION_TIMEOUT: '20',
  SHUTDOWN_DEADLINE_SECONDS: '6',
  LOG_LEVEL: 'warn',
};
