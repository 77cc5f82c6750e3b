import { SessionHost, type StopCause } from '#lib/agent-host';
import type { Recovered, RuntimeDriver } from '#lib/session-runtime';
import type { SessionError, SessionRecord } from './domain/session.js';
import { classOfGivenUp } from './domain/verdict.js';
import { failUnstarted, SpawnedSession, type SpawnedParts } from './spawned-session.js';

export interface DispatcherOptions extends SpawnedParts {
  /** The maximum of sessions at the same time. */
  capacity: number;
  /** The maximum time of a session in the queue. */
  queueSeconds: number;
  /** Called when a session came or went. */
  onChange: () => void;
}

/** Gives slots to sessions, in the order of their arrival, and ends sessions that wait too long. */
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

  /** Starts the session now, or as soon as a slot is free. */
  add(record: SessionRecord): void {
    this.queue.push(record);
    this.startNext();
  }

  /**
   * Continues a session that an earlier process started with this driver. It takes a slot even if
   * none is free.
   */
  adopt(
    record: SessionRecord,
    found: Exclude<Recovered, { kind: 'absent' }>,
    driver: RuntimeDriver,
  ): void {
    const session = new SpawnedSession(record, { ...this.options, driver });
    this.hold(session, () => session.resume(found));
  }

  /** Has no effect on a session that is ending or has ended. */
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

  /** The run of a session is complete. If the session has not started, nobody needs it any more. */
  complete(record: SessionRecord, exitSeconds: number, graceSeconds: number): void {
    const session = this.host.find(record.id);
    if (session !== undefined) return session.letExit(exitSeconds, graceSeconds);
    this.stop(record, { kind: 'completed', reason: 'completed' }, graceSeconds);
  }

  /** Warns a running session. A queued session neither hangs nor uses tokens. */
  warn(record: SessionRecord, reason: string): void {
    this.host.find(record.id)?.warn(reason);
  }

  /** Starts nothing any more, and releases the queued sessions. */
  drain(): void {
    this.draining = true;
    clearTimeout(this.waitTimer);
    const message = 'The gateway is shutting down, and the session had not started yet';
    for (const record of this.queue.splice(0)) this.giveUp(record, { class: 'drained', message });
  }

  /** Asks all running sessions to end. */
  stopAll(cause: StopCause, graceMs: number): void {
    this.host.stopAll(cause, graceMs);
  }

  /** Resolves when no session runs. */
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

  /** The first session in the queue has waited longest. */
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
    const message = `ResourceExhausted: no slot became free within ${queueSeconds} s`;
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
