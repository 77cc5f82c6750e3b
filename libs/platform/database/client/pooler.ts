import pg from 'pg';
import { withClient } from '../migrator/connection.js';
import { SESSION_LIMITS, type SessionLimits } from './pools.js';

/**
 * A pooler that cannot carry prepared statements over its connections; the message says what to do.
 */
export class PoolerError extends Error {}

const UNSUPPORTED =
  'there is a pooler that does not keep prepared statements: use PgBouncer 1.21 or later with ' +
  'pool_mode = transaction and max_prepared_statements above 0, or no pooler';

const PROBE = {
  name: 'drover_pooler_probe',
  text: `SELECT pg_backend_pid() AS pid, coalesce((SELECT array_agg(name) FROM pg_prepared_statements), '{}') AS names`,
};

/** How PgBouncer names the statements of its clients at the server, since it keeps them (1.21). */
const KEPT_BY_PGBOUNCER = /^PGBOUNCER_\d+$/;

/**
 * Detects a pooler between Drover and Postgres. A pooler answers with another backend than it names
 * at sign-in. A pooler that changes connections after each transaction must know prepared
 * statements.
 *
 * @throws PoolerError for every pooler but PgBouncer with `max_prepared_statements`; the driver's
 *   error
 */
export async function poolerOf(url: string): Promise<'none' | 'pgbouncer'> {
  return withClient(url, async (client) => {
    await client.query('BEGIN').catch(refuseStatementMode);
    const { rows } = await client.query<{ pid: number; names: string[] }>(PROBE);
    await client.query('COMMIT');
    const { pid, names } = rows[0] as { pid: number; names: string[] };
    if (pid === (client as unknown as { processID: number }).processID) return 'none';
    if (names.some((name) => KEPT_BY_PGBOUNCER.test(name))) return 'pgbouncer';
    throw new PoolerError(UNSUPPORTED);
  });
}

/** A pooler that gives each statement another connection allows no transaction. */
function refuseStatementMode(error: unknown): never {
  const { code } = (error ?? {}) as { code?: string };
  throw code === '08P01' ? new PoolerError(UNSUPPORTED, { cause: error }) : error;
}

/**
 * Makes the limits that a connection of ours asks for at its start the defaults of the role that it
 * signs in as, because a pooler drops them. Connections that the pooler has idle are ended: they
 * began with others, and so did this one, which goes back to the pooler.
 *
 * @param own limits of this role beside SESSION_LIMITS
 */
export async function setRoleLimits(url: string, own: SessionLimits): Promise<void> {
  const limits = { ...SESSION_LIMITS, ...own };
  await withClient(url, async (client) => {
    const wanted = Object.entries(limits).map(([name, value]) => `${name}=${value}`);
    const { rows } = await client.query(
      `SELECT FROM pg_db_role_setting s JOIN pg_roles r ON r.oid = s.setrole JOIN pg_database d ON d.oid = s.setdatabase
       WHERE r.rolname = current_user AND d.datname = current_database() AND s.setconfig @> $1`,
      [wanted],
    );
    if (rows.length > 0) return;
    const database = pg.escapeIdentifier(client.database ?? '');
    const settings = Object.entries(limits).map(
      ([name, value]) => `SET ${name} = ${pg.escapeLiteral(value)}`,
    );
    for (const setting of settings) {
      await client.query(`ALTER ROLE CURRENT_USER IN DATABASE ${database} ${setting}`);
    }
    // One transaction both ends the idle connections and sets the limits, so that the connection
    // that it keeps has the limits.
    await client.query(
      `BEGIN; SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE state = 'idle'
         AND usename = current_user AND datname = current_database() AND pid <> pg_backend_pid();
       ${settings.join('; ')}; COMMIT`,
    );
  });
}
