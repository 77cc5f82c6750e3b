import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DURATION_FORM, findClone, parseDuration, projectRoot } from '#lib/kernel';

/** The request that `npm start` received. */
export type Request =
  | { kind: 'start'; workers: number; daemon: boolean }
  /** `finishSeconds`: the time for running tasks to finish; 0 for a stop that is not graceful. */
  | { kind: 'stop'; finishSeconds: number }
  | { kind: 'status' }
  | { kind: 'help' }
  | { kind: 'wrong'; sentence: string };

const WORKERS = { usual: 2, most: 32 };
const FINISH_SECONDS = 300;

const isClone = findClone() !== undefined;

/** The program of the package. `npx` would fetch it in every other folder. */
const installed = join(projectRoot, '../../.bin/drover-server');
const program = existsSync(installed) ? installed : 'drover-server';

/** The command that ends the processes of this program. */
export const STOP_COMMAND = isClone ? 'npm start -- stop' : `${program} down`;

/** A command line that submits a first task. */
export const RUN_COMMAND = `${isClone ? 'npx drover' : 'drover'} run -- echo hello`;

const COMMANDS = isClone
  ? `npm start [-- --workers N] [--daemon]
npm start -- stop [--graceful] [--timeout 5m]
npm start -- status`
  : `drover-server up [--workers N] [--daemon]
drover-server down [--graceful] [--timeout 5m]
drover-server status`;

export const USAGE = `${COMMANDS}

Runs a server, workers and a gateway on the data in DROVER_HOME (.drover in the ${isClone ? 'clone' : 'home folder'}).

  --workers N  how many workers, 0 to ${WORKERS.most} (${WORKERS.usual})
  --daemon     goes on in the background, once all is ready
  ${isClone ? 'stop' : 'down'}         ends what runs there; the data stays
  --graceful   lets running tasks finish first
  --timeout    the longest wait of --graceful (5m)
  status       says where it is reached, its processes and since when; exits with 3 when nothing runs there,
               with 4 when its server does not answer
  --help       says this
`;

/** A mistyped argument must not start or end anything. */
export function readRequest(given: readonly string[]): Request {
  if (given.includes('--help') || given.includes('-h')) return { kind: 'help' };
  const [verb] = given;
  if (verb === 'stop') return readStop(given.slice(1));
  if (verb === 'status') {
    return given.length === 1 ? { kind: verb } : wrong('status takes no further arguments.');
  }
  return readStart(given);
}

function readStop(given: readonly string[]): Request {
  const rest = [...given];
  let isGraceful = false;
  let timeout: string | undefined;
  while (rest.length > 0) {
    const [name = '', value] = (rest.shift() ?? '').split(/=(.*)/s);
    if (name === '--graceful' && value === undefined) isGraceful = true;
    else if (name === '--timeout') timeout = value ?? rest.shift() ?? '';
    else return wrong(unknown(name));
  }
  const seconds = timeout === undefined ? FINISH_SECONDS : parseDuration(timeout);
  if (seconds === undefined) return wrong(`--timeout needs ${DURATION_FORM}.`);
  if (timeout !== undefined && !isGraceful) return wrong('--timeout needs --graceful.');
  return { kind: 'stop', finishSeconds: isGraceful ? seconds : 0 };
}

function readStart(given: readonly string[]): Request {
  const rest = [...given];
  let workers: number = WORKERS.usual;
  let daemon = false;
  while (rest.length > 0) {
    const [name = '', value] = (rest.shift() ?? '').split(/=(.*)/s);
    if (name === '--daemon' && value === undefined) {
      daemon = true;
    } else if (name === '--workers') {
      const number = numberOf(value ?? rest.shift());
      if (number === undefined) {
        return wrong(`--workers needs a whole number from 0 to ${WORKERS.most}.`);
      }
      workers = number;
    } else {
      return wrong(unknown(name));
    }
  }
  return { kind: 'start', workers, daemon };
}

function numberOf(text = ''): number | undefined {
  return /^\d{1,2}$/.test(text) && Number(text) <= WORKERS.most ? Number(text) : undefined;
}

function unknown(name: string): string {
  return `${name} is no argument of this program: --help says which there are.`;
}

function wrong(sentence: string): Request {
  return { kind: 'wrong', sentence };
}
