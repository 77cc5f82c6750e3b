import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { OutputSink, SessionExit } from '../driver.js';
import type { Throttle } from '../output/throttle.js';
import { endStrays } from './end-strays.js';
import { countOomKills } from './oom-evidence.js';
import { type ProcessRef, readProcess } from './process-tree.js';
import type { SessionFolder, SessionUser } from './session-folder.js';
import { explainSpawnFailure } from './spawn-failure.js';

/** How long the streams may stay open once every process that was found is gone. */
const STREAM_END_MS = 1_000;

/** The specification of a session's first process. */
export interface Launch {
  sessionId: string;
  /** The file to execute, and the name by which the command called it. */
  program: string;
  command: [string, ...string[]];
  env: Record<string, string>;
  cwd: string;
  stdin?: string;
  /** The user that runs the session; the starter's own when left out. */
  user?: SessionUser;
}

/** How a process that was followed ended. */
export type ProcessExit = Pick<SessionExit, 'exitCode' | 'signal' | 'oomKilled' | 'strays'>;

/** A session's first process, from its start until nothing of its tree is left. */
export class FirstProcess {
  readonly leader: ProcessRef;
  readonly startedAt = new Date().toISOString();
  private readonly exited: Promise<Pick<ProcessExit, 'exitCode' | 'signal'>>;
  private readonly closed: Promise<unknown>;

  private constructor(
    private readonly sessionId: string,
    private readonly child: ChildProcess,
    private readonly oomKillsBefore: number | undefined,
  ) {
    this.leader = refOf(child);
    this.exited = new Promise((resolve) => {
      child.once('exit', (exitCode, signal) => resolve({ exitCode, signal }));
    });
    this.closed = new Promise((resolve) => child.once('close', resolve));
  }

  /** @throws SpawnError */
  static async start(launch: Launch): Promise<FirstProcess> {
    const { sessionId, program, command, env, cwd, stdin, user } = launch;
    const oomKillsBefore = countOomKills();
    const [name, ...args] = command;
    try {
      const child = spawn(program, args, {
        argv0: name,
        ...user,
        cwd,
        env,
        // A process group and session of its own, so that all of it can be signalled.
        detached: true,
        stdio: [stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
      });
      await once(child, 'spawn');
      child.on('error', () => undefined);
      // A process need not read what it is given.
      child.stdin?.on('error', () => undefined);
      child.stdin?.end(stdin);
      return new FirstProcess(sessionId, child, oomKillsBefore);
    } catch (error) {
      throw explainSpawnFailure(name, error);
    }
  }

  /** Reads its output, and ends what outlives it. Call it at once. Never rejects. */
  async follow(
    folder: SessionFolder,
    output: OutputSink,
    throttle: Throttle,
  ): Promise<ProcessExit> {
    const { stdout, stderr } = this.child as { stdout: Readable; stderr: Readable };
    const take = (stream: 'stdout' | 'stderr') => (chunk: Buffer) => {
      folder.noteActivity();
      output.write(stream, chunk);
    };
    throttle.read(stdout, take('stdout'));
    throttle.read(stderr, take('stderr'));
    const exit = await this.exited;
    const oomKilled = wasOomKilled(exit, this.oomKillsBefore, countOomKills());
    const tree = { id: this.sessionId, leader: this.leader, groupIsOurs: true };
    const strays = await endStrays(tree);
    await Promise.race([this.closed, delay(STREAM_END_MS)]);
    stdout.destroy();
    stderr.destroy();
    output.end();
    return { ...exit, oomKilled, ...(strays.found > 0 && { strays }) };
  }
}

// A process that is over already cannot be told apart any more, and need not be.
function refOf(child: ChildProcess): ProcessRef {
  const pid = child.pid as number;
  return { pid, startTicks: readProcess(pid)?.startTicks ?? 0 };
}

/** @returns null where the kernel does not count */
function wasOomKilled(
  exit: Pick<ProcessExit, 'exitCode' | 'signal'>,
  before?: number,
  after?: number,
): boolean | null {
  if (exit.signal !== 'SIGKILL' && exit.exitCode !== 137) return false;
  return before === undefined || after === undefined ? null : after > before;
}
