import { DroverError } from '#lib/kernel';

/** Admits a few callers at once, queues a limited number, and refuses the rest. */
export class Gate {
  private inside = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(private readonly limits: { inside: number; waiting: number }) {}

  /**
   * @throws DroverError `conflict_retry` if the queue is full
   */
  async pass<T>(work: () => Promise<T>): Promise<T> {
    await this.enter();
    try {
      return await work();
    } finally {
      this.leave();
    }
  }

  private async enter(): Promise<void> {
    if (this.inside < this.limits.inside) {
      this.inside++;
      return;
    }
    if (this.waiting.length >= this.limits.waiting) {
      throw new DroverError('conflict_retry', { retryAfterSeconds: 1 });
    }
    await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  // A caller that leaves passes its place on, so that no other can slip in between.
  private leave(): void {
    const next = this.waiting.shift();
    if (next === undefined) this.inside--;
    else next();
  }
}
