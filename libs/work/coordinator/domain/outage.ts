import { backoffCeiling } from '#lib/kernel';

const BACKOFF = { baseMs: 5_000, capMs: 40_000 };
export const ALERT_AFTER_MS = 300_000;

export interface OutageStep {
  /** Milliseconds until the next attempt. */
  waitMs: number;
  /** True if an administrator must be alerted now. True once in an outage. */
  alert: boolean;
}

/**
 * The coordinator's retries while the database cannot be reached: after 5, 10, 20, 40, 40 …
 * seconds, with one alert after five minutes.
 */
export class Outage {
  private failures = 0;
  private since: number | undefined;
  private alerted = false;
  private lastFailedAt = 0;

  /** @param now milliseconds, monotonic */
  failed(now: number): OutageStep {
    // A process that no longer leads does not ask the database, so it does not learn of the
    // recovery.
    if (now - this.lastFailedAt > 2 * BACKOFF.capMs) this.over(now);
    this.lastFailedAt = now;
    this.since ??= now;
    const waitMs = backoffCeiling(BACKOFF, this.failures);
    this.failures += 1;
    const alert = !this.alerted && now - this.since >= ALERT_AFTER_MS;
    this.alerted ||= alert;
    return { waitMs, alert };
  }

  /**
   * @returns the duration of the outage in milliseconds; undefined if there was none
   */
  over(now: number): number | undefined {
    const lasted = this.since === undefined ? undefined : now - this.since;
    this.failures = 0;
    this.since = undefined;
    this.alerted = false;
    return lasted;
  }
}
