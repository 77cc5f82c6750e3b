import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { ProcessRef } from '#lib/runtime';
import type { Log } from '../../log.js';

const SCRIPT = fileURLToPath(new URL('./warden-process.js', import.meta.url));
/** It holds a few lines of state: a small heap keeps it small beside the worker. */
const NODE_FLAGS = ['--max-old-space-size=32', '--max-semi-space-size=1'];
const RESTART_AFTER_MS = 1_000;

/**
 * Makes sure that the processes of runs die at once when this process does, even by SIGKILL: a
 * second process holds the other end of a pipe and kills them when the pipe breaks.
 */
export class Warden {
  private readonly watched = new Map<string, ProcessRef | undefined>();
  private child: ChildProcess | undefined;
  private restart: NodeJS.Timeout | undefined;
  private closed = false;

  constructor(
    private readonly log: Log,
    private readonly script = SCRIPT,
  ) {}

  /** Starts the second process; it is started again should it end. */
  start(): void {
    const child = spawn(process.execPath, [...NODE_FLAGS, this.script], {
      cwd: '/',
      env: {},
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    this.child = child;
    // Without a listener a broken pipe would end the worker; the exit below tells all there is.
    child.stdin?.on('error', () => undefined);
    child.on('error', () => this.replace());
    child.on('exit', () => this.replace());
    for (const [runId, leader] of this.watched) this.tell({ watch: { runId, leader } });
  }

  get running(): boolean {
    return this.child?.exitCode === null && this.child.signalCode === null;
  }

  get pid(): number | undefined {
    return this.child?.pid;
  }

  /** Call it before the run's first process starts, and again with that process. */
  watch(runId: string, leader?: ProcessRef): void {
    this.watched.set(runId, leader);
    this.tell({ watch: { runId, leader } });
  }

  /** Call it when nothing of the run is left. */
  forget(runId: string): void {
    this.watched.delete(runId);
    this.tell({ forget: runId });
  }

  /** Ends the second process, and with it whatever is still watched. */
  close(): void {
    this.closed = true;
    clearTimeout(this.restart);
    this.child?.stdin?.end();
    this.child?.unref();
  }

  private tell(order: object): void {
    // A write to a pipe with room reaches the kernel before this returns, so an order given before
    // a process starts is obeyed even if this process is killed right after.
    this.child?.stdin?.write(`${JSON.stringify(order)}\n`);
  }

  private replace(): void {
    if (this.closed || this.restart !== undefined) return;
    this.log.warn(
      'The process that guards runs against a crash of this worker ended; restarting it',
    );
    this.restart = setTimeout(() => {
      this.restart = undefined;
      this.start();
    }, RESTART_AFTER_MS);
  }
}
