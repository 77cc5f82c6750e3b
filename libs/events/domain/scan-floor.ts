const TRAIL_MS = 5_000;
const FULL_LOOK_MS = 10_000;

/**
 * From which id on the relay looks for unpublished events.
 *
 * While somebody holds an old snapshot, the index keeps an entry for every event that was published
 * since, and a look from its start passes them all (100,000: 19 ms; from the floor: 0.2 ms). But an
 * event may become visible after later ones, when its transaction took longer. So the floor trails by
 * five seconds, and every ten seconds one look starts at the beginning. Nothing is out of order for it:
 * while a task's transaction is open, there can be no later event of that task.
 */
export class ScanFloor {
  private trailing = '0';
  private newest = '0';
  private markedAt: number;
  private fullLookAt = Number.NEGATIVE_INFINITY;

  constructor(now: number) {
    this.markedAt = now;
  }

  /** The id after which to look; '0' is the beginning. @param now milliseconds, monotonic */
  next(now: number): string {
    if (now - this.fullLookAt < FULL_LOOK_MS) return this.trailing;
    this.fullLookAt = now;
    return '0';
  }

  /** Every event up to this id that was visible is published. */
  passed(id: string, now: number): void {
    if (now - this.markedAt >= TRAIL_MS) {
      this.trailing = this.newest;
      this.markedAt = now;
    }
    if (BigInt(id) > BigInt(this.newest)) this.newest = id;
  }
}
