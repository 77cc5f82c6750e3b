/**
 * Milliseconds until the next row of each step is due, by the database's clock; null when there is
 * none.
 */
export type Dues = Readonly<Record<string, number | null>>;

/**
 * The longest time between two checks of the coordinator. Work without a wake-up is found within
 * it.
 */
export const WATCH_MS = 1_000;
/** Due rows that the last cycle did not move are locked by another transaction, or fail. */
const AGAIN_MS = 100;
const GAP = { leastMs: 20, mostMs: 1_000, timesDuration: 4 };

/**
 * Milliseconds until the next cycle is due.
 *
 * @param forbidden steps whose remaining rows the last cycle may not have been allowed to move
 */
export function untilDue(dues: Dues, forbidden: ReadonlySet<string> = new Set()): number {
  const times = Object.entries(dues).map(([step, ms]) => {
    if (ms === null) return Number.POSITIVE_INFINITY;
    return forbidden.has(step) ? Math.max(ms, WATCH_MS) : ms;
  });
  return Math.max(0, Math.min(...times));
}

/**
 * Milliseconds from the end of a cycle until the next one can start, requested or not: four times
 * its duration. Thus the coordinator never takes more than a fifth of one connection's time.
 */
export function gapAfter(durationMs: number): number {
  return Math.min(GAP.mostMs, Math.max(GAP.leastMs, GAP.timesDuration * durationMs));
}

/** The same gap after a cycle that failed, or that moved none of the rows still due. */
export function gapBeforeRepeating(durationMs: number, failed: boolean): number {
  return failed ? GAP.mostMs : Math.max(AGAIN_MS, gapAfter(durationMs));
}
