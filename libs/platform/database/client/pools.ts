import pg from 'pg';
import type { Breaker } from './breaker.js';
import { PREAMBLES } from './tenant-query.js';

export interface PoolOptions {
  url: string;
  /** Connections at most. */
  max: number;
  applicationName: string;
  /** Milliseconds until a connection must stand; also the longest wait for a free one. */
  connectionTimeoutMs?: number;
  /** Milliseconds the server gives one statement. */
  statementTimeoutMs?: number;
  /**
   * PgBouncer stands between, which refuses limits at the start of a connection: they are the
   * role's defaults.
   */
  pooled?: boolean;
  /** Limits of this role's sessions beside SESSION_LIMITS. */
  limits?: SessionLimits;
  /** Watches the pool and breaks its connections when Postgres becomes silent. */
  breaker?: Breaker;
  onError?: (error: Error) => void;
}

export type SessionLimits = Record<string, string>;

/**
 * Limits of the sessions of requests. A request that waits for a lock, for instance of a table that
 * an operator has locked, gets its answer after 2 s and leaves its connection to others.
 */
export const REQUEST_LIMITS = { lock_timeout: '2s' };

/**
 * Settings of each session besides the statement timeout. An open transaction that writes holds
 * back all later events. Prisma's adapter takes every time for UTC.
 */
export const SESSION_LIMITS = {
  idle_in_transaction_session_timeout: '60s',
  transaction_timeout: '60s',
  TimeZone: 'UTC',
};

/**
 * A connection signs in, and plans every large statement at its first use: tens of milliseconds,
 * which a burst after a few quiet seconds must not pay.
 */
const IDLE_MS = 600_000;

// BIGINT comes as text, so that no number past 2^53 is ever rounded.
const types = new pg.TypeOverrides();

/**
 * A pool in which nothing can hang forever: connecting, waiting for a connection, a statement on
 * the server and an answer that never comes all have their limit.
 */
export function createPool(options: PoolOptions): pg.Pool {
  const { breaker } = options;
  const config = {
    ...connectionOf(options),
    max: options.max,
    idleTimeoutMillis: IDLE_MS,
    // Every new connection knows the statements that name the tenant before its first use.
    onConnect: async (client: pg.ClientBase) => {
      for (const preamble of PREAMBLES) await client.query({ ...preamble, values: [''] });
    },
  } as pg.PoolConfig;
  const pool = breaker ? new GuardedPool(config, breaker) : new pg.Pool(config);
  // An idle connection that breaks is dropped by the pool; without a listener it ends the process.
  pool.on('error', (error) => breaker?.silent || options.onError?.(error));
  // The pool does not listen to a client in use. Its statement fails and reports the error already.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

/** A pool whose callers wait for a connection only as long as Postgres answers. */
class GuardedPool extends pg.Pool {
  constructor(
    config: pg.PoolConfig,
    private readonly breaker: Breaker,
  ) {
    super({ ...config, Client: breaker.Client });
    breaker.watch(this);
  }

  override connect(): Promise<pg.PoolClient>;
  override connect(callback: Parameters<pg.Pool['connect']>[0]): void;
  override connect(callback?: Parameters<pg.Pool['connect']>[0]): Promise<pg.PoolClient> | void {
    if (callback) return super.connect(callback);
    return this.breaker.connect(() => super.connect());
  }
}

type ConnectionOptions = Omit<PoolOptions, 'max' | 'breaker' | 'onError'>;

/** The driver's configuration of one connection. */
export function connectionOf(options: ConnectionOptions): pg.ClientConfig {
  const statementTimeout = options.statementTimeoutMs ?? 30_000;
  const limits = { ...options.limits, statement_timeout: `${statementTimeout}ms` };
  return {
    connectionString: options.url,
    application_name: options.applicationName,
    connectionTimeoutMillis: options.connectionTimeoutMs ?? 5_000,
    // The server's limit should strike first: it leaves the connection usable.
    query_timeout: statementTimeout + 5_000,
    ...(options.pooled === true ? {} : { options: startOptions(limits) }),
    keepAlive: true,
    types,
  };
}

function startOptions(own: SessionLimits): string {
  const limits = { ...SESSION_LIMITS, ...own };
  return Object.entries(limits)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ');
}
