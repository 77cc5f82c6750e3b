import { backoffCeiling, type LoopPause, steadyPause } from '#lib/kernel';

/** The result of one round of a reader of the journal. */
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

/** The pace of one reader. The result of a round, and its repeats, decide when the next starts. */
export function journalPace(): (result: RoundResult) => LoopPause | number {
  let last: RoundResult['kind'] | undefined;
  let repeats = 0;
  return ({ kind }) => {
    repeats = kind === last ? repeats + 1 : 0;
    last = kind;
    return pauseAfter(kind, repeats);
  };
}

/**
 * @param repeats number of consecutive rounds before this one with the same result
 */
function pauseAfter(kind: RoundResult['kind'], repeats: number): LoopPause | number {
  switch (kind) {
    case 'full':
      return 0;
    case 'drained':
      return steadyPause(GATHER_MS);
    case 'caught_up':
      return GATHER_MS;
    case 'idle':
      return backoffCeiling(IDLE, repeats);
    case 'held_back':
      return steadyPause(backoffCeiling(HELD_BACK, repeats));
    case 'elsewhere':
      return steadyPause(IDLE.capMs);
    case 'closed':
      return FAILED.capMs;
    case 'failed':
      return steadyPause(backoffCeiling(FAILED, repeats));
  }
}
