import { Doorbell } from '#lib/kernel';
import type { HostLog } from '../machine/log.js';
import { Failures, pause } from '../client/retry.js';

const POLL_MS = 25_000;
/** Changes of the held runs gather this long, so that short runs do not cost a request each. */
const GATHER_MS = 250;
/**
 * The minimum time between two polls: the server repeats a signal until it is followed, and a
 * cancellation must arrive within a second.
 */
const AT_LEAST_MS = 700;
const LOOK_EVERY_MS = 30_000;

/** The body of a poll. */
export interface SignalPoll {
  runIds: string[];
  waitMs: number;
}

export interface SignalOptions<T> {
  log: HostLog;
  /** The runs for which the server can have a signal. */
  runIds: () => string[];
  /** True if the server can send signals while there is no run. */
  listensWhenIdle: boolean;
  poll: (body: SignalPoll, signal: AbortSignal) => Promise<T>;
  onSignals: (signals: T) => void;
}

/** Listens for the server's signals about the held runs, with one long poll at all times. */
export class SignalLoop<T> {
  private readonly stopped = new AbortController();
  private readonly bell = new Doorbell();
  private poll = new AbortController();
  private changed: NodeJS.Timeout | undefined;
  private asked: string[] = [];

  constructor(private readonly options: SignalOptions<T>) {}

  async run(): Promise<void> {
    const { log, runIds, listensWhenIdle } = this.options;
    const failures = new Failures('signals', log);
    while (!this.stopped.signal.aborted) {
      this.asked = runIds();
      if (this.asked.length === 0 && !listensWhenIdle) {
        await this.bell.wait(LOOK_EVERY_MS);
        continue;
      }
      this.poll = new AbortController();
      const error = await this.once();
      if (error === undefined || this.poll.signal.aborted) failures.end();
      else await pause(failures.add(error), this.stopped.signal);
    }
  }

  /** The held runs have changed since the poll under way started. */
  update(): void {
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
    const { poll, onSignals } = this.options;
    const begun = performance.now();
    try {
      onSignals(await poll({ runIds: this.asked, waitMs: POLL_MS }, this.poll.signal));
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
