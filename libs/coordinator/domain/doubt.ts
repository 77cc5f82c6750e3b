/** Whoever leads and doubts judges about once a second. After a longer time without, it has looked away. */
const LOOKED_AWAY_MS = 60_000;

/**
 * For how long a whole fleet has been suspiciously silent, by the verdicts of one process. A silence that
 * somebody broke, or might have broken while the process did not judge, is another one afterwards: it
 * may not have led for hours. Times are of its monotonic clock, in milliseconds.
 */
export class Doubt {
  private since: number | undefined;
  private judgedAt = -Infinity;

  /** @param lastHeardMs milliseconds since anybody's latest beat; null when nobody has ever beaten */
  lastsMs(now: number, lastHeardMs: number | null): number {
    if (this.since === undefined || now - this.judgedAt > LOOKED_AWAY_MS) return 0;
    const lastsMs = now - this.since;
    return lastHeardMs !== null && lastHeardMs < lastsMs ? 0 : lastsMs;
  }

  /** @param lastsMs what was true for the verdict: the doubt began that long ago, if it goes on */
  judged(now: number, suspicious: boolean, lastsMs: number): void {
    this.judgedAt = now;
    this.since = suspicious ? now - lastsMs : undefined;
  }
}
