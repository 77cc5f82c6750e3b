import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { CONFIG, type Config } from '#lib/config';
import { Database } from '#lib/database';
import { Logger } from '#lib/observability';
import { type Consumer, ConsumerLoop } from './consumer-loop.js';
import { JournalTail } from '../reading/journal-tail.js';
import { removeConsumer } from '../store/cursor.sql.js';

/** Delivers the events of the journal to its consumers, in the role `relay`. */
@Injectable()
export class EventRelay implements OnApplicationBootstrap, BeforeApplicationShutdown {
  /** @internal */
  readonly loops: ConsumerLoop[] = [];
  private readonly forgotten: string[] = [];
  private stopListening: (() => void) | undefined;

  constructor(
    private readonly database: Database,
    private readonly tail: JournalTail,
    private readonly logger: Logger,
    @Inject(CONFIG) private readonly config: Pick<Config, 'roles'>,
  ) {}

  /**
   * Adds a consumer before the application has started. A library adds its own when its module is
   * created.
   */
  add(consumer: Consumer): void {
    this.loops.push(new ConsumerLoop(this.database, consumer, this.logger, this.tail));
  }

  /**
   * Removes an unused consumer before the application has started, so that the journal is not kept
   * for it.
   */
  forget(name: string): void {
    this.forgotten.push(name);
  }

  async onApplicationBootstrap(): Promise<void> {
    if (!this.config.roles.includes('relay')) return;
    this.start();
    for (const name of this.forgotten) {
      await this.database.service.rows(removeConsumer, [name]).catch((error: unknown) => {
        this.logger.warn('a consumer not forgotten', { consumer: name, error });
      });
    }
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.stop();
  }

  /** Announces a commit: read now, not at the next poll. */
  nudge(): void {
    this.tail.nudge();
  }

  start(): void {
    this.stopListening ??= this.tail.hear(() => this.loops.forEach((loop) => loop.nudge()));
    for (const loop of this.loops) loop.start();
  }

  /** Resolves when the running batches have ended and the leases are released. */
  async stop(): Promise<void> {
    this.stopListening?.();
    await Promise.all(this.loops.map((loop) => loop.stop()));
  }
}
