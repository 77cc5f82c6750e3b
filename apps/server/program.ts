import 'reflect-metadata';
import { type Config, loadConfig } from '#lib/config';
import { misspeltVariables, UNKNOWN_SETTINGS } from '#lib/env';
import { listen } from '#lib/http';
import { lineWriter, requireArguments } from '#lib/kernel';
import { announce, Logger } from '#lib/observability';
import { createAdministrator } from './create-administrator.js';
import { createApp } from './create-app.js';
import { requireOwnFolder } from './own-folder.js';
import { prepareDatabase } from './prepare-database.js';
import { rebuildUsage } from './rebuild-usage.js';
import { rotateKeys } from './rotate-keys.js';
import { settleMemoryWhenIdle } from './settle-memory.js';
import { shutDownOnSignals } from './shutdown.js';
import { explainStartup } from './startup-error.js';

const write = lineWriter(1);

const USAGE = `Usage: node dist/apps/server/main.js [argument]

The server of Drover. Its settings come from the environment; docs/settings.md lists them.`;

/** Commands that run instead of serving. */
const ERRANDS = {
  '--migrate-only': 'brings the database up to date (DATABASE_OWNER_URL), and ends',
  '--create-administrator':
    'makes the first user of an empty installation, and prints the password',
  '--rotate-keys': 'makes a new data key, reseals all secrets with it, and ends',
  '--rebuild-usage': 'makes the history of usage again from the reports that are kept, and ends',
} as const;
const FORCE = {
  '--force': 'with --migrate-only: migrates although older servers are connected that it stops',
} as const;
type Errands = Record<keyof typeof ERRANDS, boolean>;

async function start(config: Config, errands: Errands, force: boolean): Promise<void> {
  const base = config.instanceId === undefined ? {} : { instance: config.instanceId };
  const logger = Logger.create({ level: config.logLevel, destination: { write }, base });
  const unknown = misspeltVariables(process.env);
  if (unknown.length > 0) logger.warn(UNKNOWN_SETTINGS, { unknown });
  const migrate = errands['--migrate-only'];
  const applied = await prepareDatabase(config, { logger, migrate, force });
  if (migrate) announce(write, { ...base, message: 'migrated', applied });
  if (errands['--create-administrator']) announce(write, await createAdministrator(config, logger));
  if (errands['--rotate-keys']) announce(write, await rotateKeys(config, logger));
  if (errands['--rebuild-usage']) announce(write, await rebuildUsage(config, logger));
  if (Object.values(errands).includes(true)) return;
  await requireOwnFolder(config);
  const app = await createApp(config, logger);
  shutDownOnSignals(app, {
    deadlineSeconds: config.http.shutdownDeadlineSeconds,
    delaySeconds: config.http.shutdownDelaySeconds,
  });
  await listen(app, config.http);
  settleMemoryWhenIdle();
  const address = await app.getUrl();
  announce(write, { ...base, message: 'listening', address, roles: config.roles });
}

function readConfig(): Config {
  try {
    return loadConfig(process.env);
  } catch (error) {
    fail((error as Error).message);
  }
}

function fail(sentence: string): never {
  process.stderr.write(`${sentence}\n`);
  process.exit(1);
}

const { '--force': force, ...errands } = requireArguments(USAGE, { ...ERRANDS, ...FORCE });
if (force && !errands['--migrate-only']) fail('--force belongs to --migrate-only: add it.');
const config = readConfig();
try {
  await start(config, errands, force);
} catch (error) {
  fail(explainStartup(error, config) ?? `The server could not start: ${(error as Error).stack}`);
}
