import { withAnySignal } from '#lib/kernel';
import { askedWaitMs, isCurable } from './errors.js';
import type { HostLog } from '../machine/log.js';
import { Failures, pause } from './retry.js';

/** The reports that the server does not have yet. Their owner stores them. */
export interface Reports<T> {
  /** The next reports to send, in their order: as many as fit into one request. */
  next(): T[];
  /**
   * @throws the errors of DroverClient's methods
   */
  send(reports: T[]): Promise<void>;
  /** The server has these reports: the owner forgets them. */
  forget(reports: T[]): void;
  /**
   * The server refuses this report and always will: the owner forgets it, or keeps it for later.
   */
  settleRefused(report: T, error: unknown): void;
}

export interface OutboxOptions {
  /** The name of these reports in the log. */
  what: string;
  log: HostLog;
  /** The time in which reports gather into one request; `count` reports do not wait. */
  gather?: { ms: number; count: number };
  /** True if the server never accepts the same reports, however long they wait. */
  isRefusal?: (error: unknown) => boolean;
}

/** The reason why an outbox pauses. */
type Wait = 'gathering' | 'retrying' | 'asked to wait';

interface Waiter {
  isDone: () => boolean;
  resolve: () => void;
}

/**
 * Sends reports in their order until the server has them, over outages of any length. The server
 * accepts all of a request or nothing. The outbox halves a refused request until the refused report
 * is alone, so that it delays no other.
 */
export class Outbox<T> {
  private state: 'idle' | 'sending' | 'stopped' = 'idle';
  private wait: { why: Wait; end: AbortController } | undefined;
  private waiters: Waiter[] = [];
  private readonly failures: Failures;

  constructor(
    private readonly reports: Reports<T>,
    private readonly options: OutboxOptions,
  ) {
    this.failures = new Failures(options.what, options.log);
  }

  /** New reports exist. Neither fails nor waits. */
  wake(): void {
    if (this.state === 'idle') void this.sendAll();
  }

  /**
   * The server answers other calls, so an outage is over. A wait that the server asked for
   * continues.
   */
  retryNow(): void {
    this.endWait('retrying');
  }

  /**
   * Resolves when all reports are sent that can be sent, or `isDone`; at once if `giveUp` is
   * aborted.
   */
  async flush(giveUp: AbortSignal, isDone = () => this.reports.next().length === 0): Promise<void> {
    await withAnySignal([giveUp], async (signal) => {
      if (signal.aborted || this.state === 'stopped' || isDone()) return;
      await new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => resolve());
        this.waiters.push({ isDone, resolve });
        this.endWait('gathering');
        this.wake();
      });
    });
  }

  /** Ends sending for good. */
  stop(): void {
    this.state = 'stopped';
    this.endWait('gathering', 'retrying', 'asked to wait');
    for (const { resolve } of this.waiters.splice(0)) resolve();
  }

  private async sendAll(): Promise<void> {
    this.state = 'sending';
    while (this.isSending() && this.reports.next().length > 0) {
      await this.gather();
      if (!this.isSending()) return;
      try {
        await this.send(this.reports.next());
        this.failures.end();
      } catch (error) {
        const why = askedWaitMs(error) === undefined ? 'retrying' : 'asked to wait';
        await this.pause(why, this.failures.add(error));
      }
      this.resolveWaiters();
    }
    if (this.isSending()) this.state = 'idle';
    this.resolveWaiters();
  }

  private async gather(): Promise<void> {
    const { gather } = this.options;
    if (gather === undefined || this.waiters.length > 0) return;
    if (this.reports.next().length < gather.count) await this.pause('gathering', gather.ms);
  }

  private async send(batch: T[]): Promise<void> {
    if (batch.length === 0) return;
    try {
      await this.reports.send(batch);
    } catch (error) {
      return this.divide(batch, error);
    }
    this.reports.forget(batch);
  }

  private async divide(batch: T[], error: unknown): Promise<void> {
    const { isRefusal = (one: unknown) => !isCurable(one) } = this.options;
    if (!isRefusal(error)) throw error;
    const [first, ...others] = batch;
    if (first !== undefined && others.length === 0) return this.reports.settleRefused(first, error);
    const half = batch.length >> 1;
    await this.send(batch.slice(0, half));
    await this.send(batch.slice(half));
  }

  private resolveWaiters(): void {
    const done = this.waiters.filter(({ isDone }) => isDone());
    this.waiters = this.waiters.filter((waiter) => !done.includes(waiter));
    for (const { resolve } of done) resolve();
  }

  private async pause(why: Wait, ms: number): Promise<void> {
    const end = new AbortController();
    this.wait = { why, end };
    await pause(ms, end.signal);
    this.wait = undefined;
  }

  private endWait(...whys: Wait[]): void {
    if (this.wait !== undefined && whys.includes(this.wait.why)) this.wait.end.abort();
  }

  private isSending(): boolean {
    return this.state === 'sending';
  }
}
