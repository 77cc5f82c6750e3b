import { BackgroundLoop, type LoopPause, steadyPause } from '#lib/kernel';
import type { HostLog } from '../machine/log.js';
import { Failures } from '../client/retry.js';

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
  private readonly loop = new BackgroundLoop(
    () => this.listen(),
    (error) => this.afterFailure(error),
  );
  private readonly failures: Failures;
  private poll = new AbortController();
  private changed: NodeJS.Timeout | undefined;
  private asked: string[] = [];

  constructor(private readonly options: SignalOptions<T>) {
    this.failures = new Failures('signals', options.log);
  }

  start(): void {
    this.loop.start();
  }

  /** The held runs have changed since the poll under way started. */
  update(): void {
    this.changed ??= setTimeout(() => {
      this.changed = undefined;
      if (differ(this.asked, this.options.runIds())) this.poll.abort();
      this.loop.nudge();
    }, GATHER_MS);
  }

  /** Aborts the poll under way. */
  stop(): Promise<void> {
    clearTimeout(this.changed);
    const stopped = this.loop.stop();
    this.poll.abort();
    return stopped;
  }

  private async listen(): Promise<LoopPause | number> {
    const { runIds, listensWhenIdle, poll, onSignals } = this.options;
    this.asked = runIds();
    if (this.asked.length === 0 && !listensWhenIdle) return LOOK_EVERY_MS;
    this.poll = new AbortController();
    const begun = performance.now();
    onSignals(await poll({ runIds: this.asked, waitMs: POLL_MS }, this.poll.signal));
    this.failures.end();
    return steadyPause(begun + AT_LEAST_MS - performance.now());
  }

  private afterFailure(error: unknown): LoopPause | number {
    if (!this.poll.signal.aborted) return steadyPause(this.failures.add(error));
    this.failures.end();
    return 0;
  }
}

function differ(before: readonly string[], now: readonly string[]): boolean {
  return before.length !== now.length || now.some((id) => !before.includes(id));
}
