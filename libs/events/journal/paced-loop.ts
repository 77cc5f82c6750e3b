import { Doorbell } from '#lib/kernel';
import type { WakeUps } from '#lib/valkey';
import { nextRound, type RoundResult } from './domain/pace.js';

/** Reads the journal round by round, each as soon as the result of the one before asks for it, until it is stopped. */
export class PacedLoop {
  private readonly bell = new Doorbell();
  private running: Promise<void> | undefined;
  private stopping = false;

  /** @param round what throws counts as failed, and is told to `onFailure` */
  constructor(
    private readonly round: () => Promise<RoundResult>,
    private readonly onFailure: (error: unknown) => void,
  ) {}

  start(): void {
    this.running ??= this.run();
  }

  /** Something has just been committed: look now, and not at the next poll. */
  nudge(): void {
    this.bell.ring();
  }

  /** Resolves when the round under way is over. */
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

/** Calls back at every wake-up: each transition of a task wakes somebody, so each is the sign of an event as well. */
export function onEveryWakeUp(wakeUps: WakeUps, listener: () => void): () => void {
  const undo = [
    wakeUps.onClaims(listener),
    wakeUps.onCoordinator(listener),
    wakeUps.onSignals(listener),
  ];
  return () => undo.forEach((each) => each());
}
