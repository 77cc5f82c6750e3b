import { backoffCeiling } from '#lib/kernel';

/** The result of one round of a consumer. */
export type RoundResult =
  /** A whole batch was dealt with: more may wait. */
  | { kind: 'full' }
  /** Fewer than a batch: nothing waits any more. */
  | { kind: 'drained' }
  /** The same of who is told when there is more, and gathers nothing. */
  | { kind: 'caught_up' }
  | { kind: 'idle' }
  /** Another process has the lease. */
  | { kind: 'elsewhere' }
  /** A transaction that writes below the horizon is still open. */
  | { kind: 'held_back' }
  /** The consumer can take nothing now; a nudge tells when it can. */
  | { kind: 'closed' }
  | { kind: 'failed' };

/** Milliseconds for which events gather before the next batch, so that a busy fleet is told in few. */
export const GATHER_MS = 50;
const IDLE = { baseMs: GATHER_MS, capMs: 1_000 };
const HELD_BACK = { baseMs: 5, capMs: 100 };
const FAILED = { baseMs: 100, capMs: 5_000 };

/**
 * Milliseconds until the next round, and whether a nudge may shorten them.
 *
 * @param repeats how many rounds in a row before this one ended in the same way
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
