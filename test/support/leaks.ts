import type pg from 'pg';
import { waitFor } from './wait-for.js';

/**
 * Fails in an afterEach if the code under test has left a transaction open, a statement running or
 * an advisory lock held in its database. Ending ones get a moment.
 *
 * @param withinMs their time to end
 */
export async function expectNothingLeftOpen(owner: pg.Pool, withinMs = 30_000): Promise<void> {
  let left: string[] = [];
  await waitFor(
    'the database to be left alone',
    async () => {
      left = await leftOpen(owner);
      return left.length === 0;
    },
    withinMs,
  ).catch(() => {
    throw new Error(`The database was left with:\n${left.join('\n')}`);
  });
}

async function leftOpen(owner: pg.Pool): Promise<string[]> {
  const { rows } = await owner.query<{ line: string }>(
    `SELECT format('%s: %s, last statement: %s', usename, state, query) AS line
     FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle'
       AND backend_type = 'client backend'
     UNION ALL
     SELECT format('an advisory lock (%s, %s) of process %s', classid, objid, pid)
     FROM pg_locks WHERE locktype = 'advisory'
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
  );
  return rows.map((row) => row.line);
}
