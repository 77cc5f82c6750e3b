import { Log, messageOf, pause, StopRequests } from '#lib/agent-host';
import { misspeltVariables, UNKNOWN_SETTINGS } from '#lib/env';
import { endNow, lineWriter, requireArguments } from '#lib/kernel';
import { NoCredentials, readConfig, type WorkerConfig } from './config.js';
import { runWorker } from './worker.js';

const write = lineWriter(2);
let log = new Log(write);
const stop = new StopRequests();

stop.listen((step, signal) => {
  log.info('Stop requested', { signal });
  // The supervisor ends every session that still runs.
  if (step === 'end') endNow(1);
});

function fail(error: unknown): never {
  log.error(messageOf(error));
  process.exit(1);
}

process.on('uncaughtException', fail);
process.on('unhandledRejection', fail);

/** The interval between two looks for the missing key, each of which is logged. */
const REMINDER_MS = 60_000;

/**
 * Waits for the settings until there is a key. An exit without one would be a crash loop under a
 * supervisor such as Compose, while the user has yet to create the key.
 *
 * @returns undefined if the worker is stopped before
 */
async function waitForConfig(): Promise<WorkerConfig | undefined> {
  while (!stop.finish.aborted) {
    try {
      return readConfig(process.env);
    } catch (error) {
      if (!(error instanceof NoCredentials)) throw error;
      log.warn(`The worker has no key and waits. ${error.message} Then start it again.`);
      await pause(REMINDER_MS, stop.finish);
    }
  }
  return undefined;
}

requireArguments(`Usage: node dist/apps/worker/main.js

Runs tasks. Its settings come from the environment; docs/settings.md lists them.`);
try {
  const config = await waitForConfig();
  if (config === undefined) process.exit(0);
  log = new Log(write, config.logLevel, { worker: config.name });
  const unknown = misspeltVariables(process.env);
  if (unknown.length > 0) log.warn(UNKNOWN_SETTINGS, { unknown });
  await runWorker(config, { log, stop });
  process.exit(0);
} catch (error) {
  fail(error);
}
