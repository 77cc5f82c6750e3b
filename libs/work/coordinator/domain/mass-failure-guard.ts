/**
 * A leader with a suspicion evaluates about once a second. After a longer gap than this it has
 * missed evaluations.
 */
const LOOKED_AWAY_MS = 60_000;

/**
 * How long a mass failure has been suspected, by the evaluations of one process. A heartbeat ends a
 * suspicion. So does a gap in the evaluations in which a heartbeat could have ended it: the process
 * may not have led for hours. Times are of its monotonic clock, in milliseconds.
 */
export class MassFailureGuard {
  private since: number | undefined;
  private evaluatedAt = -Infinity;

  /**
   * @param lastHeardMs milliseconds since the latest heartbeat of any agent; null: there was none
   *   yet
   */
  suspectedMs(now: number, lastHeardMs: number | null): number {
    if (this.since === undefined || now - this.evaluatedAt > LOOKED_AWAY_MS) return 0;
    const suspectedMs = now - this.since;
    return lastHeardMs !== null && lastHeardMs < suspectedMs ? 0 : suspectedMs;
  }

  /**
   * @param suspectedMs the duration that this evaluation used; an ongoing suspicion began that long
   *   ago
   */
  evaluated(now: number, massFailure: boolean, suspectedMs: number): void {
    this.evaluatedAt = now;
    this.since = massFailure ? now - suspectedMs : undefined;
  }
}
