import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { HeartbeatWriter, WriteProbe } from '#lib/agent-manager';
import { Database } from '#lib/database';

const TICK_MS = 1_000;
/** A tick that is this late means that the process, or the machine, stood still. */
const PAUSE_MS = 5_000;

interface Moment {
  monotonic: number;
  wall: number;
}

/**
 * For how long this process has observed the agents without a blind window: since it started, was last
 * paused, or last had no database that took changes, as heartbeats are. A pause shows as ticks that come late; a
 * machine that slept as a wall clock that has run ahead of the monotonic one. Both clocks are this
 * machine's own. The database is asked every second, on servers too that do not lead: any of them may
 * be asked to evaluate the fleet.
 */
@Injectable()
export class LivenessObserver implements OnModuleInit, OnModuleDestroy {
  private since: number;
  private last: Moment;
  private timer: NodeJS.Timeout | undefined;
  /** When the question under way was put to the database. */
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

  /** 0 in a blind window. */
  observedMs(): number {
    // The question may come before the tick that is late.
    const now = moment();
    this.tick(now);
    return this.isBlind(now.monotonic) ? 0 : now.monotonic - this.since;
  }

  /** @param now the present; given by tests */
  tick(now: Moment): void {
    const passed = Math.max(now.monotonic - this.last.monotonic, now.wall - this.last.wall);
    if (passed > TICK_MS + PAUSE_MS) this.since = now.monotonic;
    this.last = now;
  }

  /** Asks the database for an answer. Never throws. */
  private async ask(): Promise<void> {
    if (this.askedAt !== undefined) return;
    this.askedAt = performance.now();
    // It took no change a moment ago, whatever it answers now.
    this.hasFailed ||= this.database.refusals.standing || this.writer.isBehind();
    try {
      await this.probe.ask();
      const now = performance.now();
      // Heartbeats that came meanwhile may not have been written down.
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
