import type { Config } from '#lib/config';
import {
  checkMigrated,
  Database,
  migrate,
  PoolerError,
  poolerOf,
  REQUEST_LIMITS,
  setRoleLimits,
} from '#lib/database';
import { masterKeysOfFactors } from '#lib/identity';
import type { Logger } from '#lib/observability';
import { KeyRing } from '#lib/secrets';
import { databaseOptions } from './connections.js';
import { probe } from './probe.sql.js';
import { StartupError } from './startup-error.js';

export interface PrepareOptions {
  logger: Logger;
  /** Migrate even if the configuration does not say so. */
  migrate: boolean;
  /** Migrate although servers are connected that cannot work with a pending migration. */
  force?: boolean;
}

const NOBODY = '00000000-0000-0000-0000-000000000000';

/**
 * Leaves a database that this build can use and both roles can sign in to.
 *
 * @returns the names of the applied migrations
 * @throws StartupError, or the driver's error
 */
export async function prepareDatabase(config: Config, options: PrepareOptions): Promise<string[]> {
  const { logger } = options;
  const wanted = options.migrate || config.database.migrateAtStart;
  const applied = wanted
    ? await runMigrations(config, options.force)
    : await requireMigrated(config);
  if (applied.length > 0) logger.info('database migrated', { applied });
  await askForPooler(config, logger);
  await signInAsBoth(config, logger);
  return applied;
}

/** Runs before the first connection with limits, which a pooler would refuse. */
async function askForPooler({ database }: Config, logger: Logger): Promise<void> {
  const { appUrl, serviceUrl, statementTimeoutMs } = database;
  const limits = { statement_timeout: `${statementTimeoutMs}ms` };
  const roles = [
    { name: 'DATABASE_URL', url: appUrl, limits: { ...REQUEST_LIMITS, ...limits } },
    { name: 'DATABASE_SERVICE_URL', url: serviceUrl, limits },
  ];
  for (const role of roles) {
    if ((await poolerAt(role.name, role.url)) === 'none') continue;
    database.pooled = true;
    await setRoleLimits(role.url, role.limits);
  }
  if (database.pooled) logger.info('the database is reached through PgBouncer');
}

async function poolerAt(name: string, url: string): Promise<'none' | 'pgbouncer'> {
  try {
    return await poolerOf(url);
  } catch (error) {
    if (error instanceof PoolerError) throw new StartupError(`At ${name} ${error.message}.`);
    throw error;
  }
}

async function runMigrations({ database }: Config, force?: boolean): Promise<string[]> {
  const { ownerUrl, appUrl, serviceUrl } = database;
  if (ownerUrl === undefined) {
    throw new StartupError(
      'DATABASE_OWNER_URL is not set: migrations need a URL of the owner of the tables.',
    );
  }
  if ((await poolerAt('DATABASE_OWNER_URL', ownerUrl)) !== 'none') {
    throw new StartupError(
      'DATABASE_OWNER_URL leads to a pooler: migrations need Postgres itself, because they lock ' +
        'the database for a session.',
    );
  }
  try {
    return await migrate({ ownerUrl, appUrl, serviceUrl, force });
  } catch (error) {
    // The driver's errors have a code and their own texts. The migrator's are sentences.
    if (!(error instanceof Error) || 'code' in error) throw error;
    throw new StartupError(error.message, { cause: error });
  }
}

async function requireMigrated({ database }: Config): Promise<string[]> {
  const problem = await checkMigrated(database.serviceUrl);
  if (problem !== null) throw new StartupError(problem);
  return [];
}

async function signInAsBoth(config: Config, logger: Logger): Promise<void> {
  const database = new Database(databaseOptions(config, logger));
  try {
    await Promise.all([database.tenant(NOBODY).rows(probe), database.service.rows(probe)]);
    await requireMasterKeys(config, database);
  } finally {
    await database.close();
  }
}

/** Otherwise a forgotten variable would fail every task with secrets. */
async function requireMasterKeys(config: Config, database: Database): Promise<void> {
  const { masterKeys, lostMasterKeys } = config.encryption;
  const known = new Set([...masterKeys.map(({ id }) => id), ...lostMasterKeys]);
  const ofFactors = await database.service.rows(masterKeysOfFactors);
  const missing = new Set(await new KeyRing(database, config).missingMasterKeys());
  for (const { id } of ofFactors) if (!known.has(id)) missing.add(id);
  if (missing.size === 0) return;
  const ids = [...missing].join(', ');
  throw new StartupError(
    `Secrets in the database need the master key ${ids}, which ENCRYPTION_KEYS lacks or has with ` +
      'other bytes: add it after the current one. If it is lost, name it in ' +
      'ENCRYPTION_LOST_KEYS. Tasks with those secrets then fail when they are claimed, and users with ' +
      'those second factors need a recovery code or a reset.',
  );
}
