import 'reflect-metadata';
import { isolate } from '#lib/agent-host';
import { misspeltVariables, UNKNOWN_SETTINGS } from '#lib/env';
import { listen } from '#lib/http';
import { lineWriter, requireArguments } from '#lib/kernel';
import { announce, Logger } from '#lib/observability';
import { type GatewayConfig, loadGatewayConfig } from './config.js';
import { createApp } from './create-app.js';
import { Gateway } from './gateway.js';
import { shutDownOnSignals } from './shutdown.js';

const write = lineWriter(1);

async function start(config: GatewayConfig): Promise<void> {
  const logger = Logger.create({ level: config.logLevel, destination: { write } });
  const unknown = misspeltVariables(process.env);
  if (unknown.length > 0) logger.warn(UNKNOWN_SETTINGS, { unknown });
  const gateway = new Gateway(config, logger, await isolate(config.isolation));
  const app = await createApp(gateway, logger);
  await gateway.recover();
  const { shutdownSeconds: deadlineSeconds } = config;
  shutDownOnSignals({ gateway, app, logger, deadlineSeconds });
  await listen(app, config.http);
  const { id, bootId } = gateway.facts();
  const address = await app.getUrl();
  announce(write, { message: 'listening', address, gatewayId: id, bootId });
  gateway.connect();
}

function readConfig(): GatewayConfig {
  try {
    return loadGatewayConfig(process.env);
  } catch (error) {
    fail((error as Error).message);
  }
}

function explain(error: unknown, { http }: GatewayConfig): string {
  const { code, message, stack } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE') {
    const address = `${http.host}:${http.port}`;
    return `Another program listens on ${address}: stop it, or set PORT to a free one.`;
  }
  if (code === 'EACCES') return `The gateway lacks a permission: ${message}`;
  return code === undefined && message !== ''
    ? message
    : `The gateway could not start: ${stack ?? message}`;
}

function fail(sentence: string): never {
  process.stderr.write(`${sentence}\n`);
  process.exit(1);
}

requireArguments(`Usage: node dist/apps/gateway/main.js

Runs the sessions of push agents. Its settings come from the environment:
docs/settings.md lists them.`);
const config = readConfig();
try {
  await start(config);
} catch (error) {
  fail(explain(error, config));
}
