import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import {
  type Command,
  type Exceeded,
  type OutputSink,
  type SessionExit,
} from '../drivers/driver.js';
import type { Throttle } from '../output/throttle.js';
import { endStrays } from './end-strays.js';
import { exitOf, type FirstExit } from './exit-of.js';
import { countOomKills, oomKillsIn } from './oom-evidence.js';
import { type ProcessRef, readProcess } from './process-tree.js';
import { removeGroups } from '../sandbox/control-group.js';
import { isFolderFull } from '../sandbox/folder-quota.js';
import { LimitWatch } from '../sandbox/limit-watch.js';
import type { SandboxLaunch } from '../sandbox/sandbox.js';
import { startInside } from '../sandbox/start-inside.js';
import type { SessionFolder, SessionUser } from './session-folder.js';
import { explainSpawnFailure } from './spawn-failure.js';
import { streamsEnd } from './streams-end.js';

/** The program of a session's first process. */
export interface SessionProgram {
  /** The file to execute. The command has the name that its author wrote. */
  program: string;
  command: Command;
  env: Record<string, string>;
}

/** The surroundings of a session's first process. */
export interface Launch {
  sessionId: string;
  cwd: string;
  stdin?: string;
  /** True: the input stays open for FirstProcess.input. */
  openInput?: boolean;
  /** The user that runs the session. The default is the user of this process. */
  user?: SessionUser;
  /** The command that starts the sandbox. */
  sandbox?: SandboxLaunch;
}

/** A started command and its surroundings. */
export interface RunningProcess {
  /** The direct child: the command itself, or the sandbox around it. */
  child: ChildProcess;
  leader: ProcessRef;
  exited: Promise<FirstExit>;
  /** Ends the sandbox and everything in it. */
  release: () => void;
  /** Takes what the host has to say about the session. */
  onNote?: (take: (note: string) => void) => void;
}

/** The end of a process that this process followed. */
export type ProcessExit = Pick<
  SessionExit,
  'exitCode' | 'signal' | 'oomKilled' | 'exceeded' | 'folderFull' | 'strays'
>;

/** A session's first process, from its start until no process of its tree is left. */
export class FirstProcess {
  readonly leader: ProcessRef;
  readonly startedAt = new Date().toISOString();
  private readonly closed: Promise<unknown>;
  private exceeded: Exceeded | undefined;

  private constructor(
    private readonly sessionId: string,
    private readonly running: RunningProcess,
    private readonly oomKillsBefore: number | undefined,
    private readonly sandbox: SandboxLaunch | undefined,
  ) {
    this.leader = running.leader;
    this.closed = new Promise((resolve) => running.child.once('close', resolve));
  }

  /**
   * @param coming its program, for which a sandbox waits when it is made
   * @throws SpawnError, and the error of `coming`
   */
  static async start(
    launch: Launch,
    coming: SessionProgram | Promise<SessionProgram>,
  ): Promise<FirstProcess> {
    const { sessionId, stdin, openInput, sandbox } = launch;
    const oomKillsBefore = countOomKills();
    // A sandbox that cannot be made does not wait for it.
    Promise.resolve(coming).catch(() => undefined);
    const running = await (sandbox === undefined
      ? startHere(launch, await coming)
      : startInside(launch, sandbox, coming));
    const { child } = running;
    child.on('error', () => undefined);
    // A process can ignore its input.
    child.stdin?.on('error', () => undefined);
    if (openInput !== true) child.stdin?.end(stdin);
    return new FirstProcess(sessionId, running, oomKillsBefore, sandbox);
  }

  /** The open input of the launch. */
  get input(): Writable | undefined {
    return this.running.child.stdin ?? undefined;
  }

  /** Reads its output, and ends the processes that outlive it. Call it at once. Never rejects. */
  async follow(
    folder: SessionFolder,
    output: OutputSink,
    throttle: Throttle,
  ): Promise<ProcessExit> {
    const { child, exited, release, onNote } = this.running;
    const { stdout, stderr } = child as { stdout: Readable; stderr: Readable };
    const forward = (stream: 'stdout' | 'stderr') => (chunk: Buffer) => {
      folder.noteActivity();
      output.write(stream, chunk);
    };
    onNote?.((note) => output.note(note));
    throttle.read(stdout, forward('stdout'));
    throttle.read(stderr, forward('stderr'));
    const watch = this.watchLimits(folder);
    const exit = await exited;
    const oomKilled = this.wasOomKilled(exit);
    const tree = { id: this.sessionId, leader: this.leader, groupIsOurs: true };
    const strays = await endStrays(tree);
    release();
    await streamsEnd(this.closed, [stdout, stderr]);
    stdout.destroy();
    stderr.destroy();
    output.end();
    watch?.stop();
    if (this.sandbox?.groups !== undefined) await removeGroups(this.sandbox.groups);
    const because = exit.exitCode === 0 ? {} : await this.limitsMet(folder, { ...exit, oomKilled });
    return { ...exit, oomKilled, ...because, ...(strays.found > 0 && { strays }) };
  }

  private async limitsMet({ root }: SessionFolder, exit: Parameters<typeof wasKilledForMemory>[0]) {
    const { groups, limits } = this.sandbox ?? {};
    // The group has this limit and no other processes.
    const isOfGroup = groups?.memory !== undefined && wasKilledForMemory(exit);
    if (isOfGroup && limits !== undefined && limits.memoryMb > 0) {
      this.exceeded ??= { limit: 'memory', mb: limits.memoryMb };
    }
    const quota = this.sandbox?.quota;
    const folderFull = quota !== undefined && (await isFolderFull(quota, root));
    return { exceeded: this.exceeded, ...(folderFull && { folderFull }) };
  }

  /** Ends a session that exceeds a limit at once: a grace period would let it take more. */
  private watchLimits({ root }: SessionFolder): LimitWatch | undefined {
    if (this.sandbox === undefined) return undefined;
    const { child, release } = this.running;
    const { limits, groups, quota } = this.sandbox;
    const { memoryMb } = limits;
    // The kernel enforces a quota.
    const diskMb = quota === undefined ? limits.diskMb : 0;
    const pid = child.pid as number;
    const memoryGroup = groups?.memory;
    const watch = new LimitWatch({ pid, root, limits: { memoryMb, diskMb }, memoryGroup });
    void watch.run().then((exceeded) => {
      if (exceeded === undefined) return;
      this.exceeded = exceeded;
      // The sandbox ends with the process that made it, whatever its first process does.
      child.kill('SIGKILL');
      release();
    });
    return watch;
  }

  private wasOomKilled(exit: Parameters<typeof wasOomKilled>[0]): boolean | null {
    const groups = this.sandbox?.groups;
    const inGroup = groups === undefined ? undefined : oomKillsIn(groups.memory);
    if (inGroup !== undefined) return wasOomKilled(exit, 0, inGroup);
    return wasOomKilled(exit, this.oomKillsBefore, countOomKills());
  }
}

async function startHere(
  { cwd, stdin, openInput, user }: Launch,
  { program, command, env }: SessionProgram,
): Promise<RunningProcess> {
  const [argv0, ...args] = command;
  try {
    const child = spawn(program, args, {
      argv0,
      ...user,
      cwd,
      env,
      // Its own process group and session, so that a signal reaches all of it.
      detached: true,
      stdio: [stdin === undefined && openInput !== true ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    });
    await once(child, 'spawn');
    return { child, leader: refOf(child), exited: exitOf(child), release: () => undefined };
  } catch (error) {
    throw explainSpawnFailure(argv0, error);
  }
}

// A process that has ended already has no start time any more, and nobody needs it.
function refOf(child: ChildProcess): ProcessRef {
  const pid = child.pid as number;
  return { pid, startTicks: readProcess(pid)?.startTicks ?? 0 };
}

/**
 * @returns null if the kernel does not count
 */
function wasOomKilled(
  exit: Pick<ProcessExit, 'exitCode' | 'signal'>,
  before?: number,
  after?: number,
): boolean | null {
  if (exit.signal !== 'SIGKILL' && exit.exitCode !== 137) return false;
  return before === undefined || after === undefined ? null : after > before;
}

/** The first process was killed, and so the kernel did not only kill another one of its session. */
function wasKilledForMemory({
  exitCode,
  signal,
  oomKilled,
}: Pick<ProcessExit, 'exitCode' | 'signal' | 'oomKilled'>): boolean {
  return oomKilled === true && (signal === 'SIGKILL' || exitCode === 137);
}
