import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { CONFIG, type Config } from '#lib/config';
import { Database, firstRow } from '#lib/database';
import { BackgroundLoop } from '#lib/kernel';
import { Logger } from '#lib/observability';
import { dropPartitions, makePartitions } from './partitions.sql.js';

const EVERY_MS = 3_600_000;
const WEEKS_AHEAD = 4;

/** Creates the journal's partitions of the next weeks, and in the role `relay` drops old ones. */
@Injectable()
export class EventPruner implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly loop = new BackgroundLoop(
    () => this.round(),
    (error) => this.afterFailure(error),
  );

  constructor(
    private readonly database: Database,
    private readonly logger: Logger,
    @Inject(CONFIG) private readonly config: Pick<Config, 'roles' | 'journal'>,
  ) {}

  // Before requests arrive. Rows written after weeks of downtime must not end up in the default
  // partition, which is never dropped.
  async onApplicationBootstrap(): Promise<void> {
    await this.makeAhead().catch((error: unknown) => this.afterFailure(error));
    if (this.config.roles.includes('relay')) this.loop.start();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.loop.stop();
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

  private async round(): Promise<number> {
    const dropped = await this.prune();
    if (dropped.length > 0) this.logger.info('old partitions dropped', { dropped });
    return EVERY_MS;
  }

  private async makeAhead(): Promise<void> {
    await this.database.service.rows(makePartitions, [WEEKS_AHEAD]);
  }

  private afterFailure(error: unknown): number {
    this.logger.warn('partitions of the journal not looked after', { error });
    return EVERY_MS;
  }
}
