import { Log, messageOf, StopRequests } from '#lib/agent-host';
import { readConfig } from './config.js';
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

try {
  const config = readConfig(process.env);
  log = new Log(write, config.logLevel, { worker: config.name });
  await runWorker(config, { log, stop });
  process.exit(0);
} catch (error) {
  fail(error);
}
