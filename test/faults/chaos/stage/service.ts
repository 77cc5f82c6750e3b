import { rm } from 'node:fs/promises';
import type { Supervisor } from '#lib/local-servers';
import { Child, type ChildSpec } from '../../../../tools/shared/children.js';

const AGAIN_AFTER_MS = 300;

/** A built program that is restarted whenever it ends by itself, as a process manager does. */
export class Service {
  /** The last output of processes that ended by themselves. */
  readonly crashes: string[] = [];
  private child: Child | undefined;
  private wanted = false;
  private paused = false;

  constructor(
    private readonly supervisor: Supervisor,
    private readonly spec: ChildSpec,
    private readonly readyMessage: string,
    /** The folder for its state between processes, if it has any. */
    private readonly dataDir?: string,
  ) {}

  get name(): string {
    return this.spec.name;
  }

  /** Resolves when the program runs. It may not be ready yet. */
  async start(): Promise<void> {
    this.wanted = true;
    const child = await Child.start(this.supervisor, this.spec);
    this.child = child;
    void child.exited.then((exit) => {
      if (this.child !== child || !this.wanted) return;
      this.crashes.push(child.lastWords(exit));
      setTimeout(() => {
        if (this.wanted && this.child === child) void this.start().catch(() => undefined);
      }, AGAIN_AFTER_MS).unref();
    });
  }

  /** Returns the ready message of the current process. */
  async ready(): Promise<Record<string, unknown>> {
    return this.running.ready(({ message }) => message === this.readyMessage);
  }

  async kill(): Promise<void> {
    this.wanted = false;
    const child = this.running;
    this.signal('SIGKILL');
    await child.exited;
  }

  /** The state is lost, too: the next process has a new identity. */
  async lose(): Promise<void> {
    await this.kill();
    if (this.dataDir) await rm(this.dataDir, { recursive: true, force: true, maxRetries: 20 });
  }

  /** Sends SIGTERM and waits for the program's end. */
  async stop(): Promise<void> {
    this.wanted = false;
    this.resume();
    await this.child?.stop();
  }

  pause(): void {
    this.paused = true;
    this.signal('SIGSTOP');
  }

  /** Resuming is harmless if nothing was paused. */
  resume(): void {
    if (!this.paused) return;
    this.paused = false;
    this.signal('SIGCONT');
  }

  private signal(signal: NodeJS.Signals): void {
    try {
      process.kill(this.running.pid, signal);
    } catch {
      // The process has just ended by itself.
    }
  }

  private get running(): Child {
    if (this.child === undefined) throw new Error(`${this.spec.name} was never started`);
    return this.child;
  }
}
