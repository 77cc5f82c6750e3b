/** The longest time of setTimeout. Above it, setTimeout fires at once. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** A timer for any time, such as a task's timeout of 30 days. */
export class LongTimer {
  private timer: NodeJS.Timeout | undefined;

  /** Replaces a time that has not come yet. */
  start(milliseconds: number, onTime: () => void): void {
    this.stop();
    const step = Math.min(milliseconds, MAX_TIMEOUT_MS);
    const restMs = milliseconds - step;
    this.timer = setTimeout(() => {
      if (restMs > 0) this.start(restMs, onTime);
      else onTime();
    }, step);
  }

  stop(): void {
    clearTimeout(this.timer);
  }
}
