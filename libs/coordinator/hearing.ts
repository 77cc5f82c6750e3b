import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';

const TICK_MS = 1_000;
/** A tick that is this late means that the process, or the machine, stood still. */
const PAUSE_MS = 5_000;

interface Moment {
  monotonic: number;
  wall: number;
}

/**
 * For how long this process could have heard the agents: since it started, was last paused, or last
 * went without its database. A pause shows as ticks that come late; a machine that slept as a wall
 * clock that has run ahead of the monotonic one. Both clocks are this machine's own.
 */
@Injectable()
export class Hearing implements OnModuleInit, OnModuleDestroy {
  private since: number;
  private last: Moment;
  private timer: NodeJS.Timeout | undefined;

  constructor() {
    this.last = moment();
    this.since = this.last.monotonic;
  }

  onModuleInit(): void {
    this.timer = setInterval(() => this.tick(moment()), TICK_MS);
    this.timer.unref();
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
  }

  /** Nothing could be heard until now. */
  beginAnew(): void {
    this.since = performance.now();
  }

  listeningMs(): number {
    // Whoever asks may be called before the tick that is late.
    const now = moment();
    this.tick(now);
    return now.monotonic - this.since;
  }

  /** @param now the present; given by tests */
  tick(now: Moment): void {
    const passed = Math.max(now.monotonic - this.last.monotonic, now.wall - this.last.wall);
    if (passed > TICK_MS + PAUSE_MS) this.since = now.monotonic;
    this.last = now;
  }
}

function moment(): Moment {
  return { monotonic: performance.now(), wall: Date.now() };
}
