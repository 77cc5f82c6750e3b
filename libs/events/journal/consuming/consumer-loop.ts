import type { Database } from '#lib/database';
import { BackgroundLoop, type LoopPause } from '#lib/kernel';
import { instruments, type Logger } from '#lib/observability';
import { numbered, type NumberedMessage } from '../domain/channel.js';
import type { Message } from '../domain/message.js';
import { journalPace, type RoundResult } from '../domain/pace.js';
import { type Beginning, JournalCursor } from '../reading/journal-cursor.js';
import type { JournalTail } from '../reading/journal-tail.js';

/** Rows of the journal in one batch. */
const BATCH_SIZE = 1_000;

/** A reader of the journal with its own cursor, so that none waits for another. */
export interface Consumer {
  /**
   * The name of its row in event_consumers, which is created if missing, and its label in the
   * metrics.
   */
  readonly name: string;
  /** The start of a consumer without such a row. Default: the oldest event. */
  readonly begins?: Beginning;
  /**
   * Processes messages in the order of the journal. If it throws, the same messages come again,
   * later and possibly in another process. It also gets the messages with which another process
   * died, with the same numbers.
   */
  consume(messages: readonly Message[], work: Work): Promise<void>;
  /**
   * The workspaces whose messages it needs, or undefined for all. Default: all. It is called after
   * the events of a batch were committed, and rows of other workspaces are then not read. The
   * consumer can still get messages of every workspace. If it asks for numbers, it must need all.
   */
  workspaces?(): Promise<readonly string[] | undefined>;
  /** Whether it can process messages now. Default: true. */
  isOpen?(): boolean;
  /** Calls back when it can process messages (again). @returns removes the listener */
  onOpen?(listener: () => void): () => void;
  /** Milliseconds for which messages gather between two batches that are not full. */
  readonly everyMs?: number;
  /** Called at least once a second while there is nothing to read. */
  rest?(turn: Turn): Promise<void>;
}

/** A round without messages, of several processes at once. */
export interface Turn {
  /** Makes this process the only one. @returns the position up to which messages were processed */
  begin(): Promise<string>;
  /** Like that of `Work`. */
  goesOn(): Promise<void>;
}

/** A running batch. */
export interface Work {
  /**
   * Its messages with their numbers in their workspaces. Consumers that never ask for them have no
   * numbers.
   */
  numbered(): Promise<readonly NumberedMessage[]>;
  /**
   * Reports progress. A consumer without a report for 10 s counts as hanging, and another process
   * takes over.
   */
  goesOn(): Promise<void>;
  /** The consumer's position before the batch and after it: ids of rows, as decimal texts. */
  from: string;
  to: string;
}

/** Another process handles or has handled the batch. */
class TakenOver extends Error {}

/**
 * Delivers the journal to one consumer: one batch at a time, in one process at a time, at least
 * once.
 */
export class ConsumerLoop {
  /** @internal */
  readonly cursor: JournalCursor;
  private readonly loop: BackgroundLoop;
  private stopListening: (() => void) | undefined;

  constructor(
    database: Database,
    readonly consumer: Consumer,
    private readonly logger: Logger,
    tail: JournalTail,
  ) {
    this.cursor = new JournalCursor(database, consumer, BATCH_SIZE, tail);
    const pace = journalPace();
    this.loop = new BackgroundLoop(
      async () => {
        const result = await this.round();
        return this.gathering(result, pace(result));
      },
      (error) => {
        this.warn('events not consumed, trying again', error);
        return pace({ kind: 'failed' });
      },
    );
  }

  start(): void {
    this.stopListening ??= this.consumer.onOpen?.(() => this.nudge());
    this.loop.start();
  }

  nudge(): void {
    this.loop.nudge();
  }

  /** Resolves when the running batch has ended and the lease is released. */
  async stop(): Promise<void> {
    this.stopListening?.();
    await this.loop.stop();
    await this.cursor
      .giveBack()
      .catch((error: unknown) => this.warn('lease not given back', error));
  }

  private gathering({ kind }: RoundResult, pause: LoopPause | number): LoopPause | number {
    const { everyMs } = this.consumer;
    if (everyMs === undefined || kind === 'full' || typeof pause !== 'number') return pause;
    return { waitMs: Math.max(pause, everyMs), cooldownMs: everyMs };
  }

  private async round(): Promise<RoundResult> {
    try {
      return await this.readAndConsume();
    } catch (error) {
      if (error instanceof TakenOver) return { kind: 'elsewhere' };
      throw error;
    }
  }

  private async readAndConsume(): Promise<RoundResult> {
    if (this.consumer.isOpen?.() === false) return { kind: 'closed' };
    const reading = await this.cursor.read();
    const heldBackMs = reading.kind === 'held_back' ? reading.forMs : 0;
    instruments.eventsHeldBack.set({ consumer: this.consumer.name }, heldBackMs / 1_000);
    if (reading.kind === 'idle') await this.consumer.rest?.(this.turn);
    if (reading.kind !== 'batch') return reading;
    const { messages, from, to } = reading;
    let numbers: Map<string, bigint> | undefined;
    const work: Work = {
      numbered: async () => numbered(messages, (numbers = await this.numbersOf(messages))),
      goesOn: () => this.goesOn(),
      from,
      to,
    };
    if (messages.length > 0) await this.consumer.consume(messages, work);
    if (!(await this.cursor.done(numbers))) throw new TakenOver();
    return { kind: reading.full ? 'full' : 'caught_up' };
  }

  private readonly turn: Turn = {
    begin: async () => {
      const position = await this.cursor.take();
      if (position === undefined) throw new TakenOver();
      return position;
    },
    goesOn: () => this.goesOn(),
  };

  private async numbersOf(messages: readonly Message[]): Promise<Map<string, bigint>> {
    const workspaces = new Set(messages.map(({ workspaceId }) => workspaceId));
    const numbers = await this.cursor.numbersOf([...workspaces]);
    if (!numbers) throw new TakenOver();
    return numbers;
  }

  private async goesOn(): Promise<void> {
    if (!(await this.cursor.keep())) throw new TakenOver();
  }

  private warn(words: string, error: unknown): void {
    this.logger.warn(words, { consumer: this.consumer.name, error });
  }
}
