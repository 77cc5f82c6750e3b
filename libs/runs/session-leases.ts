import {
  Inject,
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { Heartbeats } from '#lib/agent-manager';
import { CONFIG, type Config } from '#lib/config';
import { Database } from '#lib/database';
import type { Caller } from '#lib/kernel';
import { Logger } from '#lib/observability';
import { renewSessionLeases, type SessionHeard } from './store/session-lease.sql.js';

/** Sessions in one statement. */
const AT_ONCE = 1_000;

/**
 * Keeps the leases of sessions whose gateway sends no heartbeats, by what they report themselves: heartbeats that name
 * their task or come with their run's token, and every report about the run that was accepted. With any other gateway
 * it does nothing.
 */
@Injectable()
export class SessionLeases implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly heard = new Map<string, SessionHeard>();
  private timer: NodeJS.Timeout | undefined;
  private writing: Promise<void> = Promise.resolve();
  private failing = false;

  constructor(
    private readonly database: Database,
    private readonly heartbeats: Heartbeats,
    private readonly logger: Logger,
    @Inject(CONFIG) private readonly config: Pick<Config, 'gateway' | 'agents'>,
  ) {}

  onApplicationBootstrap(): void {
    if (!this.config.gateway.isBasic) return;
    this.heartbeats.listen((caller, { currentTaskId }) =>
      this.hearHeartbeat(caller, currentTaskId),
    );
    this.timer = setInterval(() => void this.write(), this.config.agents.heartbeatFlushMs);
    this.timer.unref();
  }

  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.write();
  }

  /** A report about a run was accepted. */
  hear({ workspaceId, agentId, runId }: { workspaceId: string; agentId: string; runId: string }) {
    if (!this.config.gateway.isBasic) return;
    const session = { workspace_id: workspaceId, agent_id: agentId, run_id: runId, task_id: null };
    this.heard.set(runId, session);
  }

  private hearHeartbeat(caller: Caller, taskId: string | null | undefined): void {
    if (caller.kind === 'run') return this.hear(caller);
    if (caller.kind !== 'agent' || !taskId) return;
    const { workspaceId: workspace_id, agentId: agent_id } = caller;
    const session = { workspace_id, agent_id, run_id: null, task_id: taskId };
    this.heard.set(`${agent_id} ${taskId}`, session);
  }

  /** Never throws; what cannot be written stays for the next time. */
  private write(): Promise<void> {
    return (this.writing = this.writing.then(async () => {
      while (this.heard.size > 0) if (!(await this.writeSome())) return;
    }));
  }

  /** @returns whether it was written */
  private async writeSome(): Promise<boolean> {
    const taken = [...this.heard].slice(0, AT_ONCE);
    for (const [key] of taken) this.heard.delete(key);
    try {
      const sessions = JSON.stringify(taken.map(([, session]) => session));
      await this.database.service.rows(renewSessionLeases, [sessions]);
      this.failing = false;
      return true;
    } catch (error) {
      for (const [key, session] of taken) this.heard.set(key, session);
      if (!this.failing) this.logger.warn('Leases of sessions cannot be renewed', { error });
      this.failing = true;
      return false;
    }
  }
}
