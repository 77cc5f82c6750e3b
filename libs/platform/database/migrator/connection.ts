import pg from 'pg';
import { MigrationError } from './errors.js';

// Prisma's own number, so that Drover's migrations and `prisma migrate deploy` wait for each other.
// It applies inside one database.
const ADVISORY_LOCK = 72_707_369;
/** The name of all sessions of the migrator, and of servers that look whether to start. */
export const APPLICATION_NAME = 'drover-migrate';
const LOCK_NOT_AVAILABLE = '55P03';

/** Runs `work` on a connection of its own and closes the connection in any case. */
export async function withClient<T>(
  url: string,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({
    connectionString: url,
    application_name: APPLICATION_NAME,
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
  });
  // A connection that is lost while idle emits an event. The next statement on it fails.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end();
  }
}

/**
 * Makes this connection the only one that migrates its database, until it is closed.
 *
 * @throws MigrationError after `waitMs`
 */
export async function takeLock(client: pg.Client, waitMs: number): Promise<void> {
  // The role or the server may limit statements. Waiting here, and migrating, can take longer.
  await client.query(`SET statement_timeout = 0; SET lock_timeout = ${Math.ceil(waitMs)}`);
  try {
    await client.query('SELECT pg_advisory_lock($1)', [ADVISORY_LOCK]);
  } catch (error) {
    if ((error as { code?: string }).code !== LOCK_NOT_AVAILABLE) throw error;
    throw new MigrationError(
      `Another migration of this database has been running for ${waitMs / 1000} s: wait for its ` +
        'end, or end it, then try again.',
      { cause: error },
    );
  }
  await client.query('SET lock_timeout = 0');
}
