import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { CONFIG, type Config } from '#lib/config';
import { BackgroundLoop } from '#lib/kernel';
import { Logger } from '#lib/observability';
import { UsageRollup } from '#lib/ledger';
import { UsageView } from './usage-view.js';

/** Reports gather for this time, so that the reports of a busy fleet are few batches. */
const EVERY_MS = 1_000;
const HELD_BACK_MS = 100;
const FAILED_MS = 5_000;

/**
 * Follows the ledger of usage in the role `relay`: it adds reports to the sums of the history, then
 * brings the keys in Valkey up to them. Any number of servers can do it at once.
 */
@Injectable()
export class UsageFollower implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly loop = new BackgroundLoop(
    () => this.round(),
    (error) => {
      this.logger.warn('usage not added up, trying again', { error });
      return FAILED_MS;
    },
  );

  constructor(
    private readonly rollup: UsageRollup,
    private readonly view: UsageView,
    private readonly logger: Logger,
    @Inject(CONFIG) private readonly config: Pick<Config, 'roles'>,
  ) {}

  onApplicationBootstrap(): void {
    if (this.config.roles.includes('relay')) this.loop.start();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.loop.stop();
  }

  /** @returns milliseconds until the next round */
  private async round(): Promise<number> {
    const rolledUp = await this.rollup.round();
    const view = await this.view.round(rolledUp.position);
    if (view === 'more' || (rolledUp.kind === 'added' && rolledUp.full)) return 0;
    return rolledUp.kind === 'held_back' ? HELD_BACK_MS : EVERY_MS;
  }
}
