/** Milliseconds until the next row of each step is due, by the database's clock; null when there is none. */
export type Dues = Readonly<Record<string, number | null>>;

/** How long the coordinator looks away at most: what nobody woke it for is found within this. */
export const WATCH_MS = 1_000;
/** Rows that are due and were not moved by the cycle before are locked by somebody, or fail. */
const AGAIN_MS = 100;
const GAP = { leastMs: 20, mostMs: 1_000, timesDuration: 4 };

/**
 * Milliseconds until the next cycle is due.
 *
 * @param forbidden steps of which a cycle that has just ended may have left what is forbidden for now
 */
export function untilDue(dues: Dues, forbidden: ReadonlySet<string> = new Set()): number {
  const times = Object.entries(dues).map(([step, ms]) => {
    if (ms === null) return Number.POSITIVE_INFINITY;
    return forbidden.has(step) ? Math.max(ms, WATCH_MS) : ms;
  });
  return Math.max(0, Math.min(...times));
}

/**
 * Milliseconds from the end of a cycle until the next one may start, requested or not: four times
 * as long as it took, so that the coordinator never takes more than a fifth of one connection's time.
 */
export function gapAfter(durationMs: number): number {
  return Math.min(GAP.mostMs, Math.max(GAP.leastMs, GAP.timesDuration * durationMs));
}

/** The same when something was still due after a cycle that failed or moved nothing of it. */
export function gapBeforeRepeating(durationMs: number, failed: boolean): number {
  return failed ? GAP.mostMs : Math.max(AGAIN_MS, gapAfter(durationMs));
}
