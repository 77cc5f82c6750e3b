import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  type OnApplicationBootstrap,
  type OnModuleInit,
} from '@nestjs/common';
import { CONFIG, type Config } from '#lib/config';
import { Database, firstRow } from '#lib/database';
import { BackgroundLoop } from '#lib/kernel';
import { Logger } from '#lib/observability';
import { pruneDeliveries, removeBodies, renewAttemptPartitions } from '../store/deliveries.sql.js';

const EVERY_MS = 3_600_000;
/** Maximum number of deliveries in one statement. */
const BATCH = 5_000;
/**
 * Days for which partitions of attempts exist ahead. Attempts of other days go to the default
 * partition.
 */
const DAYS_AHEAD = 3;

/**
 * Removes bodies after a day, and old deliveries and attempts, in the role `relay`. Creates the
 * partitions of attempts.
 */
@Injectable()
export class WebhookPruner
  implements OnModuleInit, OnApplicationBootstrap, BeforeApplicationShutdown
{
  private from: Date | undefined;
  private hasMore = false;
  private readonly loop = new BackgroundLoop(
    () => this.round(),
    (error) => this.afterFailure(error),
  );

  constructor(
    private readonly database: Database,
    private readonly logger: Logger,
    @Inject(CONFIG) private readonly config: Pick<Config, 'roles' | 'webhooks'>,
  ) {}

  // Before senders write: attempts after days of downtime must not end up in the default partition.
  async onModuleInit(): Promise<void> {
    if (!this.config.roles.includes('relay')) return;
    await this.renewPartitions().catch((error: unknown) => this.afterFailure(error));
  }

  onApplicationBootstrap(): void {
    if (this.config.roles.includes('relay')) this.loop.start();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.loop.stop();
  }

  /**
   * Removes one batch.
   *
   * @param from the age to start at; older ones stay
   * @returns the start of the next batch, if there may be more
   */
  async prune(from?: Date): Promise<Date | undefined> {
    const params = [this.config.webhooks.retentionDays, BATCH, from ?? null];
    const removed = await this.database.service.rows(pruneDeliveries, params);
    if (removed.length < BATCH) return undefined;
    return new Date(Math.max(...removed.map(({ created_at }) => created_at.getTime())));
  }

  /** Removes one batch of bodies. @returns whether there may be more */
  async pruneBodies(): Promise<boolean> {
    const changed = await this.database.service.rows(removeBodies, [BATCH]);
    return changed.length === BATCH;
  }

  /**
   * Creates the partitions of attempts of the next days, and drops old ones.
   *
   * @returns the names of the dropped partitions
   */
  async renewPartitions(): Promise<string[]> {
    const days = this.config.webhooks.retentionDays;
    const row = await firstRow(this.database.service, renewAttemptPartitions, [DAYS_AHEAD, days]);
    const dropped = row?.dropped ?? [];
    if (dropped.length > 0) this.logger.info('old partitions dropped', { dropped });
    return dropped;
  }

  private async round(): Promise<number> {
    if (!this.hasMore) await this.renewPartitions();
    const hasBodies = await this.pruneBodies();
    this.from = await this.prune(this.from);
    this.hasMore = hasBodies || this.from !== undefined;
    return this.hasMore ? 0 : EVERY_MS;
  }

  private afterFailure(error: unknown): number {
    this.logger.warn('old deliveries of webhooks not removed', { error });
    this.from = undefined;
    this.hasMore = false;
    return EVERY_MS;
  }
}
