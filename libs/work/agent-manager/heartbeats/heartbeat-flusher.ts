import {
  Inject,
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { CONFIG, type Config } from '#lib/config';
import { BackgroundLoop } from '#lib/kernel';
import { instruments, Logger } from '#lib/observability';
import { WakeUps } from '#lib/valkey';
import type { FlushedRow } from './flush-heartbeats.sql.js';
import { AgentFacts } from './agent-facts.js';
import { HeartbeatBuffer, type PendingHeartbeat } from './heartbeat-buffer.js';
import { HeartbeatWriter } from './heartbeat-writer.js';

/** Maximum number of agents in one statement. */
const PER_FLUSH = 1_000;

/** Empties the buffer of heartbeats every HEARTBEAT_FLUSH_MS, and once more at the end. */
@Injectable()
export class HeartbeatFlusher implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly loop = new BackgroundLoop(
    () => this.round(),
    (error) => this.afterFailure(error),
    { unref: true },
  );
  private flushing: Promise<void> = Promise.resolve();

  constructor(
    private readonly buffer: HeartbeatBuffer,
    private readonly writer: HeartbeatWriter,
    private readonly facts: AgentFacts,
    private readonly wakeUps: WakeUps,
    private readonly logger: Logger,
    @Inject(CONFIG) private readonly config: Pick<Config, 'agents'>,
  ) {}

  onApplicationBootstrap(): void {
    this.loop.start(this.config.agents.heartbeatFlushMs);
  }

  /** Writes the last heartbeats. No request can bring further ones now. */
  async onApplicationShutdown(): Promise<void> {
    await this.loop.stop();
    await this.flush().catch((error: unknown) => this.afterFailure(error));
    if (this.buffer.size > 0) {
      this.logger.warn('heartbeats not written before the end', { agents: this.buffer.size });
    }
  }

  /** Writes all buffered heartbeats now. Unwritten ones stay. Flushes never overlap. */
  flush(): Promise<void> {
    this.flushing = this.flushing.catch(() => undefined).then(() => this.flushAll());
    return this.flushing;
  }

  private async round(): Promise<number> {
    await this.flush();
    return this.config.agents.heartbeatFlushMs;
  }

  private afterFailure(error: unknown): number {
    this.logger.error('flushing heartbeats failed', { error });
    return this.config.agents.heartbeatFlushMs;
  }

  private async flushAll(): Promise<void> {
    const locked: PendingHeartbeat[] = [];
    while (this.buffer.size > 0) {
      const { written, kept, held } = await this.writer.write(this.buffer.take(PER_FLUSH));
      locked.push(...held);
      this.buffer.restore(kept);
      this.notify(written);
      if (kept.length > 0) break;
    }
    this.buffer.restore(locked);
  }

  private notify(rows: readonly FlushedRow[]): void {
    instruments.heartbeatsWritten.inc(rows.length);
    for (const row of rows) this.facts.learn(row);
    if (rows.some(({ revived }) => revived)) this.wakeUps.coordinator();
  }
}
