import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
  type Recovered,
  type Runtime,
  type RuntimeSession,
  type SessionSpec,
  SpawnError,
} from '../runtime.js';
import { findExecutable } from './find-executable.js';
import type { KeeperAnswer, KeeperOrder } from './keeper-order.js';
import { concludeSession, ProcessSession, toExit, untilOver } from './process-session.js';
import { killTree } from './process-tree.js';
import {
  type Claim,
  listFolders,
  type NotStarted,
  removeFolder,
  SessionFolder,
  type SessionUser,
  type Started,
} from './session-folder.js';
import { explainSpawnFailure } from './spawn-failure.js';

const KEEPER = fileURLToPath(new URL('./keeper-process.js', import.meta.url));
/** It holds a few lines of output: a small heap keeps it small beside the session. */
const NODE_FLAGS = ['--max-old-space-size=32', '--max-semi-space-size=1'];
const POLL_MS = 20;
/** How long a keeper that lives may take from its claim to the start of the session. */
const START_WITHIN_MS = 10_000;

export interface ProcessRuntimeOptions {
  /** Holds a folder for each session; belongs to this runtime alone. */
  dir: string;
  /** Where programs are looked for; the sessions' PATH too. */
  searchPath: string;
  /** What of this process' own environment the sessions see. */
  passedEnv?: Record<string, string>;
  /**
   * Who runs the sessions, where that is not this process' own user: they can't read what is its then.
   * Only root can do that; the folders above `dir` must let that user through.
   */
  user?: SessionUser;
  /** The compiled keeper, where it does not lie beside this file. */
  keeper?: string;
}

/** Sessions as processes of this machine, each with a keeper that outlives this process. */
export class ProcessRuntime implements Runtime {
  readonly kind = 'process';

  constructor(private readonly options: ProcessRuntimeOptions) {}

  async spawn(spec: SessionSpec): Promise<RuntimeSession> {
    const program = this.find(spec.command[0]);
    const folder = this.makeFolder(spec);
    try {
      return await this.launch(spec, folder, program);
    } catch (error) {
      await this.remove(spec.id);
      if (error instanceof SpawnError) throw error;
      throw new SpawnError('infrastructure', 'The keeper of the session could not be started', {
        cause: error,
      });
    }
  }

  async recover(id: string): Promise<Recovered> {
    const folder = SessionFolder.open(this.options.dir, id);
    if (folder === undefined || folder.claim()) {
      await this.remove(id);
      return { kind: 'absent' };
    }
    const claim = folder.readClaim();
    if (claim?.keeper === undefined) {
      await this.remove(id);
      return { kind: 'absent' };
    }
    await untilStarted(folder, claim);
    const started = folder.readStarted();
    const ended = folder.readEnded();
    const { pid = null } = started?.leader ?? {};
    const startedAt = started?.startedAt ?? null;
    if (ended?.kind === 'failed') return { kind: 'failed', error: toSpawnError(ended) };
    if (ended?.kind === 'exited') return { kind: 'ended', exit: toExit(ended), pid, startedAt };
    if (folder.keeperLives(claim)) {
      return { kind: 'running', session: this.follow(id, folder, started) };
    }
    const exit = await concludeSession(folder, { id, leader: started?.leader });
    return { kind: 'ended', exit, pid, startedAt };
  }

  list(): Promise<string[]> {
    return Promise.resolve(listFolders(this.options.dir));
  }

  async remove(id: string): Promise<void> {
    const folder = SessionFolder.open(this.options.dir, id);
    // Without a folder there is nobody to look for: whatever was started had one.
    if (folder === undefined) return removeFolder(this.options.dir, id);
    const ended = folder.hasEnded();
    if (!ended && !folder.claim()) {
      await killTree({ id, leader: folder.readStarted()?.leader }, 2);
    }
    await removeFolder(this.options.dir, id);
  }

  private find(name: string): string {
    const program = findExecutable(name, this.options.searchPath);
    if (program !== undefined) return program;
    throw new SpawnError('setup', explainSpawnFailure(name, { code: 'ENOENT' }).message);
  }

  private makeFolder(spec: SessionSpec): SessionFolder {
    try {
      return SessionFolder.create(this.options.dir, spec.id, spec.task, this.options.user);
    } catch (error) {
      const { code = 'unknown error' } = error as NodeJS.ErrnoException;
      const message = `The folder of the session could not be made (${code})`;
      throw new SpawnError('infrastructure', message, { cause: error });
    }
  }

  private async launch(
    spec: SessionSpec,
    folder: SessionFolder,
    program: string,
  ): Promise<RuntimeSession> {
    const child = spawn(process.execPath, [...NODE_FLAGS, this.options.keeper ?? KEEPER], {
      cwd: '/',
      env: {},
      detached: true,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    const over = new Promise((resolve) => child.once('exit', resolve));
    await once(child, 'spawn');
    child.on('error', () => undefined);
    const answer = await ask(child, this.orderOf(spec, folder, program));
    if (answer?.kind === 'failed') throw toSpawnError(answer);
    if (answer?.kind !== 'started') throw new Error('The keeper ended without starting anything');
    const { leader, startedAt } = answer;
    return new ProcessSession({ id: spec.id, folder, leader, startedAt, over });
  }

  private follow(id: string, folder: SessionFolder, started?: Started): RuntimeSession {
    const { leader, startedAt = new Date().toISOString() } = started ?? {};
    return new ProcessSession({ id, folder, leader, startedAt, over: untilOver(folder) });
  }

  private orderOf(spec: SessionSpec, folder: SessionFolder, program: string): KeeperOrder {
    const { searchPath, passedEnv = {}, user } = this.options;
    return {
      sessionId: spec.id,
      root: folder.root,
      launch: folder.launch,
      program,
      command: spec.command,
      secrets: spec.secrets,
      user,
      env: {
        LANG: 'C.UTF-8',
        ...passedEnv,
        PATH: searchPath,
        HOME: folder.work,
        TMPDIR: folder.tmp,
        ...spec.env,
        DROVER_SESSION_ID: spec.id,
        DROVER_TASK_FILE: folder.taskFile,
        DROVER_SIGNALS_FILE: folder.signalsFile,
        DROVER_WORK_DIR: folder.work,
      },
    };
  }
}

/** @returns undefined when the keeper ended without a word */
async function ask(child: ChildProcess, order: KeeperOrder): Promise<KeeperAnswer | undefined> {
  const stdin = child.stdin as Writable;
  const stdout = child.stdout as Readable;
  stdin.on('error', () => undefined);
  stdin.end(JSON.stringify(order));
  try {
    for await (const line of createInterface({ input: stdout })) {
      return JSON.parse(line) as KeeperAnswer;
    }
    return undefined;
  } finally {
    stdout.destroy();
  }
}

/** A keeper that has claimed its session is about to start it. */
async function untilStarted(folder: SessionFolder, claim: Claim): Promise<void> {
  const giveUpAt = performance.now() + START_WITHIN_MS;
  while (performance.now() < giveUpAt && folder.keeperLives(claim)) {
    if (folder.readStarted() !== undefined || folder.hasEnded()) return;
    await delay(POLL_MS);
  }
}

function toSpawnError({ message, passing }: NotStarted): SpawnError {
  return new SpawnError(passing ? 'infrastructure' : 'setup', message);
}
