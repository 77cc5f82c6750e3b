import { Doorbell } from '#lib/kernel';
import type { WakeUps } from '#lib/valkey';
import { nextRound, type RoundResult } from '../domain/pace.js';

/**
 * Reads the journal in rounds until it is stopped. The result of each round decides when the next
 * starts.
 */
export class PacedLoop {
  private readonly bell = new Doorbell();
  private running: Promise<void> | undefined;
  private stopping = false;

  /**
   * @param round an exception counts as a failure and is reported to `onFailure`
   */
  constructor(
    private readonly round: () => Promise<RoundResult>,
    private readonly onFailure: (error: unknown) => void,
  ) {}

  start(): void {
    this.running ??= this.run();
  }

  /** Announces a commit: read now, not at the next poll. */
  nudge(): void {
    this.bell.ring();
  }

  /** Resolves when the running round has ended. */
  async stop(): Promise<void> {
    this.stopping = true;
    this.bell.ring();
    await this.running;
  }

  private async run(): Promise<void> {
    let last: RoundResult['kind'] | undefined;
    let repeats = 0;
    while (!this.stopping) {
      const result = await this.roundOrFailure();
      repeats = result.kind === last ? repeats + 1 : 0;
      last = result.kind;
      await this.pause(result, repeats);
    }
  }

  private async pause(result: RoundResult, repeats: number): Promise<void> {
    const { waitMs, nudgeable } = nextRound(result, repeats);
    const until = performance.now() + waitMs;
    for (let left = waitMs; left > 0 && !this.stopping; left = until - performance.now()) {
      const rung = await this.bell.wait(left);
      if (rung && nudgeable) return;
    }
  }

  private async roundOrFailure(): Promise<RoundResult> {
    try {
      return await this.round();
    } catch (error) {
      this.onFailure(error);
      return { kind: 'failed' };
    }
  }
}

/**
 * Calls back at every wake-up. Each transition of a task wakes somebody, so each also indicates an
 * event.
 */
export function onEveryWakeUp(wakeUps: WakeUps, listener: () => void): () => void {
  const undo = [
    wakeUps.onClaims(listener),
    wakeUps.onCoordinator(listener),
    wakeUps.onSignals(listener),
  ];
  return () => undo.forEach((each) => each());
}
