import { StopRequests } from './agent/stop-requests.js';
import { readConfig } from './config.js';
import { Log, messageOf } from './log.js';
import { runWorker } from './worker.js';

const write = (line: string): void => void process.stderr.write(line);
let log = new Log(write);
const stop = new StopRequests();

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
  process.on(signal, () => {
    log.info('Asked to stop', { signal });
    // Whatever still runs is ended by the process that guards it.
    if (!stop.request()) process.exit(1);
  });
}

function fail(error: unknown): never {
  log.error(messageOf(error));
  process.exit(1);
}

process.on('uncaughtException', fail);
process.on('unhandledRejection', fail);

try {
  const config = readConfig(process.env);
  log = new Log(write, config.logLevel, { worker: config.name });
  await runWorker(config, { log, env: process.env, stop });
  process.exit(0);
} catch (error) {
  fail(error);
}
