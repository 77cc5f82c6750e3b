import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { runNode } from '../children.js';
import type { Cli } from '../cli.js';
import type { CommandSpec, Commands } from '../command.js';
import { EXIT } from '../exit-codes.js';
import { Failure, misuse } from '../failure.js';
import type { Flags } from '../flags.js';
import { cloneFolder } from '../project.js';
import { list as listAgents } from './agents.js';

const MAIN = join('dist', 'apps', 'worker', 'main.js');

/** What a worker refuses to start with, it has said by then. */
const FIRST_MS = 1_500;

/** A worker in the background. */
interface Known {
  name: string;
  pid: number;
  since: string;
  url: string;
}

const start: CommandSpec = {
  usage: 'start [name]',
  summary: 'Start a worker on this machine, for the server of the context',
  about:
    'It needs an API key with the scope agents:write. Its other settings are variables: DROVER_WORKER_….',
  options: [
    ['--slots <count>', 'how many tasks it runs at once; 1 unless given'],
    ['--capability <name...>', 'what it can do'],
    ['--daemon', 'go on in the background'],
  ],
  examples: ['worker start', 'worker start gpu-1 --capability gpu --slots 2 --daemon'],
  run: async (cli, [name = 'worker'], flags) => {
    if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(name))
      throw misuse('A worker is named by letters, digits, dots, dashes and underscores.');
    const main = join(cloneFolder(), MAIN);
    const folder = folderOf(name);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const env = { ...process.env, ...settingsOf(cli, name, folder, flags) };
    if (!flags.has('daemon')) return runNode([main], { env });
    const running = read(name);
    if (running) throw misuse(`${name} runs already, as process ${running.pid}.`);
    const log = openSync(join(folder, 'worker.log'), 'a', 0o600);
    const child = spawn(process.execPath, [main], {
      env,
      detached: true,
      stdio: ['ignore', log, log],
    });
    const ended = await Promise.race([once(child, 'exit'), delay(FIRST_MS)]);
    if (ended) {
      throw new Failure(
        `${name} has ended at once.`,
        `Its log says why: ${join(folder, 'worker.log')}`,
      );
    }
    child.unref();
    const { url } = cli.access();
    const known = { name, pid: child.pid ?? 0, since: new Date().toISOString(), url };
    writeFileSync(join(folder, 'process.json'), JSON.stringify(known), { mode: 0o600 });
    cli.out.done(
      known,
      `${name} is process ${known.pid}; its log is ${join(folder, 'worker.log')}`,
    );
    return EXIT.ok;
  },
};

function settingsOf(cli: Cli, name: string, folder: string, flags: Flags): Record<string, string> {
  const { url, name: context, workspaceId } = cli.access();
  const key =
    context === undefined ? process.env['DROVER_API_KEY'] : cli.contexts.get(context).apiKey;
  if (!key) {
    throw new Failure(
      'A worker needs an API key, and this context is signed in by password.',
      'Make one with `drover key create workers --scope agents:write`, and keep it with `drover login URL --api-key`.',
      EXIT.signIn,
    );
  }
  // An environment can be read by other processes of the same user.
  const keyFile = join(folder, 'api-key');
  writeFileSync(keyFile, key, { mode: 0o600 });
  return {
    DROVER_API_URL: url,
    DROVER_API_KEY: '',
    DROVER_API_KEY_FILE: keyFile,
    ...(workspaceId && { DROVER_WORKSPACE_ID: workspaceId }),
    DROVER_WORKER_NAME: name,
    DROVER_WORKER_DATA_DIR: join(folder, 'data'),
    DROVER_WORKER_CONCURRENCY: String(flags.number('slots') ?? 1),
    DROVER_WORKER_CAPABILITIES: (flags.list('capability') ?? []).join(','),
  };
}

const stop: CommandSpec = {
  usage: 'stop [name...]',
  summary: 'End workers of the background; without a name, all of them',
  examples: ['worker stop', 'worker stop gpu-1'],
  run: async (cli, names) => {
    const all = known();
    for (const name of names) {
      if (!all.some((one) => one.name === name)) throw misuse(`No worker "${name}" runs here.`);
    }
    const chosen = all.filter(({ name }) => names.length === 0 || names.includes(name));
    for (const { pid } of chosen) process.kill(pid, 'SIGTERM');
    cli.out.done(
      chosen,
      chosen.length === 0
        ? 'No worker runs here.'
        : `Asked to end: ${chosen.map(({ name }) => name).join(', ')}; \`drover worker status\` shows those that finish their tasks`,
    );
  },
};

const status: CommandSpec = {
  usage: 'status',
  summary: 'List the workers of the background on this machine',
  examples: ['worker status'],
  run: async (cli) => {
    cli.out.rows(
      known(),
      [
        { title: 'name', of: ({ name }) => name },
        { title: 'process', of: ({ pid }) => pid },
        { title: 'since', of: ({ since }) => since },
        { title: 'server', of: ({ url }) => url, wide: true },
      ],
      'No worker was started here with `drover worker start --daemon`.',
    );
  },
};

const list: CommandSpec = {
  ...listAgents,
  summary: 'List the workers and agents of the workspace, wherever they run',
  examples: ['worker list'],
};

function stateFolder(): string {
  const state = process.env['XDG_STATE_HOME'] || join(homedir(), '.local', 'state');
  return join(state, 'drover', 'workers');
}

function folderOf(name: string): string {
  return join(stateFolder(), name);
}

function known(): Known[] {
  let names: string[];
  try {
    names = readdirSync(stateFolder());
  } catch {
    return [];
  }
  return names.flatMap((name) => read(name) ?? []);
}

/** Undefined when it has ended: its number may be another process's by now. */
function read(name: string): Known | undefined {
  try {
    const found = JSON.parse(readFileSync(join(folderOf(name), 'process.json'), 'utf8')) as Known;
    const words = readFileSync(`/proc/${found.pid}/cmdline`, 'utf8');
    return words.includes(MAIN) ? found : undefined;
  } catch {
    return undefined;
  }
}

const commands: Commands = {
  worker: {
    summary: 'Start and stop workers on this machine, list them all',
    commands: [start, stop, status, list],
  },
};

export default commands;
