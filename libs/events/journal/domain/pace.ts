import { backoffCeiling } from '#lib/kernel';

/** The result of one round of a consumer. */
export type RoundResult =
  /** A whole batch was processed. More may wait. */
  | { kind: 'full' }
  /** Less than a batch was processed, so nothing waits. */
  | { kind: 'drained' }
  /** The same for a consumer that is notified and collects nothing. */
  | { kind: 'caught_up' }
  | { kind: 'idle' }
  /** Another process has the lease. */
  | { kind: 'elsewhere' }
  /** A transaction that writes below the horizon is still open. */
  | { kind: 'held_back' }
  /** The consumer cannot process messages now. A nudge tells when it can. */
  | { kind: 'closed' }
  | { kind: 'failed' };

/**
 * Milliseconds for which events are collected before the next batch, so that a busy fleet causes
 * few batches.
 */
export const GATHER_MS = 50;
const IDLE = { baseMs: GATHER_MS, capMs: 1_000 };
const HELD_BACK = { baseMs: 5, capMs: 100 };
const FAILED = { baseMs: 100, capMs: 5_000 };

/**
 * Milliseconds until the next round, and whether a nudge can shorten them.
 *
 * @param repeats number of consecutive rounds before this one with the same result
 */
export function nextRound(
  result: RoundResult,
  repeats: number,
): { waitMs: number; nudgeable: boolean } {
  switch (result.kind) {
    case 'full':
      return { waitMs: 0, nudgeable: false };
    case 'drained':
      return { waitMs: GATHER_MS, nudgeable: false };
    case 'caught_up':
      return { waitMs: GATHER_MS, nudgeable: true };
    case 'idle':
      return { waitMs: backoffCeiling(IDLE, repeats), nudgeable: true };
    case 'held_back':
      return { waitMs: backoffCeiling(HELD_BACK, repeats), nudgeable: false };
    case 'elsewhere':
      return { waitMs: IDLE.capMs, nudgeable: false };
    case 'closed':
      return { waitMs: FAILED.capMs, nudgeable: true };
    case 'failed':
      return { waitMs: backoffCeiling(FAILED, repeats), nudgeable: false };
  }
}
