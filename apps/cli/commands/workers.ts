import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, openSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { nodeOfClone, runNode } from '../children.js';
import type { Cli } from '../cli.js';
import type { CommandSpec, Commands } from '../command.js';
import { splitAddresses } from '../connect.js';
import { localSocketOf } from '../contexts/local.js';
import { EXIT } from '../exit-codes.js';
import { Failure, usageError } from '../failure.js';
import type { Flags } from '../flags.js';
import { readFinishSeconds, STOP_OPTIONS } from '../graceful.js';
import { cloneFolder } from '../project.js';
import { list as listAgents } from './agents.js';

const MAIN = join('dist', 'apps', 'worker', 'main.js');

/** How long a worker may start without a line in its log, in milliseconds. */
const SILENT_STARTUP_MS = 10_000;
/** A worker that cannot start exits this soon after its first line, in milliseconds. */
const EXIT_MS = 500;
/** The time between two looks for the end of workers, in milliseconds. */
const LOOK_EVERY_MS = 100;

/** A worker in the background. */
interface BackgroundWorker {
  name: string;
  pid: number;
  since: string;
  url: string;
}

const start: CommandSpec = {
  usage: 'start',
  summary: 'Start a worker on this machine for the current context',
  about:
    'The worker needs an API key with the scope agents:write. Variables DROVER_WORKER_… set its ' +
    'other options.',
  options: [
    ['--name <name>', 'name of the worker (default worker)'],
    ['--capabilities <names>', 'capabilities of the worker, separated by commas'],
    ['--slots <count>', 'maximum number of concurrent tasks (default 1)'],
    ['--daemon', 'run in the background'],
  ],
  examples: [
    'worker start',
    'worker start --name gpu-1 --capabilities gpu,cuda --slots 2 --daemon',
  ],
  run: async (cli, _args, flags) => {
    const name = flags.text('name') ?? 'worker';
    if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(name))
      throw usageError('A worker name has letters, digits, dots, dashes and underscores.');
    const main = join(cloneFolder(), MAIN);
    const folder = folderOf(name);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const env = { ...process.env, ...toWorkerEnv(cli, name, folder, flags) };
    if (!flags.has('daemon')) return runNode([main], { env });
    const running = read(name);
    if (running) throw usageError(`Worker ${name} already runs as process ${running.pid}.`);
    const file = join(folder, 'worker.log');
    const log = openSync(file, 'a', 0o600);
    const { size } = statSync(file);
    const child = spawn(await nodeOfClone(), [main], {
      env,
      detached: true,
      stdio: ['ignore', log, log],
    });
    if (await exitsAtStartup(child, () => statSync(file).size > size)) {
      throw new Failure(`Worker ${name} exited at startup.`, `Read the log: ${file}`);
    }
    child.unref();
    const { url } = cli.access();
    const worker = { name, pid: child.pid ?? 0, since: new Date().toISOString(), url };
    writeFileSync(join(folder, 'process.json'), JSON.stringify(worker), { mode: 0o600 });
    cli.out.done(worker, `Worker ${name} started as process ${worker.pid}; log: ${file}`);
    return EXIT.ok;
  },
};

/** Waits for the first line of the worker's log; a worker that cannot start exits after it. */
async function exitsAtStartup(child: ChildProcess, hasLogged: () => boolean): Promise<boolean> {
  const until = performance.now() + SILENT_STARTUP_MS;
  const hasExited = () => child.exitCode !== null || child.signalCode !== null;
  while (!hasExited() && !hasLogged() && performance.now() < until) await delay(50);
  if (!hasExited()) await Promise.race([once(child, 'exit'), delay(EXIT_MS)]);
  return hasExited();
}

function toWorkerEnv(cli: Cli, name: string, folder: string, flags: Flags): Record<string, string> {
  const { url, name: context, workspaceId } = cli.access();
  const key =
    context === undefined ? process.env['DROVER_API_KEY'] : cli.contexts.get(context).apiKey;
  if (!key) {
    throw new Failure(
      'A worker needs an API key, but this context has a password session.',
      'Create one with `drover key create workers --scope agents:write`. ' +
        'Then save it with `drover login URL --api-key`.',
      EXIT.signIn,
    );
  }
  if (splitAddresses(url).length > 1 && splitAddresses(url).some((one) => localSocketOf(one))) {
    throw usageError('A worker cannot use the server of `drover up` beside others.');
  }
  // Other processes of the user can read the environment, so the key goes into a file.
  const keyFile = join(folder, 'api-key');
  writeFileSync(keyFile, key, { mode: 0o600 });
  return {
    DROVER_API_URL: url,
    DROVER_API_SOCKET: localSocketOf(url) ?? '',
    DROVER_API_KEY: '',
    DROVER_API_KEY_FILE: keyFile,
    ...(workspaceId && { DROVER_WORKSPACE_ID: workspaceId }),
    DROVER_WORKER_NAME: name,
    DROVER_WORKER_DATA_DIR: join(folder, 'data'),
    DROVER_WORKER_CONCURRENCY: String(flags.number('slots') ?? 1),
    DROVER_WORKER_CAPABILITIES: flags.text('capabilities') ?? '',
  };
}

const stop: CommandSpec = {
  usage: 'stop [name...]',
  summary: 'Stop background workers, all without a name',
  about:
    'A worker stops its tasks after DROVER_WORKER_DRAIN_SECONDS and returns them to the queue, ' +
    'with their checkpoints without counting an attempt. With --graceful, tasks finish first, and the ' +
    'command returns when the workers have stopped.',
  options: STOP_OPTIONS,
  examples: ['worker stop', 'worker stop gpu-1 --graceful --timeout 30m'],
  run: async (cli, names, flags) => {
    const finishSeconds = readFinishSeconds(flags);
    const all = listBackgroundWorkers();
    for (const name of names) {
      if (!all.some((one) => one.name === name))
        throw usageError(`No background worker is named "${name}".`);
    }
    const chosen = all.filter(({ name }) => names.length === 0 || names.includes(name));
    const list = chosen.map(({ name }) => name).join(', ');
    if (chosen.length === 0) return cli.out.done(chosen, 'No background workers.');
    if (finishSeconds > 0) {
      cli.out.note(`drover: ${list}: running tasks have up to ${finishSeconds} s to finish.`);
      await finish(chosen, finishSeconds);
      return cli.out.done(chosen, `Stopped ${list}`);
    }
    for (const worker of chosen) signal(worker, 'SIGTERM');
    cli.out.done(chosen, `Stopping ${list}; see \`drover worker status\``);
  },
};

/** Lets the workers finish their tasks; after this time their tasks stop and are released. */
async function finish(workers: readonly BackgroundWorker[], seconds: number): Promise<void> {
  const deadline = performance.now() + seconds * 1_000;
  for (const worker of workers) signal(worker, 'SIGUSR2');
  let isDraining = false;
  for (let left = workers; left.length > 0; left = left.filter(isRunning)) {
    await delay(LOOK_EVERY_MS);
    if (isDraining || performance.now() < deadline) continue;
    isDraining = true;
    for (const worker of left) signal(worker, 'SIGTERM');
  }
}

function isRunning({ name, pid }: BackgroundWorker): boolean {
  return read(name)?.pid === pid;
}

function signal(worker: BackgroundWorker, name: NodeJS.Signals): void {
  try {
    if (isRunning(worker)) process.kill(worker.pid, name);
  } catch {
    // It has just ended.
  }
}

const status: CommandSpec = {
  usage: 'status',
  summary: 'List background workers on this machine',
  examples: ['worker status'],
  run: async (cli) => {
    cli.out.rows(
      listBackgroundWorkers(),
      [
        { title: 'name', of: ({ name }) => name },
        { title: 'pid', of: ({ pid }) => pid },
        { title: 'since', of: ({ since }) => since, wide: true },
        { title: 'server', of: ({ url }) => url, wide: true },
      ],
      'No background workers. Start one with `drover worker start --daemon`.',
    );
  },
};

const list: CommandSpec = {
  ...listAgents,
  summary: 'List the workers and agents of the workspace',
  examples: ['worker list'],
};

function stateFolder(): string {
  const state = process.env['XDG_STATE_HOME'] || join(homedir(), '.local', 'state');
  return join(state, 'drover', 'workers');
}

function folderOf(name: string): string {
  return join(stateFolder(), name);
}

function listBackgroundWorkers(): BackgroundWorker[] {
  let names: string[];
  try {
    names = readdirSync(stateFolder());
  } catch {
    return [];
  }
  return names.flatMap((name) => read(name) ?? []);
}

/** Reads a live worker. A process with a reused number is not a worker. */
function read(name: string): BackgroundWorker | undefined {
  try {
    const found = JSON.parse(
      readFileSync(join(folderOf(name), 'process.json'), 'utf8'),
    ) as BackgroundWorker;
    const words = readFileSync(`/proc/${found.pid}/cmdline`, 'utf8');
    return words.includes(MAIN) ? found : undefined;
  } catch {
    return undefined;
  }
}

const commands: Commands = {
  worker: {
    summary: 'Start, stop and list workers',
    commands: [start, stop, status, list],
  },
};

export default commands;
