import pg from 'pg';
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
  onError?: (error: Error) => void;
}

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
  const statementTimeout = options.statementTimeoutMs ?? 30_000;
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.max,
    application_name: options.applicationName,
    connectionTimeoutMillis: options.connectionTimeoutMs ?? 5_000,
    idleTimeoutMillis: IDLE_MS,
    // The server's limit should strike first: it leaves the connection usable.
    query_timeout: statementTimeout + 5_000,
    ...(options.pooled === true ? {} : { options: startOptions(statementTimeout) }),
    keepAlive: true,
    types,
    // Every new connection knows the statements that name the tenant before its first use.
    onConnect: async (client: pg.ClientBase) => {
      for (const preamble of PREAMBLES) await client.query({ ...preamble, values: [''] });
    },
  } as pg.PoolConfig);
  // An idle connection that breaks is dropped by the pool; without a listener it ends the process.
  pool.on('error', (error) => options.onError?.(error));
  // The pool does not listen to a client in use. Its statement fails and reports the error already.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

function startOptions(statementTimeoutMs: number): string {
  const limits = { ...SESSION_LIMITS, statement_timeout: `${statementTimeoutMs}ms` };
  return Object.entries(limits)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ');
}
