import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { HeartbeatWriter, WriteProbe } from '#lib/agent-manager';
import { Database } from '#lib/database';

const TICK_MS = 1_000;
/** A tick that is this late means that the process or the machine stood still. */
const PAUSE_MS = 5_000;

interface Moment {
  monotonic: number;
  wall: number;
}

/**
 * Measures how long this process has observed the agents without a blind window. The observation
 * begins at the start. It begins again after a pause, and after a time without a database that
 * accepts writes, as heartbeats are. Late ticks reveal a pause. A wall clock ahead of the monotonic
 * clock reveals that the machine slept. Both clocks are this machine's own. Servers that do not
 * lead also ask the database every second, because any of them can be asked to evaluate the fleet.
 */
@Injectable()
export class LivenessObserver implements OnModuleInit, OnModuleDestroy {
  private since: number;
  private last: Moment;
  private timer: NodeJS.Timeout | undefined;
  /** Start of the current question to the database. */
  private askedAt: number | undefined;
  private hasFailed = false;

  constructor(
    private readonly database: Database,
    private readonly probe: WriteProbe,
    private readonly writer: HeartbeatWriter,
  ) {
    this.last = moment();
    this.since = this.last.monotonic;
  }

  onModuleInit(): void {
    this.timer = setInterval(() => {
      this.tick(moment());
      void this.ask();
    }, TICK_MS);
    this.timer.unref();
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
  }

  /** Milliseconds without a blind window; 0 inside one. */
  observedMs(): number {
    // The call can come before the late tick.
    const now = moment();
    this.tick(now);
    return this.isBlind(now.monotonic) ? 0 : now.monotonic - this.since;
  }

  /**
   * @param now the present time; tests pass it
   */
  tick(now: Moment): void {
    const passed = Math.max(now.monotonic - this.last.monotonic, now.wall - this.last.wall);
    if (passed > TICK_MS + PAUSE_MS) this.since = now.monotonic;
    this.last = now;
  }

  /** Asks the database for an answer. Never throws. */
  private async ask(): Promise<void> {
    if (this.askedAt !== undefined) return;
    this.askedAt = performance.now();
    // The database accepted no write a moment ago, whatever it answers now.
    this.hasFailed ||= this.database.refusals.standing || this.writer.isBehind();
    try {
      await this.probe.ask();
      const now = performance.now();
      // Heartbeats that arrived meanwhile may not be written yet.
      if (this.isBlind(now)) this.since = now;
      this.hasFailed = false;
    } catch {
      this.hasFailed = true;
    }
    this.askedAt = undefined;
  }

  private isBlind(now: number): boolean {
    if (this.database.refusals.standing || this.writer.isBehind()) return true;
    return this.hasFailed || (this.askedAt !== undefined && now - this.askedAt > PAUSE_MS);
  }
}

function moment(): Moment {
  return { monotonic: performance.now(), wall: Date.now() };
}
