import { Injectable } from '@nestjs/common';
import { Database, isUnreachable } from '#lib/database';
import { DroverError, redact, redactText } from '#lib/kernel';
import { Logger } from '#lib/observability';
import { flushHeartbeats, type FlushedRow } from '../store/flush-heartbeats.sql.js';
import type { PendingHeartbeat } from './heartbeat-buffer.js';

export interface WriteResult {
  written: FlushedRow[];
  /** Could not be written now, and may be later. */
  kept: PendingHeartbeat[];
}

/** Writes a batch of heartbeats to Postgres, in one statement. */
@Injectable()
export class HeartbeatWriter {
  private failing = false;

  constructor(
    private readonly database: Database,
    private readonly logger: Logger,
  ) {}

  /** @param batch each agent at most once. Never throws for what the database does. */
  async write(batch: PendingHeartbeat[]): Promise<WriteResult> {
    try {
      const written = await this.database.service.rows(flushHeartbeats, [toJson(batch)]);
      this.works();
      return { written, kept: [] };
    } catch (error) {
      if (mayPass(error)) {
        this.fails(error);
        return { written: [], kept: batch };
      }
      return this.writeHalves(batch, error);
    }
  }

  /** One heartbeat that the database refuses must not keep those of all other agents from being written. */
  private async writeHalves(batch: PendingHeartbeat[], error: unknown): Promise<WriteResult> {
    if (batch.length === 1) {
      this.logger.error('a heartbeat cannot be written', { agentId: batch[0]?.agentId, error });
      return { written: [], kept: [] };
    }
    const middle = Math.ceil(batch.length / 2);
    const first = await this.write(batch.slice(0, middle));
    const second = await this.write(batch.slice(middle));
    return {
      written: [...first.written, ...second.written],
      kept: [...first.kept, ...second.kept],
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

/** Whether the same statement may succeed later. */
function mayPass(error: unknown): boolean {
  return isUnreachable(error) || (error instanceof DroverError && error.code === 'conflict_retry');
}

function toJson(batch: readonly PendingHeartbeat[]): string {
  const now = performance.now();
  return JSON.stringify(
    batch.map(({ workspaceId, agentId, receivedAt, body }) => ({
      workspace_id: workspaceId,
      agent_id: agentId,
      age_ms: now - receivedAt,
      status: body.status,
      current_task_id: body.currentTaskId,
      progress_percent: body.progressPercent,
      // Everybody who may see an agent sees these, so text that looks like a secret is redacted before it is
      // kept.
      current_step: body.currentStep == null ? null : redactText(body.currentStep),
      memory_mb: body.memoryMb,
      cpu_percent: body.cpuPercent,
      metadata: body.metadata && redact(body.metadata),
    })),
  );
}
