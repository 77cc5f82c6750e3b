import type { Recovered, RuntimeDriver } from '#lib/session-runtime';
import type { SessionError, SessionRecord, StopCause } from './domain/session.js';
import { classOfGivenUp } from './domain/verdict.js';
import { failUnstarted, type LiveParts, LiveSession } from './live-session.js';

export interface DispatcherOptions extends LiveParts {
  /** Sessions at once. */
  capacity: number;
  /** How long a session may wait for a place. */
  queueSeconds: number;
  /** Sessions came or went. */
  onChange: () => void;
}

/** Gives places to sessions, in the order in which they came, and ends those that wait too long. */
export class Dispatcher {
  private readonly queue: SessionRecord[] = [];
  private readonly live = new Map<string, LiveSession>();
  private waitTimer: NodeJS.Timeout | undefined;
  private draining = false;
  private onIdle: (() => void)[] = [];

  constructor(private readonly options: DispatcherOptions) {}

  get running(): number {
    return this.live.size;
  }

  get queued(): number {
    return this.queue.length;
  }

  /** Starts the session now, or as soon as there is a place. */
  add(record: SessionRecord): void {
    this.queue.push(record);
    this.pump();
  }

  /** Goes on with what an earlier life has started with this driver; it takes a place even where none is free. */
  adopt(
    record: SessionRecord,
    found: Exclude<Recovered, { kind: 'absent' }>,
    driver: RuntimeDriver,
  ): void {
    const live = new LiveSession(record, { ...this.options, driver });
    this.hold(record, live, live.resume(found));
  }

  /** Harmless for a session that is ending or has ended. */
  stop(record: SessionRecord, cause: StopCause, graceSeconds: number): void {
    const live = this.live.get(record.id);
    if (live !== undefined) return live.stop(cause, graceSeconds);
    const place = this.queue.indexOf(record);
    if (place === -1) return;
    this.queue.splice(place, 1);
    const message = `Asked to end before it started: ${cause.message ?? cause.reason}`;
    this.give(
      record,
      { class: classOfGivenUp(cause.kind) ?? 'infrastructure', message },
      'STOPPED',
    );
    this.watchQueue();
  }

  /** The run of a session is complete; one that has not started is not needed any more. */
  complete(record: SessionRecord, exitSeconds: number, graceSeconds: number): void {
    const live = this.live.get(record.id);
    if (live !== undefined) return live.letExit(exitSeconds, graceSeconds);
    this.stop(record, { kind: 'completed', reason: 'completed' }, graceSeconds);
  }

  /** Tells a session that runs; one that does not is not late. */
  warn(record: SessionRecord, reason: string): void {
    this.live.get(record.id)?.warn(reason);
  }

  /** Starts nothing any more, and gives up what has not started. */
  drain(): void {
    this.draining = true;
    clearTimeout(this.waitTimer);
    const message = 'The gateway is shutting down, and had not started the session yet';
    for (const record of this.queue.splice(0)) {
      this.give(record, { class: 'drained', message });
    }
  }

  /** Asks everything that runs to end. */
  stopAll(cause: StopCause, graceSeconds: number): void {
    for (const live of this.live.values()) live.stop(cause, graceSeconds);
  }

  /** Resolves when nothing runs. */
  async idle(): Promise<void> {
    while (this.live.size > 0) await new Promise<void>((resolve) => this.onIdle.push(resolve));
  }

  lastActivityAt(id: string): string | undefined {
    return this.live.get(id)?.lastActivityAt();
  }

  private pump(): void {
    while (!this.draining && this.live.size < this.options.capacity) {
      const record = this.queue.shift();
      if (record === undefined) break;
      const live = new LiveSession(record, this.options);
      this.hold(record, live, live.run());
    }
    this.watchQueue();
    this.options.onChange();
  }

  private hold(record: SessionRecord, live: LiveSession, over: Promise<void>): void {
    this.live.set(record.id, live);
    void over.finally(() => {
      this.live.delete(record.id);
      if (this.live.size === 0) for (const resolve of this.onIdle.splice(0)) resolve();
      this.pump();
    });
  }

  /** The first in the queue is the one that has waited longest. */
  private watchQueue(): void {
    clearTimeout(this.waitTimer);
    const [first] = this.queue;
    if (first === undefined) return;
    const { queueSeconds } = this.options;
    const left = Date.parse(first.createdAt) + queueSeconds * 1000 - Date.now();
    if (left > 0) {
      this.waitTimer = setTimeout(() => this.watchQueue(), left);
      return;
    }
    this.queue.shift();
    const message = `ResourceExhausted: no place became free within ${queueSeconds} s`;
    this.give(first, { class: 'resource_exhausted', message });
    this.watchQueue();
  }

  private give(record: SessionRecord, error: SessionError, status?: 'FAILED' | 'STOPPED'): void {
    failUnstarted(record, error, status);
    this.options.book.save(record);
    this.options.onReport();
    this.options.onChange();
  }
}
