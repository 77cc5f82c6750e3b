/** A leader that suspects evaluates about once a second. After a longer time without, it has looked away. */
const LOOKED_AWAY_MS = 60_000;

/**
 * For how long a mass failure has been suspected, by the evaluations of one process. A suspicion that a
 * heartbeat refuted, or might have refuted while the process did not evaluate, is another one afterwards: it
 * may not have led for hours. Times are of its monotonic clock, in milliseconds.
 */
export class MassFailureGuard {
  private since: number | undefined;
  private evaluatedAt = -Infinity;

  /** @param lastHeardMs milliseconds since anybody's latest heartbeat; null when there was none yet */
  suspectedMs(now: number, lastHeardMs: number | null): number {
    if (this.since === undefined || now - this.evaluatedAt > LOOKED_AWAY_MS) return 0;
    const suspectedMs = now - this.since;
    return lastHeardMs !== null && lastHeardMs < suspectedMs ? 0 : suspectedMs;
  }

  /** @param suspectedMs what the evaluation was made with: the suspicion began that long ago, if it goes on */
  evaluated(now: number, massFailure: boolean, suspectedMs: number): void {
    this.evaluatedAt = now;
    this.since = massFailure ? now - suspectedMs : undefined;
  }
}
