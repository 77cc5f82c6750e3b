import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { type AppliedMigration, planMigration, refusal } from './decide.js';
import { type MigrationFile, readMigrations } from './files.js';
import { allowSignIn } from './roles.js';

export interface MigrateOptions {
  /** Signs in as the owner of the tables. */
  ownerUrl: string;
  /** Sign in as drover_app and drover_service; their passwords are set to these. */
  appUrl?: string;
  serviceUrl?: string;
  migrationsDir?: string;
  /** How long to wait for another migration of this database, in ms. */
  lockWaitMs?: number;
}

/** A migration that was refused or has failed, in one sentence that says what to do. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError';
}

// Any number, the same for every version of Drover: it stands for "migrating this database".
const ADVISORY_LOCK = 72_707_369;

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

/**
 * Brings a database up to this build: one transaction for each migration, one migrator at a time.
 *
 * @returns the names of the migrations that were applied
 * @throws MigrationError
 */
export async function migrate(options: MigrateOptions): Promise<string[]> {
  const client = new pg.Client({
    connectionString: options.ownerUrl,
    application_name: 'drover-migrate',
    connectionTimeoutMillis: 10_000,
  });
  await client.connect();
  try {
    await takeLock(client, options.lockWaitMs ?? 60_000);
    const applied = await applyPending(client, readMigrations(options.migrationsDir));
    if (options.appUrl) await allowSignIn(client, options.appUrl, 'drover_app');
    if (options.serviceUrl) await allowSignIn(client, options.serviceUrl, 'drover_service');
    return applied;
  } finally {
    await client.end();
  }
}

/** Whether a database is as this build needs it; a sentence about what is wrong otherwise. */
export async function checkMigrated(url: string, migrationsDir?: string): Promise<string | null> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  await client.connect();
  try {
    const { rows } = await client.query<{ there: boolean }>(
      `SELECT to_regclass('_prisma_migrations') IS NOT NULL AS there`,
    );
    const applied = rows[0]?.there ? await readApplied(client) : [];
    const plan = planMigration(readMigrations(migrationsDir), applied);
    const pending = plan.kind === 'apply' && plan.pending.length > 0;
    return pending
      ? 'The database has not been migrated: run the server once with --migrate-only.'
      : refusal(plan);
  } finally {
    await client.end();
  }
}

async function takeLock(client: pg.Client, waitMs: number): Promise<void> {
  await client.query(`SET lock_timeout = ${Math.ceil(waitMs)}`);
  try {
    await client.query('SELECT pg_advisory_lock($1)', [ADVISORY_LOCK]);
  } catch (error) {
    throw new MigrationError(
      `Another migration of this database has been under way for ${Math.round(waitMs / 1000)} s: wait for it to end, or end it, then try again.`,
      { cause: error },
    );
  }
  await client.query('SET lock_timeout = 0');
}

async function applyPending(client: pg.Client, files: MigrationFile[]): Promise<string[]> {
  await client.query(CREATE_TABLE);
  const plan = planMigration(files, await readApplied(client));
  if (plan.kind !== 'apply') throw new MigrationError(refusal(plan) ?? plan.kind);
  for (const file of plan.pending) await applyOne(client, file);
  return plan.pending.map((file) => file.name);
}

async function readApplied(client: pg.Client): Promise<AppliedMigration[]> {
  const { rows } = await client.query<AppliedMigration>(
    `SELECT migration_name, checksum, finished_at, rolled_back_at FROM _prisma_migrations ORDER BY started_at`,
  );
  return rows;
}

async function applyOne(client: pg.Client, file: MigrationFile): Promise<void> {
  try {
    await client.query('BEGIN');
    await client.query(
      `INSERT INTO _prisma_migrations (id, checksum, migration_name) VALUES ($1, $2, $3)`,
      [randomUUID(), file.checksum, file.name],
    );
    await client.query(file.sql);
    await client.query(
      `UPDATE _prisma_migrations SET finished_at = clock_timestamp(), applied_steps_count = 1
       WHERE migration_name = $1 AND rolled_back_at IS NULL`,
      [file.name],
    );
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    const why = error instanceof Error ? error.message : String(error);
    throw new MigrationError(`The migration ${file.name} failed and was undone: ${why}`, {
      cause: error,
    });
  }
}
