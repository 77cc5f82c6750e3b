import type { StopCause } from './live-session.js';

/** A session that holds a slot of a host. */
export interface HostedSession {
  readonly id: string;
  stop(cause: StopCause, graceMs: number): void;
}

/** The sessions that hold a slot of a host. The source of sessions limits their number. */
export class SessionHost<Session extends HostedSession> {
  private readonly held = new Map<string, Session>();
  private waiters: (() => void)[] = [];
  private stopOfAll: { cause: StopCause; graceMs: number } | undefined;

  /**
   * @param onChange called when a session came or went
   */
  constructor(private readonly onChange: () => void) {}

  get size(): number {
    return this.held.size;
  }

  all(): Session[] {
    return [...this.held.values()];
  }

  find(id: string): Session | undefined {
    return this.held.get(id);
  }

  /** Holds a slot for the session until `work` has settled. */
  async hold<T>(session: Session, work: () => Promise<T>): Promise<T> {
    this.held.set(session.id, session);
    this.onChange();
    // A session that comes too late is stopped at once.
    if (this.stopOfAll !== undefined) session.stop(this.stopOfAll.cause, this.stopOfAll.graceMs);
    try {
      return await work();
    } finally {
      this.held.delete(session.id);
      this.onChange();
      if (this.held.size === 0) for (const resolve of this.waiters.splice(0)) resolve();
    }
  }

  /** Stops every held session, and every session that comes later. */
  stopAll(cause: StopCause, graceMs: number): void {
    this.stopOfAll = { cause, graceMs };
    for (const session of this.held.values()) session.stop(cause, graceMs);
  }

  /** Resolves when no session is held. */
  async untilIdle(): Promise<void> {
    while (this.held.size > 0) await new Promise<void>((resolve) => this.waiters.push(resolve));
  }
}
