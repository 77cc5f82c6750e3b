import { NOTHING, type SweepResult } from '#lib/transitions';
import type { Pass } from './pass.js';
import type { Reconciler, ReconcilerFacts } from './reconciler.js';

/** After a search it pauses this many times as long as the search took, if that is longer. */
const REST_FACTOR = 20;

/**
 * The pace of a search that is too expensive for every cycle: at first at once, then once in an interval, and
 * rarer if it takes long, so that it never takes more than a twentieth of one connection's time.
 */
export class Rhythm {
  private dueAt = -Infinity;

  /** @param now milliseconds, monotonic */
  constructor(
    private readonly intervalMs: number,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** @returns what the search did, if it was due */
  async perhaps(search: () => Promise<SweepResult>): Promise<SweepResult> {
    const start = this.now();
    if (start < this.dueAt) return NOTHING;
    // Also when it fails: what fails once a cycle would crowd the log.
    this.dueAt = start + this.intervalMs;
    const result = await search();
    const end = this.now();
    this.dueAt = result.more ? end : end + Math.max(this.intervalMs, REST_FACTOR * (end - start));
    return result;
  }
}

/**
 * The sweep of a reconciler, at its pace if it is a slow one. One that is asked for (`thorough`) runs at
 * once, and changes nothing of the pace.
 */
export function paced(
  reconciler: Reconciler,
  slow: ReconcilerFacts['slow'],
  intervalMs: number,
): Reconciler['sweep'] {
  if (!slow) return reconciler.sweep.bind(reconciler);
  const rhythm = new Rhythm(intervalMs);
  return async (pass: Pass) => {
    if (pass.scope.thorough) return reconciler.sweep(pass);
    const quick = slow === 'partly' ? await reconciler.sweep(pass) : NOTHING;
    return quick.moved > 0 ? quick : rhythm.perhaps(() => reconciler.sweep(pass.thoroughly()));
  };
}
