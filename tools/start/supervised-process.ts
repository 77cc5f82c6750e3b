import type { Supervisor } from '#lib/local-servers';
import { Child, type ChildSpec, type Exit } from '../shared/children.js';
import { FINISH_SIGNAL } from './workers.js';

const BACKOFF = { firstMs: 500, mostMs: 30_000 };
/** A process that has lived for this time restarts with the shortest wait. */
const HEALTHY_MS = 60_000;

/** Starts a program, and restarts it if it ends without a request. */
export class SupervisedProcess {
  private child: Child | undefined;
  private stopped = false;
  private renewed = false;
  private waitMs = BACKOFF.firstMs;
  private wake: (() => void) | undefined;
  private kept: Promise<void> = Promise.resolve();

  constructor(
    private readonly supervisor: Supervisor,
    private readonly spec: ChildSpec,
    private readonly tell: (line: string) => void,
    /** Receives each new process. */
    private readonly onStart: (name: string, pid: number) => void,
  ) {}

  /**
   * Starts it for the first time, and restarts it from then on.
   *
   * @throws Sentence if it ends before it was ready
   */
  async start(isReady: (message: Record<string, unknown>) => boolean): Promise<void> {
    const child = await this.begin();
    await child.ready(isReady);
    this.kept = this.keep(child);
  }

  /** Asks it to end after its work under way, and waits for that, however long. */
  async finish(): Promise<void> {
    this.stopped = true;
    this.wake?.();
    this.child?.signal(FINISH_SIGNAL);
    await this.kept;
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.wake?.();
    await this.child?.stop();
    await this.kept;
  }

  /** Ends the program like `stop`, and starts the current build in its place at once. */
  async renew(): Promise<void> {
    if (this.stopped) return;
    this.renewed = true;
    this.wake?.();
    await this.child?.stop();
  }

  private async keep(first: Child): Promise<void> {
    for (let child = first; ;) {
      const began = performance.now();
      const exit = await child.exited;
      if (this.stopped) return;
      if (!this.renewed) await this.rest(child, exit, performance.now() - began);
      if (this.stopped) return;
      this.renewed = false;
      child = await this.begin();
      // The request came during the start: the process may have read a mix of old and new files, or
      // may have to stop.
      if (this.renewed || this.stopped) void child.stop();
    }
  }

  private async begin(): Promise<Child> {
    const child = await Child.start(this.supervisor, this.spec);
    this.child = child;
    this.onStart(this.spec.name, child.pid);
    return child;
  }

  private async rest(child: Child, exit: Exit, livedMs: number): Promise<void> {
    if (livedMs > HEALTHY_MS) this.waitMs = BACKOFF.firstMs;
    const seconds = this.waitMs / 1000;
    this.tell(
      `${this.spec.name} ended, and is started again in ${seconds} s: ${child.lastWords(exit)}`,
    );
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, this.waitMs);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.waitMs = Math.min(BACKOFF.mostMs, this.waitMs * 2);
  }
}
