import { Doorbell } from '#lib/kernel';
import { isUnauthenticated } from '../client/errors.js';
import type { HostLog } from '../machine/log.js';
import { Failures } from '../client/retry.js';

/**
 * The result of the last heartbeat. `refused`: the server answers, and does not accept the token.
 */
export type ServerState = 'reachable' | 'unreachable' | 'refused';

export interface HeartbeatOptions<T> {
  log: HostLog;
  intervalMs: number;
  /** Composes a heartbeat and sends it. */
  send: () => Promise<T>;
  onAnswer: (answer: T) => void;
  onFailure: (error: unknown) => void;
}

/**
 * Reports to the server at an interval that the host is alive, and its sessions. After a failure it
 * tries sooner, so that it notices the end of an outage at once.
 */
export class HeartbeatLoop<T> {
  /** Undefined before the first heartbeat. */
  server: ServerState | undefined;
  private readonly bell = new Doorbell();
  private readonly failures: Failures;
  private stopped = false;
  private waiting: (() => void)[] = [];

  constructor(private readonly options: HeartbeatOptions<T>) {
    this.failures = new Failures('heartbeat', options.log);
  }

  async run(): Promise<void> {
    while (!this.stopped) {
      const begun = performance.now();
      const interval = await this.send();
      await this.bell.wait(Math.max(0, begun + interval - performance.now()));
    }
  }

  /** Resolves when a heartbeat composed after this call is answered or has failed. */
  async sendNow(): Promise<void> {
    const sent = new Promise<void>((resolve) => this.waiting.push(resolve));
    this.bell.ring();
    await sent;
  }

  stop(): void {
    this.stopped = true;
    this.bell.ring();
  }

  /**
   * @returns the milliseconds from the start of this heartbeat to the next one
   */
  private async send(): Promise<number> {
    const { log, intervalMs, send, onAnswer, onFailure } = this.options;
    const waiting = this.waiting.splice(0);
    try {
      const answer = await send();
      if (this.server !== 'reachable') log.info('Heartbeats accepted by the server');
      this.server = 'reachable';
      this.failures.end();
      onAnswer(answer);
      return intervalMs;
    } catch (error) {
      onFailure(error);
      this.server = isUnauthenticated(error) ? 'refused' : 'unreachable';
      return Math.min(intervalMs, this.failures.add(error));
    } finally {
      for (const resolve of waiting) resolve();
    }
  }
}
