import { backoffCeiling } from '#lib/kernel';

const BACKOFF = { baseMs: 5_000, capMs: 40_000 };
export const ALERT_AFTER_MS = 300_000;

export interface OutageStep {
  /** Milliseconds until the next attempt. */
  waitMs: number;
  /** Whether an administrator must be alerted, now and not again. */
  alert: boolean;
}

/**
 * How the coordinator stands a database that cannot be reached: 5, 10, 20, 40, 40 … seconds between
 * attempts, one alert after five minutes.
 */
export class Outage {
  private failures = 0;
  private since: number | undefined;
  private alerted = false;
  private lastFailedAt = 0;

  /** @param now milliseconds, monotonic */
  failed(now: number): OutageStep {
    // A process that no longer leads does not ask the database, and so does not learn that it is back.
    if (now - this.lastFailedAt > 2 * BACKOFF.capMs) this.over(now);
    this.lastFailedAt = now;
    this.since ??= now;
    const waitMs = backoffCeiling(BACKOFF, this.failures);
    this.failures += 1;
    const alert = !this.alerted && now - this.since >= ALERT_AFTER_MS;
    this.alerted ||= alert;
    return { waitMs, alert };
  }

  /** @returns how long it lasted, in milliseconds; undefined when there was none */
  over(now: number): number | undefined {
    const lasted = this.since === undefined ? undefined : now - this.since;
    this.failures = 0;
    this.since = undefined;
    this.alerted = false;
    return lasted;
  }
}
