import type { AgentContext, AgentImage, AgentIo } from '../domain/agent-kind.js';

export type TurnOutcome = 'completed' | 'interrupted' | 'failed';

interface Words {
  text: string;
  id?: string;
  images?: readonly AgentImage[];
}

/** What a protocol does for its turns. */
export interface TurnCommands {
  begin(words: string, images: readonly AgentImage[]): void;
  /** Asks the program to end the current turn. Its end arrives by `turnEnded`. */
  interrupt(): void;
}

/**
 * The turns of one session: which words wait, which turn runs, and when the program's input closes.
 * A session ends after the first turn without waiting words, unless it stays open. A failed turn
 * ends every session.
 */
export class Turns {
  /** The outcome of the last turn. */
  outcome?: TurnOutcome;
  isInputClosed = false;
  /** The session ended for a pause. */
  isPaused = false;

  private readonly waiting: Words[];
  private staysOpen: boolean;
  private isReady = false;
  private isRunning = false;
  private isCancelled = false;
  private hasBegun = false;
  private pausesAfterTurn = false;

  constructor(
    private readonly io: AgentIo,
    private readonly commands: TurnCommands,
    { prompt, images, staysOpen = false }: Pick<AgentContext, 'prompt' | 'images' | 'staysOpen'>,
  ) {
    this.waiting = [{ text: prompt, images }];
    this.staysOpen = staysOpen;
  }

  /** The program takes words from now on. */
  ready(): void {
    this.isReady = true;
    if (this.isCancelled) this.turnEnded('interrupted');
    else this.next();
  }

  say(
    text: string,
    deliver: 'turn_end' | 'interrupt',
    id?: string,
    images?: readonly AgentImage[],
  ): void {
    if (this.isInputClosed) return;
    this.waiting.push({ text, id, images });
    if (this.isRunning && deliver === 'interrupt') this.commands.interrupt();
    if (this.isReady && !this.isRunning) this.next();
  }

  interrupt(): void {
    this.waiting.length = 0;
    if (this.isRunning) return this.commands.interrupt();
    this.isCancelled = !this.isReady;
  }

  /** The session ends after the current turn, without the waiting words, if that is wanted. */
  pauseAfterTurn(isWanted: boolean): void {
    this.pausesAfterTurn = isWanted;
    if (isWanted && this.isReady && !this.isRunning) this.next();
  }

  finish(): void {
    this.staysOpen = false;
    if (this.isReady && !this.isRunning) this.next();
  }

  turnEnded(outcome: TurnOutcome): void {
    if (this.isInputClosed) return;
    this.isRunning = false;
    this.outcome = outcome;
    this.io.emit({ type: 'turn_ended', outcome });
    if (outcome === 'failed') this.close();
    else this.next();
  }

  /** Nothing more can be said to the program. */
  close(): void {
    if (this.isInputClosed) return;
    this.isInputClosed = true;
    this.io.endInput();
  }

  private next(): void {
    if (this.isInputClosed) return;
    // The prompt of a session always gets its turn.
    if (this.pausesAfterTurn && this.hasBegun) {
      this.isPaused = true;
      return this.close();
    }
    const waiting = this.waiting.splice(0);
    const words = waiting.map(({ text }) => text).join('\n\n');
    if (words !== '') {
      [this.isRunning, this.hasBegun, this.outcome] = [true, true, undefined];
      const images = waiting.flatMap((each) => each.images ?? []);
      this.commands.begin(words, images);
      const ids = waiting.flatMap(({ id }) => id ?? []);
      if (ids.length > 0) this.io.emit({ type: 'heard', ids });
    } else if (!this.staysOpen) {
      this.close();
    }
  }
}
