import { Doorbell } from './doorbell.js';

/** The pause between two rounds, in milliseconds. */
export interface LoopPause {
  waitMs: number;
  /** A nudge ends the pause, but not before this time. */
  cooldownMs: number;
}

/** A pause that no nudge shortens. */
export function steadyPause(waitMs: number): LoopPause {
  return { waitMs, cooldownMs: waitMs };
}

/** The pause after a round. A number is a pause that a nudge ends at once. */
type AfterRound = LoopPause | number;

/**
 * Repeats a round until it is stopped. Rounds never overlap. Each round, and each failure, returns
 * the pause after it.
 */
export class BackgroundLoop {
  private readonly ending = new AbortController();
  private readonly bell: Doorbell;
  private running: Promise<void> | undefined;

  /**
   * @param onFailure gets the exception of a round; the loop continues
   * @param options.unref whether a process can end during a pause
   */
  constructor(
    private readonly round: () => Promise<AfterRound>,
    private readonly onFailure: (error: unknown) => AfterRound | Promise<AfterRound>,
    options: { unref?: boolean } = {},
  ) {
    this.bell = new Doorbell(options);
  }

  /** Aborts when the loop is stopped, for work that a round can cut short. */
  get stopping(): AbortSignal {
    return this.ending.signal;
  }

  /** @param firstAfterMs milliseconds until the first round */
  start(firstAfterMs = 0): void {
    this.running ??= this.run(firstAfterMs);
  }

  /** Starts the next round now, or as soon as the cooldown of the pause allows. */
  nudge(): void {
    this.bell.ring();
  }

  /** Resolves when the running round has ended. */
  async stop(): Promise<void> {
    this.ending.abort();
    this.bell.ring();
    await this.running;
  }

  private async run(firstAfterMs: number): Promise<void> {
    let pause: AfterRound = firstAfterMs;
    while (await this.outlasts(pause)) {
      pause = await this.round().catch((error: unknown) => this.onFailure(error));
    }
  }

  /** Waits for the end of the pause. @returns whether the loop goes on after it */
  private async outlasts(pause: AfterRound): Promise<boolean> {
    const { waitMs, cooldownMs } =
      typeof pause === 'number' ? { waitMs: pause, cooldownMs: 0 } : pause;
    const start = performance.now();
    for (let rung = false; !this.stopping.aborted;) {
      const left: number = (rung ? cooldownMs : waitMs) - (performance.now() - start);
      if (left <= 0) return true;
      rung = (await this.bell.wait(left)) || rung;
    }
    return false;
  }
}
