/** Milliseconds until each kind of thing is due, by the database's clock; null when there is none. */
export interface Dues {
  retryMs: number | null;
  leaseMs: number | null;
  deadlineMs: number | null;
  queueExpiryMs: number | null;
  /** Until the first agent would be silent for longer than its threshold, if it stayed silent. */
  silenceMs: number | null;
  /** Until a pause ends by itself. */
  pauseMs: number | null;
  /** Whether the dependents of an ended task wait to be told. */
  unsettled: boolean;
  /** Whether somebody works on a run that another one has followed, and nobody was told of it. */
  disputed: boolean;
  /** Until a push agent could be given a task, as far as pauses, rates and rests are concerned. */
  assignMs: number | null;
}

/** How long the coordinator looks away at most: what nobody woke it for is found within this. */
export const WATCH_MS = 1_000;
/** What is due and was not moved by the cycle before is locked by somebody, or fails. */
const AGAIN_MS = 100;
const GAP = { leastMs: 20, mostMs: 1_000, timesDuration: 4 };

/**
 * Milliseconds until the next cycle is due.
 *
 * @param afterCycle whether one has just ended
 */
export function untilDue(dues: Dues, afterCycle: boolean): number {
  const times = [
    dues.retryMs,
    dues.leaseMs,
    dues.deadlineMs,
    dues.queueExpiryMs,
    dues.silenceMs,
    dues.pauseMs,
    // Who makes a task ready wakes the coordinator; what the cycle left behind may well be forbidden.
    dues.assignMs !== null && afterCycle ? Math.max(dues.assignMs, WATCH_MS) : dues.assignMs,
  ];
  const first = Math.min(...times.map((time) => time ?? Number.POSITIVE_INFINITY));
  return dues.unsettled || dues.disputed ? 0 : Math.max(0, first);
}

/**
 * Milliseconds from the end of a cycle until the next one may start, whoever asks for it: four times
 * as long as it took, so that the coordinator never takes more than a fifth of one connection's time.
 */
export function gapAfter(durationMs: number): number {
  return Math.min(GAP.mostMs, Math.max(GAP.leastMs, GAP.timesDuration * durationMs));
}

/** The same when something was still due after a cycle that failed or moved nothing of it. */
export function gapBeforeRepeating(durationMs: number, failed: boolean): number {
  return failed ? GAP.mostMs : Math.max(AGAIN_MS, gapAfter(durationMs));
}
