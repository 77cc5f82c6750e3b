import 'reflect-metadata';
import { type Config, loadConfig } from '#lib/config';
import { Logger } from '#lib/observability';
import { createAdministrator } from './create-administrator.js';
import { createApp } from './create-app.js';
import { prepareDatabase } from './prepare-database.js';
import { rotateKeys } from './rotate-keys.js';
import { shutDownOnSignals } from './shutdown.js';
import { explainStartup } from './startup-error.js';

/** Tests, the demo and scripts wait for these lines; no log level silences them. */
function announce(line: Record<string, unknown>): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

/** The command to run instead of serving. */
interface Errand {
  /** `--migrate-only` */
  migrate: boolean;
  /** `--create-administrator`: the first one of an installation without users. */
  createAdministrator: boolean;
  /** `--rotate-keys`: a new data key, and everything resealed with it. */
  rotateKeys: boolean;
}

async function start(config: Config, errand: Errand): Promise<void> {
  const logger = Logger.create({
    level: config.logLevel,
    base: config.instanceId === undefined ? {} : { instance: config.instanceId },
  });
  const applied = await prepareDatabase(config, { logger, migrate: errand.migrate });
  if (errand.migrate) announce({ message: 'migrated', applied });
  if (errand.createAdministrator) announce(await createAdministrator(config, logger));
  if (errand.rotateKeys) announce(await rotateKeys(config, logger));
  if (errand.migrate || errand.createAdministrator || errand.rotateKeys) return;
  const app = await createApp(config, logger);
  shutDownOnSignals(app, {
    deadlineSeconds: config.http.shutdownDeadlineSeconds,
    delaySeconds: config.http.shutdownDelaySeconds,
  });
  await app.listen({ host: config.http.host, port: config.http.port });
  announce({
    message: 'listening',
    address: await app.getUrl(),
    roles: config.roles,
    pid: process.pid,
  });
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

const config = readConfig();
try {
  await start(config, {
    migrate: process.argv.includes('--migrate-only'),
    createAdministrator: process.argv.includes('--create-administrator'),
    rotateKeys: process.argv.includes('--rotate-keys'),
  });
} catch (error) {
  fail(explainStartup(error, config) ?? `The server could not start: ${(error as Error).stack}`);
}
