import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { CONFIG, type Config } from '#lib/config';
import { Database } from '#lib/database';
import { resealFactors } from '#lib/identity';
import { BackgroundLoop } from '#lib/kernel';
import { Logger } from '#lib/observability';
import { Resealing } from '#lib/secrets';

const EVERY_MS = 60_000;
/**
 * The pause after a batch is this many times its duration, so that the work stays in the
 * background.
 */
const REST_FACTOR = 4;
/** The pause while other servers hold all remaining rows. */
const REST_MS = 1_000;

/**
 * Replaces the data key when it is due, and reseals the secrets of older keys, and second
 * factors of earlier master keys, in the role `coordinator`. Any number of servers can do it at once, so no leader is needed.
 */
@Injectable()
export class KeyRotation implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly loop = new BackgroundLoop(
    () => this.round(),
    (error) => {
      this.logger.warn('resealing failed, next time again', { error });
      return EVERY_MS;
    },
  );

  constructor(
    private readonly database: Database,
    private readonly resealing: Resealing,
    private readonly logger: Logger,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  onApplicationBootstrap(): void {
    if (this.config.roles.includes('coordinator')) this.loop.start();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.loop.stop();
  }

  /**
   * @returns milliseconds until the next round
   */
  private async round(): Promise<number> {
    const start = performance.now();
    // Before the secrets, because an operator removes the old key when none is left under it.
    const { masterKeys } = this.config.encryption;
    await resealFactors(this.database.service, masterKeys, this.logger);
    const { resealed, more } = await this.resealing.round();
    if (!more) return EVERY_MS;
    return resealed === 0 ? REST_MS : REST_FACTOR * (performance.now() - start);
  }
}
