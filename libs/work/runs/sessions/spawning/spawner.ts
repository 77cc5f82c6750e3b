import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { CONFIG, type Config } from '#lib/config';
import { Database } from '#lib/database';
import { BackgroundLoop, fullJitter } from '#lib/kernel';
import { Logger } from '#lib/observability';
import { RunModels } from '../../claims/run-models.js';
import { GatewayClient } from '../gateway/gateway-client.js';
import { type DueSpawn, takeDueSpawns } from './due-spawns.sql.js';
import { SpawnAttempts } from './spawn-attempts.js';

const AT_ONCE = 16;
/**
 * The interval of the search for intents without a wake-up: retries, and intents of other servers.
 */
const LOOK_MS = 500;
/** Other servers can take an intent this long after the time limit of the call. */
const TAKEN_FOR_MORE_MS = 5_000;
const TROUBLE = { baseMs: 500, capMs: 10_000 };

/**
 * Sends the intents to spawn to the gateway, after the commit that created them. Every server of
 * the role `coordinator` does, leader or not. An intent belongs to one server for the length of a
 * call.
 */
@Injectable()
export class Spawner implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly loop = new BackgroundLoop(
    () => this.startDue(),
    (error) => this.afterFailure(error),
  );
  private readonly calls = new Set<Promise<void>>();
  private failures = 0;

  constructor(
    private readonly database: Database,
    private readonly gateway: GatewayClient,
    private readonly attempts: SpawnAttempts,
    private readonly models: RunModels,
    private readonly logger: Logger,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  onApplicationBootstrap(): void {
    if (this.gateway.configured && this.config.roles.includes('coordinator')) this.loop.start();
  }

  /** Waits for the current calls, which last GATEWAY_TIMEOUT_MS at most. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.loop.stop();
    await Promise.all(this.calls);
  }

  /** Starts due intents now. */
  ring(): void {
    this.loop.nudge();
  }

  /** @returns milliseconds until the next search */
  private async startDue(): Promise<number> {
    const room = AT_ONCE - this.calls.size;
    if (room <= 0) return LOOK_MS;
    const seconds = (this.config.gateway.timeoutMs + TAKEN_FOR_MORE_MS) / 1_000;
    const params = [room, seconds, !this.config.gateway.isBasic];
    const due = await this.database.service.rows(takeDueSpawns, params);
    this.failures = 0;
    for (const spawn of due) this.begin(spawn);
    return due.length > 0 && this.calls.size < AT_ONCE ? 0 : LOOK_MS;
  }

  private begin(spawn: DueSpawn): void {
    const call = this.make(spawn)
      .catch((error: unknown) => {
        const { run_id: runId } = spawn;
        this.logger.warn('Spawn attempt aborted, to be repeated', { runId, error });
      })
      .finally(() => {
        this.calls.delete(call);
        this.loop.nudge();
      });
    this.calls.add(call);
  }

  private async make(spawn: DueSpawn): Promise<void> {
    if (spawn.is_current) await this.models.choose(spawn.workspace_id, [spawn]);
    await this.attempts.make(spawn);
  }

  private afterFailure(error: unknown): number {
    this.failures += 1;
    if (this.failures === 1) this.logger.warn('Intents to spawn could not be read', { error });
    return Math.max(LOOK_MS, fullJitter(TROUBLE, this.failures, Math.random()));
  }
}
