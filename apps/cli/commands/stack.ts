import type { StdioOptions } from 'node:child_process';
import { join, resolve } from 'node:path';
import { runNode } from '../children.js';
import type { Cli } from '../cli.js';
import type { CommandSpec, Commands } from '../command.js';
import { showCoordinator } from '../coordinator-view.js';
import { EXIT } from '../exit-codes.js';
import { misuse } from '../failure.js';
import type { Flags } from '../flags.js';
import { cloneFolder } from '../project.js';
import { recover } from './coordinator.js';

const MOST_WORKERS = 32;

function start(cli: Cli, ...args: string[]): Promise<number> {
  const root = cloneFolder();
  // The data is kept in the clone, unless DROVER_HOME says otherwise, wherever this was called.
  const home = process.env['DROVER_HOME'];
  const env = { ...process.env, ...(home && { DROVER_HOME: resolve(home) }) };
  // What it says is for people: with --json, stdout is for the answer of the API alone.
  const stdio: StdioOptions = ['inherit', cli.out.json ? 2 : 'inherit', 'inherit'];
  return runNode([join(root, 'scripts', 'start.mjs'), ...args], { cwd: root, env, stdio });
}

const up = (usage: string, example: string): CommandSpec => ({
  usage,
  summary: 'Start a server, workers and a gateway on the data in DROVER_HOME',
  about:
    'The first time it installs and builds what is missing. Then commands find it as the context "local".',
  options: [
    ['--workers <count>', `how many workers, 0 to ${MOST_WORKERS}; 2 unless given`],
    ['--daemon', 'go on in the background, once all is ready'],
  ],
  examples: [example],
  run: async (cli, _args, flags) => {
    const args = [...workersOf(flags), ...(flags.has('daemon') ? ['--daemon'] : [])];
    return start(cli, ...args);
  },
});

function workersOf(flags: Flags): string[] {
  const count = flags.number('workers');
  if (count === undefined) return [];
  if (!Number.isInteger(count) || count < 0 || count > MOST_WORKERS)
    throw misuse(`--workers needs a whole number from 0 to ${MOST_WORKERS}.`);
  return ['--workers', String(count)];
}

const down = (usage: string, example: string): CommandSpec => ({
  usage,
  summary: 'End what was started here; the data stays',
  examples: [example],
  run: (cli) => start(cli, 'stop'),
});

const status = (example: string): CommandSpec => ({
  usage: 'status',
  summary: 'Say what runs here, and what the coordinator does',
  about: 'The exit code is 3 when nothing runs here, and 4 when its server does not answer.',
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
    summary: 'Start, stop, ask and reconcile the control plane',
    commands: [
      up('start', 'orchestrator start --daemon'),
      down('stop', 'orchestrator stop'),
      status('orchestrator status'),
      { ...recover, usage: 'reconcile', examples: ['orchestrator reconcile'] },
    ],
  },
};

export default commands;
