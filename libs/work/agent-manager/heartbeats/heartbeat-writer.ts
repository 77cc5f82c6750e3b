import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '#lib/config';
import { Database, mayPass } from '#lib/database';
import { agentKey, type AgentPlace, redact, redactText } from '#lib/kernel';
import { Logger } from '#lib/observability';
import { asObject, redactSecrets } from '#lib/secrets';
import { flushHeartbeats, type FlushedRow } from './flush-heartbeats.sql.js';
import type { HeartbeatBody, PendingHeartbeat } from './heartbeat-buffer.js';
import { HeartbeatValues } from './heartbeat-values.js';

export interface WriteResult {
  written: FlushedRow[];
  /** Not written because the database accepts none now. Retried later. */
  kept: PendingHeartbeat[];
  /** Not written because their rows are locked. */
  held: PendingHeartbeat[];
}

/** A slower flush waits for a lock, or for a database that does not answer, in milliseconds. */
const SLOW_MS = 2_000;

/** Writes a batch of heartbeats to Postgres in one statement. */
@Injectable()
export class HeartbeatWriter {
  private failing = false;
  /** Time since which some are held, on the clock of performance.now(). */
  private heldSince: number | undefined;
  /** Start of the running statement, on the clock of performance.now(). */
  private startedAt: number | undefined;

  constructor(
    private readonly database: Database,
    private readonly values: HeartbeatValues,
    private readonly logger: Logger,
    @Inject(CONFIG) private readonly config: Pick<Config, 'agents'>,
  ) {}

  /** Whether heartbeats are held back here, so that Postgres may lack some. */
  isBehind(): boolean {
    const since = Math.min(this.startedAt ?? Infinity, this.heldSince ?? Infinity);
    return this.failing || performance.now() - since > SLOW_MS;
  }

  /**
   * @param batch each agent at most once. Never throws for database errors.
   */
  async write(batch: PendingHeartbeat[]): Promise<WriteResult> {
    try {
      const rows = await this.flush(batch);
      this.works();
      return this.resultOf(batch, rows);
    } catch (error) {
      if (mayPass(error)) {
        this.fails(error);
        return { written: [], kept: batch, held: [] };
      }
      return this.writeHalves(batch, error);
    }
  }

  private async flush(batch: PendingHeartbeat[]): Promise<FlushedRow[]> {
    this.startedAt = performance.now();
    try {
      await this.values.learn(batch);
      const { heartbeatHistorySeconds } = this.config.agents;
      const params = [this.toJson(batch), heartbeatHistorySeconds];
      return await this.database.service.rows(flushHeartbeats, params);
    } finally {
      this.startedAt = undefined;
    }
  }

  private resultOf(batch: readonly PendingHeartbeat[], rows: readonly FlushedRow[]): WriteResult {
    const locked = rows.filter(({ held }) => held);
    this.heldSince = locked.length > 0 ? (this.heldSince ?? performance.now()) : undefined;
    const keys = new Set(
      locked.map(({ workspace_id, id }) => agentKey({ workspaceId: workspace_id, agentId: id })),
    );
    return {
      written: rows.filter(({ held }) => !held),
      kept: [],
      held: batch.filter((heartbeat) => keys.has(agentKey(heartbeat))),
    };
  }

  private toJson(batch: readonly PendingHeartbeat[]): string {
    const now = performance.now();
    return JSON.stringify(
      batch.map(({ workspaceId, agentId, receivedAt, body }) => ({
        workspace_id: workspaceId,
        agent_id: agentId,
        age_ms: now - receivedAt,
        status: body.status,
        current_task_id: body.currentTaskId,
        progress_percent: body.progressPercent,
        ...this.shownOf({ workspaceId, agentId }, body),
        memory_mb: body.memoryMb,
        cpu_percent: body.cpuPercent,
      })),
    );
  }

  /** Everybody who can see an agent sees these, so secrets are redacted before storage. */
  private shownOf(agent: AgentPlace, { currentStep, metadata }: HeartbeatBody) {
    const known = this.values.of(agent);
    return {
      current_step: currentStep == null ? null : redactText(known.hide(currentStep)),
      metadata:
        metadata && redact(known.isEmpty ? metadata : asObject(redactSecrets(metadata, known))),
    };
  }

  /** A heartbeat that the database refuses must not block those of all other agents. */
  private async writeHalves(batch: PendingHeartbeat[], error: unknown): Promise<WriteResult> {
    if (batch.length === 1) {
      this.logger.error('a heartbeat cannot be written', { agentId: batch[0]?.agentId, error });
      return { written: [], kept: [], held: [] };
    }
    const middle = Math.ceil(batch.length / 2);
    const first = await this.write(batch.slice(0, middle));
    const second = await this.write(batch.slice(middle));
    return {
      written: [...first.written, ...second.written],
      kept: [...first.kept, ...second.kept],
      held: [...first.held, ...second.held],
    };
  }

  private fails(error: unknown): void {
    if (!this.failing) this.logger.warn('heartbeats cannot be written; they are kept', { error });
    this.failing = true;
  }

  private works(): void {
    if (this.failing) this.logger.info('heartbeats can be written again');
    this.failing = false;
  }
}
