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
import { StoreOfInstallation } from '../files/store-of-installation.js';
import { findLostFiles } from './lost-files.js';
import { lockUsageOfExpiredArtifacts, removeExpiredArtifacts } from './prune-artifacts.sql.js';

const EVERY_MS = 3_600_000;
/** Maximum number of artifacts in one statement. */
const BATCH = 1_000;

/** Removes expired artifacts, and files without a row, in the role `relay`. */
@Injectable()
export class ArtifactPruner implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly loop = new BackgroundLoop(
    () => this.round(),
    (error) => this.afterFailure(error),
  );

  constructor(
    private readonly database: Database,
    private readonly installation: StoreOfInstallation,
    private readonly logger: Logger,
    @Inject(CONFIG) private readonly config: Pick<Config, 'roles' | 'artifacts'>,
  ) {}

  onApplicationBootstrap(): void {
    if (this.config.roles.includes('relay') && this.installation.store) this.loop.start();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.loop.stop();
  }

  /** Removes one batch, first the rows and then their files. @returns whether there may be more */
  async prune(): Promise<boolean> {
    const { retentionDays } = this.config.artifacts;
    const removed = await this.database.service.transaction(async (tx) => {
      const locked = await tx.rows(lockUsageOfExpiredArtifacts, [retentionDays, BATCH]);
      const workspaces = locked.map(({ workspace_id: id }) => id);
      return tx.rows(removeExpiredArtifacts, [retentionDays, BATCH, workspaces]);
    });
    for (const { id } of removed) await this.installation.store?.remove(id);
    return removed.length === BATCH;
  }

  /** Removes files that no row names and nobody writes any more. @returns their number */
  async removeLostFiles(): Promise<number> {
    const { store } = this.installation;
    let removed = 0;
    if (!store) return removed;
    for await (const file of findLostFiles(store, this.database.service)) {
      if (this.loop.stopping.aborted) break;
      await file.remove();
      removed++;
    }
    return removed;
  }

  private async round(): Promise<number> {
    if (await this.prune()) return 0;
    await this.removeLostFiles();
    return EVERY_MS;
  }

  private afterFailure(error: unknown): number {
    this.logger.warn('old artifacts not removed', { error });
    return EVERY_MS;
  }
}
