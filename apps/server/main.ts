import 'reflect-metadata';
import { type Config, loadConfig } from '#lib/config';
import { Logger } from '#lib/observability';
import { createApp } from './create-app.js';
import { prepareDatabase } from './prepare-database.js';
import { shutDownOnSignals } from './shutdown.js';
import { explainStartup } from './startup-error.js';

/** Tests, the demo and scripts wait for these lines; no log level silences them. */
function announce(line: Record<string, unknown>): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

async function start(config: Config, migrateOnly: boolean): Promise<void> {
  const logger = Logger.create({
    level: config.logLevel,
    base: config.instanceId === undefined ? {} : { instance: config.instanceId },
  });
  const applied = await prepareDatabase(config, { logger, migrate: migrateOnly });
  if (migrateOnly) {
    announce({ message: 'migrated', applied });
    return;
  }
  const app = await createApp(config, logger);
  shutDownOnSignals(app, { deadlineSeconds: config.http.shutdownDeadlineSeconds });
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
  await start(config, process.argv.includes('--migrate-only'));
} catch (error) {
  fail(explainStartup(error, config) ?? `The server could not start: ${(error as Error).stack}`);
}
