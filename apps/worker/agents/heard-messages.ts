import { SETTLE_MS } from './tool-calls.js';

/** The messages to a run, by their positions. The first one has the position 1. */
export class HeardMessages {
  /** The monotonic time at which the program received each one. */
  private readonly heardAt = new Map<number, number>();
  private first = 1;

  constructor(private readonly now = () => performance.now()) {}

  heard(positions: readonly number[]): void {
    for (const position of positions) this.heardAt.set(position, this.now());
  }

  /** The number of the first messages that the program's files surely have. */
  settled(): number {
    const since = this.now() - SETTLE_MS;
    while ((this.heardAt.get(this.first) ?? Infinity) <= since) {
      this.heardAt.delete(this.first);
      this.first += 1;
    }
    return this.first - 1;
  }
}
