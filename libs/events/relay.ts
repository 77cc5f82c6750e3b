import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { CONFIG, type Config } from '#lib/config';
import { Database } from '#lib/database';
import { Doorbell } from '#lib/kernel';
import { instruments, Logger } from '#lib/observability';
import { WakeUps } from '#lib/valkey';
import { Channels } from './channels.js';
import { nextRound, type RoundResult } from './domain/pace.js';
import { numbered } from './domain/channel.js';
import { messagesOf } from './domain/message.js';
import { JournalCursor } from './journal-cursor.js';

/** Rows of the journal in one batch. */
const BATCH_SIZE = 1_000;

/** Carries the events of the journal to the channels, in the role `relay`. */
@Injectable()
export class EventRelay implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly bell = new Doorbell();
  private loop: Promise<void> | undefined;
  private stopping = false;
  private cleanUp: (() => void)[] = [];
  /** @internal */
  readonly cursor: JournalCursor;

  constructor(
    database: Database,
    private readonly channels: Channels,
    private readonly wakeUps: WakeUps,
    private readonly logger: Logger,
    @Inject(CONFIG) private readonly config: Pick<Config, 'roles'>,
  ) {
    this.cursor = new JournalCursor(database, 'channels', BATCH_SIZE);
  }

  onApplicationBootstrap(): void {
    if (this.config.roles.includes('relay')) this.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.stop();
  }

  /** An event has just been committed: look now, and not at the next poll. */
  nudge(): void {
    this.bell.ring();
  }

  start(): void {
    if (this.loop) return;
    const nudge = (): void => this.nudge();
    // Every transition of a task wakes somebody, so each wake-up is the sign of an event as well.
    this.cleanUp = [
      this.wakeUps.onClaims(nudge),
      this.wakeUps.onCoordinator(nudge),
      this.wakeUps.onSignals(nudge),
      this.channels.onOpen(nudge),
    ];
    this.loop = this.run();
  }

  /** Resolves when the batch under way is done with and the lease is given back. */
  async stop(): Promise<void> {
    this.stopping = true;
    for (const undo of this.cleanUp.splice(0)) undo();
    this.bell.ring();
    await this.loop;
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
    await this.cursor.giveBack().catch((error: unknown) => {
      this.logger.warn('relay lease not given back', { error });
    });
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
      this.logger.warn('events not relayed, trying again', { error });
      return { kind: 'failed' };
    }
  }

  private async round(): Promise<RoundResult> {
    if (!this.channels.isOpen()) return { kind: 'closed' };
    const reading = await this.cursor.read();
    instruments.eventsHeldBack.set(reading.kind === 'held_back' ? reading.forMs / 1_000 : 0);
    if (reading.kind !== 'batch') return reading;
    const messages = reading.rows.flatMap(messagesOf);
    const workspaces = [...new Set(messages.map(({ workspaceId }) => workspaceId))];
    const numbers = await this.cursor.numbersOf(workspaces);
    if (!numbers) return { kind: 'elsewhere' };
    await this.channels.publish(numbered(messages, numbers));
    if (!(await this.cursor.done(numbers))) return { kind: 'elsewhere' };
    return { kind: reading.full ? 'full' : 'drained' };
  }
}
