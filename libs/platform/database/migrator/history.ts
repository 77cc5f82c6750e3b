import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { withRetry } from '../client/transaction.js';
import type { AppliedMigration } from './decide.js';
import { MigrationError } from './errors.js';
import type { MigrationFile } from './files.js';

// As Prisma creates it, so that `prisma migrate deploy` works on the same database.
const CREATE_TABLE = `
CREATE TABLE IF NOT EXISTS _prisma_migrations (
  id                  varchar(36) PRIMARY KEY NOT NULL,
  checksum            varchar(64) NOT NULL,
  finished_at         timestamptz,
  migration_name      varchar(255) NOT NULL,
  logs                text,
  rolled_back_at      timestamptz,
  started_at          timestamptz NOT NULL DEFAULT now(),
  applied_steps_count integer NOT NULL DEFAULT 0
)`;

export async function createHistory(client: pg.Client): Promise<void> {
  await client.query(CREATE_TABLE);
}

/** The rows of `_prisma_migrations`, oldest first; none where there is no such table. */
export async function readHistory(client: pg.Client): Promise<AppliedMigration[]> {
  const table = await client.query<{ there: boolean }>(
    `SELECT to_regclass('_prisma_migrations') IS NOT NULL AS there`,
  );
  if (!table.rows[0]?.there) return [];
  const { rows } = await client.query<AppliedMigration>(
    `SELECT migration_name, checksum, finished_at, rolled_back_at FROM _prisma_migrations ORDER BY started_at`,
  );
  return rows;
}

/** The random id of the first migration. */
export async function firstMigrationId(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ id: string }>(
    `SELECT id FROM _prisma_migrations WHERE finished_at IS NOT NULL ORDER BY started_at, id LIMIT 1`,
  );
  const [first] = rows;
  if (first === undefined) throw new Error('The database has no migration.');
  return first.id;
}

/**
 * Applies a migration and writes its row, both or neither. A migration that a deadlock with a server
 * has undone is repeated.
 *
 * @throws MigrationError with what the server said, after everything was undone
 */
export async function applyMigration(client: pg.Client, file: MigrationFile): Promise<void> {
  try {
    await withRetry(() => attempt(client, file));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new MigrationError(
      `The migration ${file.name} failed and was undone (${why}): remove the cause, then start ` +
        'again.',
      { cause: error },
    );
  }
}

async function attempt(client: pg.Client, file: MigrationFile): Promise<void> {
  const id = randomUUID();
  try {
    await client.query('BEGIN');
    await client.query(
      'INSERT INTO _prisma_migrations (id, checksum, migration_name) VALUES ($1, $2, $3)',
      [id, file.checksum, file.name],
    );
    await client.query(file.sql);
    await client.query(
      'UPDATE _prisma_migrations SET finished_at = clock_timestamp(), applied_steps_count = 1 WHERE id = $1',
      [id],
    );
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}
