import { NOTHING, type SweepResult } from '#lib/transitions';
import type { Pass } from './pass.js';
import type { Reconciler, ReconcilerFacts } from './reconciler.js';

/**
 * The pause after a search is this many times its duration, if that is longer than the interval.
 */
const REST_FACTOR = 20;

/**
 * The pace of a search that is too expensive for every cycle. The first search starts at once, the
 * next one an interval after the begin of that cycle. All searches of one cycle are so due together
 * again. Slow searches run less often, so they never take more than a twentieth of one connection's
 * time.
 */
export class Rhythm {
  /** The time of the next search, in milliseconds on the clock. */
  dueAt = -Infinity;

  /** @param now milliseconds, monotonic */
  constructor(
    private readonly intervalMs: number,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** @param beganAt the begin of the cycle */
  isDue(beganAt: number): boolean {
    return beganAt >= this.dueAt;
  }

  async run(beganAt: number, search: () => Promise<SweepResult>): Promise<SweepResult> {
    // Set before the search too: an error in every cycle would flood the log.
    this.dueAt = beganAt + this.intervalMs;
    const start = this.now();
    const result = await search();
    const end = this.now();
    const rested = end + REST_FACTOR * (end - start);
    this.dueAt = result.more ? beganAt : Math.max(this.dueAt, rested);
    return result;
  }
}

/** A reconciler that keeps its pace between cycles. */
export interface PacedReconciler extends Reconciler {
  /** The time of its next expensive search, on the clock of performance.now(). */
  nextSearchAt(): number;
}

/** Runs a search over the rows of its next round. */
export type Round = (
  pass: Pass,
  search: (pass: Pass) => Promise<SweepResult>,
) => Promise<SweepResult>;

const wholly: Round = (pass, search) => search(pass.thoroughly());

/**
 * A reconciler whose expensive sweeps run at a pace. A requested sweep (`thorough`) runs at once and
 * does not change the pace.
 */
export function atPace(
  reconciler: Reconciler,
  slow: ReconcilerFacts['slow'],
  intervalMs: number,
  round = wholly,
): PacedReconciler {
  if (!slow) return { sweep: (pass) => reconciler.sweep(pass), nextSearchAt: () => Infinity };
  const rhythm = new Rhythm(intervalMs);
  return {
    nextSearchAt: () => rhythm.dueAt,
    async sweep(pass: Pass) {
      if (pass.scope.thorough) return reconciler.sweep(pass);
      if (rhythm.isDue(pass.beganAt)) {
        const search = (thorough: Pass) => reconciler.sweep(thorough);
        return rhythm.run(pass.beganAt, () => round(pass, search));
      }
      return slow === 'partly' ? reconciler.sweep(pass) : NOTHING;
    },
  };
}
