import '#lib/env/node';
import { Log, messageOf, pause, StopRequests } from '#lib/agent-host';
import { requireArguments } from '#lib/kernel';
import { NoCredentials, readConfig, type WorkerConfig } from './config.js';
import { runWorker } from './worker.js';

const write = (line: string): void => void process.stderr.write(line);
// Its lines go nowhere while the disk of its log is full, or nobody reads them: that is no reason to end.
process.stderr.on('error', () => undefined);
let log = new Log(write);
const stop = new StopRequests();

stop.listen((step, signal) => {
  log.info('Asked to stop', { signal });
  // Whatever still runs is ended by the process that guards it.
  if (step === 'end') process.exit(1);
});

function fail(error: unknown): never {
  log.error(messageOf(error));
  process.exit(1);
}

process.on('uncaughtException', fail);
process.on('unhandledRejection', fail);

/** How often it is said that the key is missing, and looked whether it still is. */
const REMINDER_MS = 60_000;

/**
 * The settings, as soon as there is a key. Ending without one would be a crash loop wherever something starts
 * the worker again, as Compose does while the key has yet to be made.
 *
 * @returns undefined when it is to stop before
 */
async function configured(): Promise<WorkerConfig | undefined> {
  while (!stop.drain.aborted) {
    try {
      return readConfig(process.env);
    } catch (error) {
      if (!(error instanceof NoCredentials)) throw error;
      log.warn(`The worker waits, since it has no key. ${error.message} Then start it again.`);
      await pause(REMINDER_MS, stop.drain);
    }
  }
  return undefined;
}

requireArguments(`Usage: node dist/apps/worker/main.js

Runs tasks. Its settings come from the environment; docs/settings.md lists them.`);
try {
  const config = await configured();
  if (config === undefined) process.exit(0);
  log = new Log(write, config.logLevel, { worker: config.name });
  await runWorker(config, { log, stop });
  process.exit(0);
} catch (error) {
  fail(error);
}
