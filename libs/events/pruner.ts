import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { CONFIG, type Config } from '#lib/config';
import { Database, firstRow } from '#lib/database';
import { Doorbell } from '#lib/kernel';
import { Logger } from '#lib/observability';
import { pruneEvents } from './store/prune-events.sql.js';

const PRUNE_EVERY_MS = 3_600_000;
const BATCH = 5_000;
/** Lets others get at the disk between two batches. */
const BREATH_MS = 100;

/** Removes events that were published long ago, in the role `relay`. Several may do so at once. */
@Injectable()
export class EventPruner implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly bell = new Doorbell();
  private loop: Promise<void> | undefined;
  private stopping = false;

  constructor(
    private readonly database: Database,
    private readonly logger: Logger,
    @Inject(CONFIG) private readonly config: Pick<Config, 'roles' | 'outbox'>,
  ) {}

  onApplicationBootstrap(): void {
    if (this.config.roles.includes('relay')) this.loop = this.run();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopping = true;
    this.bell.ring();
    await this.loop;
  }

  /** Removes all that is due, in batches. @returns how many events were removed */
  async prune(): Promise<number> {
    let total = 0;
    while (!this.stopping) {
      const params = [this.config.outbox.retentionDays, BATCH];
      const row = await firstRow(this.database.service, pruneEvents, params);
      const removed = row?.removed ?? 0;
      total += removed;
      if (removed < BATCH) break;
      await this.bell.wait(BREATH_MS);
    }
    return total;
  }

  private async run(): Promise<void> {
    while (!this.stopping) {
      await this.pruneOrReport();
      await this.bell.wait(PRUNE_EVERY_MS);
    }
  }

  private async pruneOrReport(): Promise<void> {
    try {
      const removed = await this.prune();
      if (removed > 0) this.logger.info('old events removed', { removed });
    } catch (error) {
      this.logger.warn('old events not removed', { error });
    }
  }
}
