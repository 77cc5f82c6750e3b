import type { SweepScope, Swept } from '#lib/transitions';

/** After a search it rests this many times as long as the search took, if that is longer. */
const REST_FACTOR = 20;
const NOTHING: Swept = { moved: 0, more: false, byWorkspace: new Map() };

/**
 * The pace of a search that is too dear for every cycle: at first at once, then once in an interval, and
 * rarer if it takes long, so that it never takes more than a twentieth of one connection's time.
 *
 * One that is asked for (`thorough`) runs at once, and changes nothing of the pace.
 */
export class Rhythm {
  private dueAt = -Infinity;

  /** @param now milliseconds, monotonic */
  constructor(
    private readonly intervalMs: number,
    private readonly now: () => number = () => performance.now(),
  ) {}

  async perhaps(scope: SweepScope, search: (scope: SweepScope) => Promise<Swept>): Promise<Swept> {
    if (scope.thorough) return search(scope);
    const start = this.now();
    if (start < this.dueAt) return NOTHING;
    // Also when it fails: what fails once a cycle would crowd the log.
    this.dueAt = start + this.intervalMs;
    const swept = await search({ ...scope, thorough: true });
    const end = this.now();
    this.dueAt = swept.more ? end : end + Math.max(this.intervalMs, REST_FACTOR * (end - start));
    return swept;
  }
}
