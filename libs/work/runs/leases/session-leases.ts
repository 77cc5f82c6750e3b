import {
  Inject,
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { Heartbeats } from '#lib/agent-manager';
import { CONFIG, type Config } from '#lib/config';
import { Database, firstRow } from '#lib/database';
import { agentKey, BackgroundLoop, type Caller } from '#lib/kernel';
import { Logger } from '#lib/observability';
import { BASIC_GATEWAY } from '../sessions/store/note-basic-gateway.sql.js';
import { anyKeptByReports, renewSessionLeases, type SessionHeard } from './session-lease.sql.js';

/** The most sessions in one statement. */
const AT_ONCE = 1_000;
/** Heartbeats for invented tasks must not fill the memory while the database is away. */
const MOST_HEARD = 100_000;
/** In ms. Well below the shortest lease. */
const LOOK_EVERY_MS = 2_000;

/**
 * Renews the leases of sessions whose gateway sends no heartbeats, from the sessions' own reports:
 * heartbeats that name their task or use their run's token, and every accepted report about the
 * run. It reads the runs and not this server's own setting, which may have changed since they
 * began. Without such runs it does nothing.
 */
@Injectable()
export class SessionLeases implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly heard = new Map<string, SessionHeard>();
  /** Until the database has answered: collecting too much is better than missing a session. */
  private isNeeded = true;
  private lookedAt = -Infinity;
  private failing = false;
  private readonly loop = new BackgroundLoop(
    () => this.round(),
    (error) => this.afterFailure(error),
    { unref: true },
  );

  constructor(
    private readonly database: Database,
    private readonly heartbeats: Heartbeats,
    private readonly logger: Logger,
    @Inject(CONFIG) private readonly config: Pick<Config, 'gateway' | 'agents'>,
  ) {}

  onApplicationBootstrap(): void {
    this.heartbeats.listen((caller, { currentTaskId }) =>
      this.hearHeartbeat(caller, currentTaskId),
    );
    this.loop.start(this.config.agents.heartbeatFlushMs);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.loop.stop();
    await this.write().catch((error: unknown) => this.afterFailure(error));
  }

  /** Notes an accepted report about a run. */
  hear({ workspaceId, agentId, runId }: { workspaceId: string; agentId: string; runId: string }) {
    this.note(runId, {
      workspace_id: workspaceId,
      agent_id: agentId,
      run_id: runId,
      task_id: null,
    });
  }

  private hearHeartbeat(caller: Caller, taskId: string | null | undefined): void {
    if (caller.kind === 'run') return this.hear(caller);
    if (caller.kind !== 'agent' || !taskId) return;
    const { workspaceId: workspace_id, agentId: agent_id } = caller;
    this.note(`${agentKey(caller)} ${taskId}`, {
      workspace_id,
      agent_id,
      run_id: null,
      task_id: taskId,
    });
  }

  private note(key: string, session: SessionHeard): void {
    if (this.isNeeded && this.heard.size < MOST_HEARD) this.heard.set(key, session);
  }

  private async round(): Promise<number> {
    await this.look();
    if (this.isNeeded) await this.write();
    else this.heard.clear();
    return this.config.agents.heartbeatFlushMs;
  }

  /** Never throws. Without an answer the value stays. */
  private async look(): Promise<void> {
    if (this.config.gateway.isBasic || performance.now() - this.lookedAt < LOOK_EVERY_MS) return;
    this.lookedAt = performance.now();
    const row = await firstRow(this.database.service, anyKeptByReports, [BASIC_GATEWAY.id]).catch(
      () => undefined,
    );
    if (row) this.isNeeded = row.found;
  }

  private async write(): Promise<void> {
    while (this.heard.size > 0) await this.writeSome();
  }

  /** Renewals that cannot be written stay for the next time. */
  private async writeSome(): Promise<void> {
    const batch = [...this.heard].slice(0, AT_ONCE);
    for (const [key] of batch) this.heard.delete(key);
    try {
      const sessions = JSON.stringify(batch.map(([, session]) => session));
      await this.database.service.rows(renewSessionLeases, [sessions]);
      this.failing = false;
    } catch (error) {
      for (const [key, session] of batch) this.heard.set(key, session);
      throw error;
    }
  }

  private afterFailure(error: unknown): number {
    if (!this.failing) this.logger.warn('Leases of sessions could not be renewed', { error });
    this.failing = true;
    return this.config.agents.heartbeatFlushMs;
  }
}
