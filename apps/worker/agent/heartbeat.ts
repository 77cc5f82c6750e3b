import type { DroverApi } from '../api/drover-api.js';
import { hasCode, isTransient, isUnauthenticated } from '../api/errors.js';
import { RETRY_BACKOFF, logFailure, pause, waitBefore } from '../api/retry.js';
import type { Heartbeat } from '../api/types.js';
import { type Log, messageOf } from '../log.js';

/** How long a token may be refused, while it is looked for a new one, before the worker gives up. */
const GIVE_UP_REFUSED_MS = 60_000;

export interface HeartbeatOptions {
  api: DroverApi;
  log: Log;
  intervalMs: number;
  /** What the next beat says. */
  compose: () => Heartbeat;
  /** The server has terminated the agent. */
  onTerminated: () => void;
  /** The worker can't go on; a sentence for who runs it. */
  onFatal: (message: string) => void;
}

/** Beats until it is stopped; after a failure sooner, so that an outage's end is noticed at once. */
export class HeartbeatLoop {
  private readonly stopped = new AbortController();
  private refusedSince: number | undefined;

  constructor(private readonly options: HeartbeatOptions) {}

  async run(): Promise<void> {
    const { signal } = this.stopped;
    let failures = 0;
    while (!signal.aborted) {
      const began = performance.now();
      const error = await this.beat();
      if (error === undefined) {
        failures = 0;
        await pause(this.options.intervalMs - (performance.now() - began), signal);
      } else {
        failures += 1;
        logFailure(this.options.log, 'Heartbeat', failures, error);
        await pause(waitBefore(RETRY_BACKOFF, failures - 1, error), signal);
      }
    }
  }

  stop(): void {
    this.stopped.abort();
  }

  private async beat(): Promise<unknown> {
    const { api, compose } = this.options;
    try {
      await api.beat(compose());
      this.refusedSince = undefined;
      return undefined;
    } catch (error) {
      this.judge(error);
      return error;
    }
  }

  private judge(error: unknown): void {
    const { onTerminated, onFatal } = this.options;
    if (hasCode(error, 'agent_terminated')) {
      this.stop();
      onTerminated();
    } else if (isUnauthenticated(error)) {
      this.refusedSince ??= performance.now();
      if (performance.now() - this.refusedSince < GIVE_UP_REFUSED_MS) return;
      onFatal(`The server does not accept the agent token any more: ${messageOf(error)}`);
    } else if (hasCode(error, 'agent_not_found', 'forbidden', 'insufficient_scope')) {
      onFatal(`The server refuses this agent's heartbeats: ${messageOf(error)}`);
    } else if (!isTransient(error)) {
      this.options.log.error('The server refused a heartbeat', { error: messageOf(error) });
    }
  }
}
