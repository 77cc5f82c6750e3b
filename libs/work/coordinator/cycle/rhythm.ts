import { NOTHING, type SweepResult } from '#lib/transitions';
import type { Pass } from './pass.js';
import type { Reconciler, ReconcilerFacts } from './reconciler.js';

/**
 * The pause after a search is this many times its duration, if that is longer than the interval.
 */
const REST_FACTOR = 20;

/**
 * The pace of a search that is too expensive for every cycle. The first search starts at once, the
 * next after the interval. Slow searches run less often, so they never take more than a twentieth
 * of one connection's time.
 */
export class Rhythm {
  private dueAt = -Infinity;

  /** @param now milliseconds, monotonic */
  constructor(
    private readonly intervalMs: number,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /**
   * @returns the result of the search, or nothing moved if it was not due
   */
  async runIfDue(search: () => Promise<SweepResult>): Promise<SweepResult> {
    const start = this.now();
    if (start < this.dueAt) return NOTHING;
    // Set before the search too: an error in every cycle would flood the log.
    this.dueAt = start + this.intervalMs;
    const result = await search();
    const end = this.now();
    this.dueAt = result.more ? end : end + Math.max(this.intervalMs, REST_FACTOR * (end - start));
    return result;
  }
}

/**
 * The sweep of a reconciler, at its own pace if the reconciler is slow. A requested sweep
 * (`thorough`) runs at once and does not change the pace.
 */
export function sweepAtPace(
  reconciler: Reconciler,
  slow: ReconcilerFacts['slow'],
  intervalMs: number,
): Reconciler['sweep'] {
  if (!slow) return reconciler.sweep.bind(reconciler);
  const rhythm = new Rhythm(intervalMs);
  return async (pass: Pass) => {
    if (pass.scope.thorough) return reconciler.sweep(pass);
    const quick = slow === 'partly' ? await reconciler.sweep(pass) : NOTHING;
    return quick.moved > 0 ? quick : rhythm.runIfDue(() => reconciler.sweep(pass.thoroughly()));
  };
}
