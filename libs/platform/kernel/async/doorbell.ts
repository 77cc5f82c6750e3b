/**
 * The wait of a background loop, for a time or for a ring. A ring is stored until a wait consumes
 * it.
 */
export class Doorbell {
  private rung = false;
  private hear: (() => void) | undefined;

  /** @param options.unref whether a process can end during a wait */
  constructor(private readonly options: { unref?: boolean } = {}) {}

  ring(): void {
    this.rung = true;
    this.hear?.();
  }

  /**
   * Waits for a ring, at most `ms` milliseconds. Supports one waiter at a time.
   *
   * @returns whether it rang; the ring is consumed
   */
  async wait(ms: number): Promise<boolean> {
    if (!this.rung) await this.ringOrTime(ms);
    const heard = this.rung;
    this.rung = false;
    return heard;
  }

  private ringOrTime(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(done, ms);
      if (this.options.unref) timer.unref();
      function done(): void {
        clearTimeout(timer);
        resolve();
      }
      this.hear = done;
    });
  }
}
