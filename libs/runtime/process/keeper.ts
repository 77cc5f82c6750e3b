import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { OutputTail } from '../output/output-tail.js';
import { Redactor } from '../output/redactor.js';
import { Throttle } from '../output/throttle.js';
import { MAX_OUTPUT_BYTES } from '../runtime.js';
import { endStrays } from './end-strays.js';
import type { KeeperAnswer, KeeperOrder } from './keeper-order.js';
import { countOomKills } from './oom-evidence.js';
import { type ProcessRef, type ProcessTree, readProcess } from './process-tree.js';
import {
  type Ended,
  type NotStarted,
  ownRef,
  SessionFolder,
  type Started,
} from './session-folder.js';
import { explainSpawnFailure } from './spawn-failure.js';

const MAX_BYTES_PER_SECOND = 8 * 1024 * 1024;
/** How long the streams may stay open once every process that was found is gone. */
const STREAM_END_MS = 1_000;
const ACTIVITY_EVERY_MS = 1_000;
/** A full disk may be emptied: how often, and for how long, to try to write down the end. */
const WRITE_AGAIN_MS = 1_000;
const WRITE_ATTEMPTS = 60;

/** Starts one session and follows it to its end. */
export class Keeper {
  private readonly folder: SessionFolder;
  private readonly tail: OutputTail;
  private activeAt = 0;

  constructor(
    private readonly order: KeeperOrder,
    private readonly answer: (answer: KeeperAnswer) => void,
  ) {
    this.folder = new SessionFolder(order.root, order.launch);
    this.tail = new OutputTail(new Redactor(order.secrets), MAX_OUTPUT_BYTES);
  }

  async keep(): Promise<void> {
    if (!this.folder.claim(ownRef())) return this.answer({ kind: 'refused' });
    const oomKillsBefore = countOomKills();
    const child = await this.start();
    if ('kind' in child) {
      await this.conclude(child);
      return this.answer(child);
    }
    const exited = exitOf(child);
    const closed = new Promise((resolve) => child.once('close', resolve));
    const leader = refOf(child);
    this.tell({ leader, startedAt: new Date().toISOString() });
    this.listen(child);
    const exit = await exited;
    const oomKilled = wasOomKilled(exit, oomKillsBefore, countOomKills());
    await this.cleanUp({ id: this.order.sessionId, leader, groupIsOurs: true }, child, closed);
    const output = this.tail.end();
    await this.conclude({
      kind: 'exited',
      ...exit,
      oomKilled,
      output,
      endedAt: new Date().toISOString(),
    });
  }

  private async start(): Promise<ChildProcess | NotStarted> {
    const { program, command, env, user } = this.order;
    const [name, ...args] = command;
    try {
      const child = spawn(program, args, {
        argv0: name,
        ...user,
        cwd: this.folder.work,
        env,
        // A process group and session of its own, so that all of it can be signalled.
        detached: true,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      await once(child, 'spawn');
      child.on('error', () => undefined);
      return child;
    } catch (error) {
      return { kind: 'failed', ...explainSpawnFailure(name, error) };
    }
  }

  private tell(started: Started): void {
    try {
      this.folder.writeStarted(started);
    } catch {
      // The disk is full, or the folder was removed: by its mark the session is found all the same.
    }
    this.answer({ kind: 'started', ...started });
  }

  private listen(child: ChildProcess): void {
    const throttle = new Throttle(MAX_BYTES_PER_SECOND);
    const onData = (): void => this.noteActivity();
    this.tail.read(child.stdout as Readable, throttle, onData);
    this.tail.read(child.stderr as Readable, throttle, onData);
  }

  private noteActivity(): void {
    const now = performance.now();
    if (this.activeAt !== 0 && now - this.activeAt < ACTIVITY_EVERY_MS) return;
    this.activeAt = now;
    try {
      this.folder.touch();
    } catch {
      // It is told to whoever asks, and decides nothing.
    }
  }

  private async cleanUp(tree: ProcessTree, child: ChildProcess, closed: Promise<unknown>) {
    await endStrays(tree);
    await Promise.race([closed, delay(STREAM_END_MS)]);
    child.stdout?.destroy();
    child.stderr?.destroy();
  }

  private async conclude(ended: Ended): Promise<void> {
    for (let attempt = 1; attempt <= WRITE_ATTEMPTS; attempt += 1) {
      try {
        this.folder.writeEnded(ended);
        return;
      } catch (error) {
        // The folder was removed: nobody wants to know.
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
        await delay(WRITE_AGAIN_MS);
      }
    }
  }
}

interface Exit {
  exitCode: number | null;
  signal: string | null;
}

function exitOf(child: ChildProcess): Promise<Exit> {
  return new Promise((resolve) => {
    child.once('exit', (exitCode, signal) => resolve({ exitCode, signal }));
  });
}

// A process that is over already can't be told apart any more, and need not be.
function refOf(child: ChildProcess): ProcessRef {
  const pid = child.pid as number;
  return { pid, startTicks: readProcess(pid)?.startTicks ?? 0 };
}

/** @returns null where the kernel does not count */
function wasOomKilled(exit: Exit, before?: number, after?: number): boolean | null {
  if (exit.signal !== 'SIGKILL' && exit.exitCode !== 137) return false;
  return before === undefined || after === undefined ? null : after > before;
}
