import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { CONFIG, type Config } from '#lib/config';
import { Database } from '#lib/database';
import { BackgroundLoop } from '#lib/kernel';
import { Logger } from '#lib/observability';
import { pruneDeliveries, removeBodies } from '../store/deliveries.sql.js';

const EVERY_MS = 3_600_000;
/** Maximum number of deliveries in one statement. */
const BATCH = 5_000;

/** Removes bodies after a day, and old deliveries with their attempts, in the role `relay`. */
@Injectable()
export class WebhookPruner implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private from: Date | undefined;
  private readonly loop = new BackgroundLoop(
    () => this.round(),
    (error) => this.afterFailure(error),
  );

  constructor(
    private readonly database: Database,
    private readonly logger: Logger,
    @Inject(CONFIG) private readonly config: Pick<Config, 'roles' | 'webhooks'>,
  ) {}

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

  private async round(): Promise<number> {
    const hasBodies = await this.pruneBodies();
    this.from = await this.prune(this.from);
    return hasBodies || this.from ? 0 : EVERY_MS;
  }

  private afterFailure(error: unknown): number {
    this.logger.warn('old deliveries of webhooks not removed', { error });
    this.from = undefined;
    return EVERY_MS;
  }
}
