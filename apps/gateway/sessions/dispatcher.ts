import { SessionHost, type StopCause } from '#lib/agent-host';
import type { Recovered, RuntimeDriver } from '#lib/session-runtime';
import type { SessionError, SessionRecord } from './domain/session.js';
import { classOfGivenUp } from './domain/verdict.js';
import { failUnstarted, SpawnedSession, type SpawnedParts } from './spawned-session.js';

export interface DispatcherOptions extends SpawnedParts {
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
  private readonly host: SessionHost<SpawnedSession>;
  private waitTimer: NodeJS.Timeout | undefined;
  private draining = false;

  constructor(private readonly options: DispatcherOptions) {
    this.host = new SessionHost(options.onChange);
  }

  get running(): number {
    return this.host.size;
  }

  get queued(): number {
    return this.queue.length;
  }

  /** Starts the session now, or as soon as there is a place. */
  add(record: SessionRecord): void {
    this.queue.push(record);
    this.startNext();
  }

  /** Goes on with what an earlier life has started with this driver; it takes a place even where none is free. */
  adopt(
    record: SessionRecord,
    found: Exclude<Recovered, { kind: 'absent' }>,
    driver: RuntimeDriver,
  ): void {
    const session = new SpawnedSession(record, { ...this.options, driver });
    this.hold(session, () => session.resume(found));
  }

  /** Harmless for a session that is ending or has ended. */
  stop(record: SessionRecord, cause: StopCause, graceSeconds: number): void {
    const session = this.host.find(record.id);
    if (session !== undefined) return session.stop(cause, graceSeconds * 1000);
    const index = this.queue.indexOf(record);
    if (index === -1) return;
    this.queue.splice(index, 1);
    const message = `Asked to end before it started: ${cause.message ?? cause.reason}`;
    const failureClass = classOfGivenUp(cause.kind) ?? 'infrastructure';
    this.giveUp(record, { class: failureClass, message }, 'STOPPED');
    this.watchQueue();
  }

  /** The run of a session is complete; one that has not started is not needed any more. */
  complete(record: SessionRecord, exitSeconds: number, graceSeconds: number): void {
    const session = this.host.find(record.id);
    if (session !== undefined) return session.letExit(exitSeconds, graceSeconds);
    this.stop(record, { kind: 'completed', reason: 'completed' }, graceSeconds);
  }

  /** Tells a session that runs; one that does not is not late. */
  warn(record: SessionRecord, reason: string): void {
    this.host.find(record.id)?.warn(reason);
  }

  /** Starts nothing any more, and gives up what has not started. */
  drain(): void {
    this.draining = true;
    clearTimeout(this.waitTimer);
    const message = 'The gateway is shutting down, and had not started the session yet';
    for (const record of this.queue.splice(0)) this.giveUp(record, { class: 'drained', message });
  }

  /** Asks everything that runs to end. */
  stopAll(cause: StopCause, graceMs: number): void {
    this.host.stopAll(cause, graceMs);
  }

  /** Resolves when nothing runs. */
  untilIdle(): Promise<void> {
    return this.host.untilIdle();
  }

  lastActivityAt(id: string): string | undefined {
    return this.host.find(id)?.lastActivityAt();
  }

  private startNext(): void {
    while (!this.draining && this.host.size < this.options.capacity) {
      const record = this.queue.shift();
      if (record === undefined) break;
      const session = new SpawnedSession(record, this.options);
      this.hold(session, () => session.run());
    }
    this.watchQueue();
    this.options.onChange();
  }

  private hold(session: SpawnedSession, work: () => Promise<void>): void {
    void this.host.hold(session, work).finally(() => this.startNext());
  }

  /** The first in the queue is the one that has waited longest. */
  private watchQueue(): void {
    clearTimeout(this.waitTimer);
    const [first] = this.queue;
    if (first === undefined) return;
    const { queueSeconds } = this.options;
    const leftMs = Date.parse(first.createdAt) + queueSeconds * 1000 - Date.now();
    if (leftMs > 0) {
      this.waitTimer = setTimeout(() => this.watchQueue(), leftMs);
      return;
    }
    this.queue.shift();
    const message = `ResourceExhausted: no place became free within ${queueSeconds} s`;
    this.giveUp(first, { class: 'resource_exhausted', message });
    this.watchQueue();
  }

  private giveUp(record: SessionRecord, error: SessionError, status?: 'FAILED' | 'STOPPED'): void {
    failUnstarted(record, error, status);
    this.options.book.save(record);
    this.options.onReport();
    this.options.onChange();
  }
}
