/** A wait of a background loop: for a time, or for a ring. A ring is kept until it is heard. */
export class Doorbell {
  private rung = false;
  private hear: (() => void) | undefined;

  ring(): void {
    this.rung = true;
    this.hear?.();
  }

  /**
   * Waits until somebody rings, at most `ms` milliseconds. For one waiter at a time.
   *
   * @returns whether somebody rang; the ring is then used up
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
      function done(): void {
        clearTimeout(timer);
        resolve();
      }
      this.hear = done;
    });
  }
}
