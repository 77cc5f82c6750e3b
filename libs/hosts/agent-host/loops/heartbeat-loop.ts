import { BackgroundLoop } from '#lib/kernel';
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
  private readonly loop = new BackgroundLoop(
    () => this.send(),
    (error) => this.afterFailure(error),
  );
  private readonly failures: Failures;
  private begun = 0;
  private waiting: (() => void)[] = [];

  constructor(private readonly options: HeartbeatOptions<T>) {
    this.failures = new Failures('heartbeat', options.log);
  }

  start(): void {
    this.loop.start();
  }

  /** Resolves when a heartbeat composed after this call is answered or has failed. */
  async sendNow(): Promise<void> {
    const sent = new Promise<void>((resolve) => this.waiting.push(resolve));
    this.loop.nudge();
    await sent;
  }

  /** Resolves when the running heartbeat has ended. */
  stop(): Promise<void> {
    return this.loop.stop();
  }

  private async send(): Promise<number> {
    const { log, intervalMs, send, onAnswer } = this.options;
    this.begun = performance.now();
    const waiting = this.waiting.splice(0);
    try {
      const answer = await send();
      if (this.server !== 'reachable') log.info('Heartbeats accepted by the server');
      this.server = 'reachable';
      this.failures.end();
      onAnswer(answer);
      return this.untilNext(intervalMs);
    } finally {
      for (const resolve of waiting) resolve();
    }
  }

  private afterFailure(error: unknown): number {
    const { intervalMs, onFailure } = this.options;
    onFailure(error);
    this.server = isUnauthenticated(error) ? 'refused' : 'unreachable';
    return this.untilNext(Math.min(intervalMs, this.failures.add(error)));
  }

  /** @param intervalMs from the beginning of the last heartbeat */
  private untilNext(intervalMs: number): number {
    return this.begun + intervalMs - performance.now();
  }
}
