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
import { dropPartitions, makePartitions } from './partitions.sql.js';

const EVERY_MS = 3_600_000;
const WEEKS_AHEAD = 4;

/** Creates the journal's partitions of the next weeks, and in the role `relay` drops old ones. */
@Injectable()
export class EventPruner implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly bell = new Doorbell();
  private loop: Promise<void> | undefined;
  private stopping = false;

  constructor(
    private readonly database: Database,
    private readonly logger: Logger,
    @Inject(CONFIG) private readonly config: Pick<Config, 'roles' | 'journal'>,
  ) {}

  // Before requests arrive. Rows written after weeks of downtime must not end up in the default
  // partition, which is never dropped.
  async onApplicationBootstrap(): Promise<void> {
    await this.attempt(() => this.makeAhead());
    if (this.config.roles.includes('relay')) this.loop = this.run();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopping = true;
    this.bell.ring();
    await this.loop;
  }

  /**
   * @returns the names of the dropped partitions
   */
  async prune(): Promise<string[]> {
    await this.makeAhead();
    const days = this.config.journal.retentionDays;
    const row = await firstRow(this.database.service, dropPartitions, [days]);
    return row?.dropped ?? [];
  }

  private async run(): Promise<void> {
    while (!this.stopping) {
      await this.attempt(async () => {
        const dropped = await this.prune();
        if (dropped.length > 0) this.logger.info('old partitions dropped', { dropped });
      });
      await this.bell.wait(EVERY_MS);
    }
  }

  private async makeAhead(): Promise<void> {
    await this.database.service.rows(makePartitions, [WEEKS_AHEAD]);
  }

  private async attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.logger.warn('partitions of the journal not looked after', { error });
    }
  }
}
