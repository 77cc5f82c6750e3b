import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { ProcessRef } from './process-tree.js';
import { SMALL_HEAP } from './start-shim.js';

/** Its second process. */
export const SUPERVISOR = fileURLToPath(import.meta.resolve('#program/supervisor'));
const RESTART_AFTER_MS = 1_000;

/**
 * Makes sure that the processes of sessions die together with this process, even after SIGKILL: a
 * second process holds the other end of a pipe and kills them when the pipe breaks.
 */
export class Supervisor {
  private readonly watched = new Map<string, ProcessRef | undefined>();
  private child: ChildProcess | undefined;
  private restart: NodeJS.Timeout | undefined;
  private closed = false;

  constructor(private readonly warn: (message: string) => void = () => undefined) {}

  /** False while the second process is gone. It starts with the first session. */
  get healthy(): boolean {
    if (this.child === undefined) return true;
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Call it before the session's first process starts, and again with that process. */
  watch(sessionId: string, leader?: ProcessRef): void {
    if (this.child === undefined) this.start();
    this.watched.set(sessionId, leader);
    this.send({ watch: { sessionId, leader } });
  }

  /** Call it when no process of the session is left. */
  forget(sessionId: string): void {
    this.watched.delete(sessionId);
    this.send({ forget: sessionId });
  }

  /** Ends the second process, and every session that it still watches. */
  close(): void {
    this.closed = true;
    clearTimeout(this.restart);
    this.child?.stdin?.end();
    this.child?.unref();
  }

  private start(): void {
    const child = spawn(process.execPath, [...SMALL_HEAP, SUPERVISOR], {
      cwd: '/',
      env: {},
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    this.child = child;
    // Without a listener a broken pipe would end the host. The exit below handles it.
    child.stdin.on('error', () => undefined);
    child.on('error', () => this.replace());
    child.on('exit', () => this.replace());
    for (const [sessionId, leader] of this.watched) this.send({ watch: { sessionId, leader } });
  }

  private send(order: object): void {
    // A write to a pipe with room reaches the kernel before this returns. An order before the start
    // of a process is therefore obeyed, even if this process is killed right after.
    this.child?.stdin?.write(`${JSON.stringify(order)}\n`);
  }

  private replace(): void {
    if (this.closed || this.restart !== undefined) return;
    this.warn('Supervisor of sessions ended; restarting it');
    this.restart = setTimeout(() => {
      this.restart = undefined;
      this.start();
    }, RESTART_AFTER_MS);
  }
}
