import type pg from 'pg';
import { MigrationError } from './errors.js';
import { APPLICATION_NAME } from './connection.js';
import type { MigrationFile } from './files.js';

/**
 * Refuses migrations that servers which run now cannot live with. Every connected server is older
 * than a pending migration, because a server starts only when all of its migrations are applied.
 *
 * @throws MigrationError if there is such a migration and servers are connected
 */
export async function requireStoppedServers(
  client: pg.Client,
  pending: readonly MigrationFile[],
): Promise<void> {
  const [first] = pending.filter(({ stopsServers }) => stopsServers !== undefined);
  if (first === undefined) return;
  const sessions = await countSessions(client);
  if (sessions === 0) return;
  throw new MigrationError(
    `The migration ${first.name} stops older servers, because ${first.stopsServers}, and ` +
      `${sessions} ${sessions === 1 ? 'session of a server is' : 'sessions of servers are'} ` +
      'connected: stop all servers, then migrate again, or add --force if these are no servers.',
  );
}

/** Every role sees the user, the database and the name of each session. */
async function countSessions(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ sessions: number }>(
    `SELECT count(*)::int AS sessions FROM pg_stat_activity
      WHERE datname = current_database() AND usename IN ('drover_app', 'drover_service')
        AND application_name <> $1`,
    [APPLICATION_NAME],
  );
  return rows[0]?.sessions ?? 0;
}
