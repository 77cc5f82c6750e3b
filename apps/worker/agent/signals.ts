import type { DroverApi, Signals } from '../api/drover-api.js';
import { RETRY_BACKOFF, logFailure, pause, waitBefore } from '../api/retry.js';
import type { Log } from '../log.js';

const POLL_MS = 25_000;
/** Changes of what is held gather this long, so that short runs do not cost a request each. */
const GATHER_MS = 250;
/** How long to wait when something was told; a cancellation must still be heard within a second. */
const TOLD_MS = 700;

export interface SignalOptions {
  api: DroverApi;
  log: Log;
  runIds: () => string[];
  onSignals: (signals: Signals) => void;
}

/** Listens for what the server wants of the runs held here: one long poll at all times. */
export class SignalLoop {
  private readonly stopped = new AbortController();
  private poll = new AbortController();
  private changed: NodeJS.Timeout | undefined;
  private asked: string[] = [];

  constructor(private readonly options: SignalOptions) {}

  async run(): Promise<void> {
    let failures = 0;
    while (!this.stopped.signal.aborted) {
      this.poll = new AbortController();
      const error = await this.once();
      if (error === undefined || this.poll.signal.aborted) {
        failures = 0;
        continue;
      }
      failures += 1;
      logFailure(this.options.log, 'Listening for signals', failures, error);
      await pause(waitBefore(RETRY_BACKOFF, failures - 1, error), this.stopped.signal);
    }
  }

  /** Other runs are held now than the poll under way asks for. */
  notice(): void {
    this.changed ??= setTimeout(() => {
      this.changed = undefined;
      if (differ(this.asked, this.options.runIds())) this.poll.abort();
    }, GATHER_MS);
  }

  stop(): void {
    clearTimeout(this.changed);
    this.stopped.abort();
    this.poll.abort();
  }

  private async once(): Promise<unknown> {
    const { api, runIds, onSignals } = this.options;
    this.asked = runIds();
    try {
      const signals = await api.signals(this.asked, POLL_MS, this.poll.signal);
      onSignals(signals);
      // It is told again until it is done: there is no hurry to hear it again.
      if (signals.drain || signals.runs.length > 0) await pause(TOLD_MS, this.stopped.signal);
      return undefined;
    } catch (error) {
      return error;
    }
  }
}

function differ(before: readonly string[], now: readonly string[]): boolean {
  return before.length !== now.length || now.some((id) => !before.includes(id));
}
