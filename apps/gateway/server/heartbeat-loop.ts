import { Doorbell } from '#lib/kernel';
import type { Logger } from '#lib/observability';
import { logFailure, waitBefore } from './repeat.js';
import { type BeatAnswer, type ServerClient, TokenRefused } from './server-client.js';

/** What became of the last beat. `refused`: somebody answers, and does not know the gateway's token. */
export type ServerState = 'reachable' | 'unreachable' | 'refused';

export interface HeartbeatOptions {
  client: Pick<ServerClient, 'beat'>;
  logger: Logger;
  intervalMs: number;
  compose: () => object;
  onAnswer: (answer: BeatAnswer) => void;
}

const WHY_REFUSED = 'GATEWAY_SECRET must be the same at both, and their clocks must agree';

/** Tells the server, again and again, that the gateway lives and which sessions it has. */
export class HeartbeatLoop {
  private readonly bell = new Doorbell();
  private stopped = false;
  private failures = 0;
  private waiting: (() => void)[] = [];

  constructor(private readonly options: HeartbeatOptions) {}

  /** Undefined before the first beat. */
  server: ServerState | undefined;

  async run(): Promise<void> {
    while (!this.stopped) await this.bell.wait(await this.beat());
  }

  /** Beats now: something is new that should not wait. */
  soon(): void {
    this.bell.ring();
  }

  /** Resolves when a beat that was composed after this call has been answered, or has failed. */
  async told(): Promise<void> {
    const told = new Promise<void>((resolve) => this.waiting.push(resolve));
    this.soon();
    await told;
  }

  stop(): void {
    this.stopped = true;
    this.bell.ring();
  }

  /** @returns milliseconds to the next beat */
  private async beat(): Promise<number> {
    const { client, logger, intervalMs, compose, onAnswer } = this.options;
    const waiting = this.waiting.splice(0);
    try {
      const answer = await client.beat(compose());
      if (this.server !== 'reachable') logger.info('the server takes heartbeats');
      this.server = 'reachable';
      this.failures = 0;
      onAnswer(answer);
      return intervalMs;
    } catch (error) {
      const refused = error instanceof TokenRefused;
      if (refused && this.server !== 'refused') {
        logger.error('the server refuses this gateway’s token', { why: WHY_REFUSED });
      }
      this.server = refused ? 'refused' : 'unreachable';
      this.failures += 1;
      logFailure(logger, 'heartbeat', this.failures, error);
      return Math.min(intervalMs, waitBefore(this.failures, error));
    } finally {
      for (const resolve of waiting) resolve();
    }
  }
}
