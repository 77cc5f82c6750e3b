import type { StdioOptions } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { droverHome, findClone, projectRoot } from '#lib/kernel';
import { runNode, runProgram } from '../children.js';
import type { Cli } from '../cli.js';
import type { CommandSpec, Commands } from '../command.js';
import { findLastProgram, wasStarted } from '../contexts/local.js';
import { showCoordinator } from '../coordinator-view.js';
import { EXIT } from '../exit-codes.js';
import { Failure, usageError } from '../failure.js';
import type { Flags } from '../flags.js';
import { readFinishSeconds, STOP_OPTIONS } from '../graceful.js';
import { recover } from './coordinator.js';

const MAX_WORKERS = 32;
/** The first words of the program that starts and stops everything. */
const VERBS = { up: [], down: ['stop'], status: ['status'] } as const;
/** The exit code of `status` if nothing runs, as the program of the server has it. */
const RUNS_NOT = 3;

async function start(cli: Cli, verb: keyof typeof VERBS, ...args: string[]): Promise<number> {
  const root = findClone();
  // The data is in DROVER_HOME or in the clone, regardless of the working directory.
  const home = process.env['DROVER_HOME'];
  const env = { ...process.env, ...(home && { DROVER_HOME: resolve(home) }) };
  // With --json, stdout contains the answer of the API only.
  const stdio: StdioOptions = ['inherit', cli.out.json ? 2 : 'inherit', 'inherit'];
  const words = [...VERBS[verb], ...args];
  if (root === undefined) {
    const [node, program] = findProgram(verb);
    if (node !== undefined && program !== undefined) {
      return runProgram(node, [program, ...words], { env, stdio });
    }
    return withoutProgram(cli, verb);
  }
  // Repositories below the folder of the call can be reached, as with `npm start`.
  const called = { INIT_CWD: process.cwd(), ...env };
  const script = join(root, 'scripts', 'start.mjs');
  return runNode([script, ...words], { cwd: root, env: called, stdio });
}

/**
 * The program of the package @drover/server, without a clone. It is never fetched: a registry can
 * have a package of somebody else by that name.
 *
 * @returns Node and the file; nothing if it is not installed
 */
function findProgram(verb: keyof typeof VERBS): string[] {
  const beside = [process.execPath, join(projectRoot, '../server/dist/tools/start/main.js')];
  const last = findLastProgram() ?? [];
  // The last program has the Node with which it runs. An update can have replaced it.
  const found = verb === 'up' ? [beside, last] : [last, beside];
  return found.find((each) => each.length > 0 && each.every(existsSync)) ?? [];
}

/** @throws Failure, except for the status where nothing was ever started */
function withoutProgram(cli: Cli, verb: keyof typeof VERBS): number {
  if (verb === 'status' && !wasStarted()) {
    cli.out.note(`Drover does not run in ${droverHome()}.`);
    return RUNS_NOT;
  }
  throw new Failure(
    'The package @drover/server is not installed beside this command line.',
    `Install both packages in one folder, or run \`drover-server ${verb}\` where it is installed.`,
    EXIT.usage,
  );
}

const up = (usage: string, example: string): CommandSpec => ({
  usage,
  summary: 'Start a server, workers and a gateway on this machine',
  about:
    'The data is in DROVER_HOME, or in .drover of the clone or of your home folder. The first ' +
    'start installs and builds missing parts. Other commands find the server as the context "local".',
  options: [
    ['--workers <count>', `number of workers, 0 to ${MAX_WORKERS} (default 2)`],
    ['--daemon', 'run in the background after all processes are ready'],
  ],
  examples: [example],
  run: async (cli, _args, flags) => {
    const args = [...toWorkerArgs(flags), ...(flags.has('daemon') ? ['--daemon'] : [])];
    return start(cli, 'up', ...args);
  },
});

function toWorkerArgs(flags: Flags): string[] {
  const count = flags.number('workers');
  if (count === undefined) return [];
  if (!Number.isInteger(count) || count < 0 || count > MAX_WORKERS)
    throw usageError(`--workers needs a whole number from 0 to ${MAX_WORKERS}.`);
  return ['--workers', String(count)];
}

const down = (usage: string, example: string): CommandSpec => ({
  usage,
  summary: 'Stop the local processes and keep the data',
  about:
    'Running tasks have 10 s to finish. Then they return to the queue with their checkpoints and ' +
    'without counting an attempt. With --graceful, they have the time of --timeout.',
  options: STOP_OPTIONS,
  examples: [example, `${example} --graceful --timeout 30m`],
  run: (cli, _args, flags) => {
    const seconds = readFinishSeconds(flags);
    return start(cli, 'down', ...(seconds > 0 ? ['--graceful', `--timeout=${seconds}`] : []));
  },
});

const status = (example: string): CommandSpec => ({
  usage: 'status',
  summary: 'Show local processes and the coordinator',
  about: 'The exit code is 3 if nothing runs here, and 4 if the local server does not answer.',
  examples: [example],
  run: async (cli) => {
    const code = cli.isLocal() ? await start(cli, 'status') : EXIT.ok;
    if (code !== EXIT.ok) return code;
    showCoordinator(cli.out, await cli.drover.get('/api/v1/coordinator/status'));
    return EXIT.ok;
  },
});

const commands: Commands = {
  up: up('up', 'up --workers 4 --daemon'),
  down: down('down', 'down'),
  status: status('status'),
  orchestrator: {
    summary: 'Start, stop, inspect and reconcile the control plane',
    commands: [
      up('start', 'orchestrator start --daemon'),
      down('stop', 'orchestrator stop'),
      status('orchestrator status'),
      { ...recover, usage: 'reconcile', examples: ['orchestrator reconcile'] },
    ],
  },
};

export default commands;
