import { Doorbell } from '#lib/kernel';
import type { Logger } from '#lib/observability';
import { logFailure, pause, waitBefore } from './repeat.js';
import type { ServerClient, SignalAnswer } from './server-client.js';

const POLL_MS = 25_000;
/** Changes of what runs gather this long, so that short sessions do not cost a request each. */
const GATHER_MS = 250;
/** An answer that came at once and said nothing must not be asked for at once again. */
const AT_LEAST_MS = 500;
const LOOK_EVERY_MS = 30_000;

export interface SignalOptions {
  client: Pick<ServerClient, 'signals'>;
  logger: Logger;
  gatewayId: string;
  /** Those that have not been asked to end yet: it is told again and again until they have ended. */
  runIds: () => string[];
  onSignals: (runs: SignalAnswer['runs']) => void;
}

/** Listens for what the server wants of the sessions here: one long poll at all times. */
export class SignalLoop {
  private readonly stopped = new AbortController();
  private readonly bell = new Doorbell();
  private poll = new AbortController();
  private changed: NodeJS.Timeout | undefined;
  private asked: string[] = [];

  constructor(private readonly options: SignalOptions) {}

  async run(): Promise<void> {
    let failures = 0;
    while (!this.stopped.signal.aborted) {
      this.asked = this.options.runIds();
      if (this.asked.length === 0) {
        await this.bell.wait(LOOK_EVERY_MS);
        continue;
      }
      this.poll = new AbortController();
      const error = await this.once();
      if (error === undefined || this.poll.signal.aborted) {
        failures = 0;
        continue;
      }
      failures += 1;
      logFailure(this.options.logger, 'signals', failures, error);
      await pause(waitBefore(failures, error), this.stopped.signal);
    }
  }

  /** Other sessions run now than the poll under way asks for. */
  notice(): void {
    this.changed ??= setTimeout(() => {
      this.changed = undefined;
      if (differ(this.asked, this.options.runIds())) this.poll.abort();
      this.bell.ring();
    }, GATHER_MS);
  }

  stop(): void {
    clearTimeout(this.changed);
    this.stopped.abort();
    this.poll.abort();
    this.bell.ring();
  }

  private async once(): Promise<unknown> {
    const { client, gatewayId, onSignals } = this.options;
    const begun = performance.now();
    try {
      const body = { gatewayId, runIds: this.asked, waitMs: POLL_MS };
      const { runs } = await client.signals(body, this.poll.signal);
      onSignals(runs);
      await pause(begun + AT_LEAST_MS - performance.now(), this.stopped.signal);
      return undefined;
    } catch (error) {
      return error;
    }
  }
}

function differ(before: readonly string[], now: readonly string[]): boolean {
  return before.length !== now.length || now.some((id) => !before.includes(id));
}
