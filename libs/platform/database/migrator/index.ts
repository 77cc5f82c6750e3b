import type pg from 'pg';
import { takeLock, withClient } from './connection.js';
import { planMigration, refusal } from './decide.js';
import { MigrationError } from './errors.js';
import { type MigrationFile, readMigrations } from './files.js';
import { applyMigration, createHistory, firstMigrationId, readHistory } from './history.js';
import { allowSignIn } from './roles.js';
import { requireStoppedServers } from './running-servers.js';

export { MigrationError } from './errors.js';

export interface MigrateOptions {
  /** Signs in as the owner of the tables. */
  ownerUrl: string;
  /** Sign in as drover_app and drover_service; their passwords are set to these. */
  appUrl?: string;
  serviceUrl?: string;
  /** Default: prisma/migrations of this build. */
  migrationsDir?: string;
  /** How long to wait for another migration of this database, in ms. Default 60 s. */
  lockWaitMs?: number;
  /** Migrates although servers are connected that cannot work with a pending migration. */
  force?: boolean;
  /** Told of each migration when it begins. */
  log?: (line: string) => void;
}

export interface MigrationStatus {
  /** Migrations that the database has, oldest first. */
  applied: string[];
  /** Migrations of this build that it lacks, in the order in which they would be applied. */
  pending: string[];
  /** Why this build can't migrate it, in one sentence that says what to do; null when it can. */
  refusal: string | null;
}

/**
 * Brings a database up to this build: one transaction for each migration, one migrator at a time.
 *
 * @returns the names of the migrations that were applied
 * @throws MigrationError, or the driver's error when the database can't be reached
 */
export async function migrate(options: MigrateOptions): Promise<string[]> {
  const files = readMigrations(options.migrationsDir);
  return withClient(options.ownerUrl, async (client) => {
    await takeLock(client, options.lockWaitMs ?? 60_000);
    const applied = await applyPending(client, files, options);
    if (options.appUrl) await allowSignIn(client, options.appUrl, 'drover_app');
    if (options.serviceUrl) await allowSignIn(client, options.serviceUrl, 'drover_service');
    return applied;
  });
}

/** Returns the state of a database and changes nothing. */
export async function migrationStatus(
  url: string,
  migrationsDir?: string,
): Promise<MigrationStatus> {
  const files = readMigrations(migrationsDir);
  const rows = await withClient(url, readHistory);
  const plan = planMigration(files, rows);
  return {
    applied: rows.filter((row) => row.finished_at && !row.rolled_back_at).map(nameOf),
    pending: plan.kind === 'apply' ? plan.pending.map((file) => file.name) : [],
    refusal: refusal(plan),
  };
}

/** Whether a database is as this build needs it; a sentence about what is wrong otherwise. */
export async function checkMigrated(url: string, migrationsDir?: string): Promise<string | null> {
  const { pending, refusal: problem } = await migrationStatus(url, migrationsDir);
  return pending.length > 0
    ? `The database lacks ${pending.join(', ')}: run the server once with --migrate-only.`
    : problem;
}

/**
 * The id of an installation: that of its first migration. Backups and copies of the database have it, too.
 *
 * @throws the driver's error
 */
export function installationId(url: string): Promise<string> {
  return withClient(url, firstMigrationId);
}

async function applyPending(
  client: pg.Client,
  files: MigrationFile[],
  { force = false, log = () => undefined }: MigrateOptions,
): Promise<string[]> {
  const plan = planMigration(files, await readHistory(client));
  if (plan.kind !== 'apply') throw new MigrationError(refusal(plan) ?? plan.kind);
  if (!force) await requireStoppedServers(client, plan.pending);
  await createHistory(client);
  if (plan.pending.length > 0) log(announce(plan.pending.map((file) => file.name)));
  for (const file of plan.pending) await applyMigration(client, file);
  return plan.pending.map((file) => file.name);
}

/** One line, because a new database gets more than a hundred migrations. */
function announce(names: readonly string[]): string {
  if (names.length === 1) return `applying the migration ${names[0]}`;
  return `applying ${names.length} migrations, from ${names[0]} to ${names.at(-1)}`;
}

function nameOf(row: { migration_name: string }): string {
  return row.migration_name;
}
