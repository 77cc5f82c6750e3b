import { Inject, Injectable } from '@nestjs/common';
import { moveAgents } from '#lib/agent-manager';
import { CONFIG, type Config } from '#lib/config';
import { Database, type Fence, type Sql, type Transaction } from '#lib/database';
import type { Actor } from '#lib/kernel';
import { WakeUps } from '#lib/valkey';
import { planRecovery, type RecoveryPlan } from '../domain/recover.js';
import type { AbortReason } from '../domain/task-state.js';
import type { Swept, TaskSweeps } from '../recovery-port.js';
import { drainedAgents } from '../store/drained-agents.sql.js';
import { markStaleRuns, reviveStaleRuns } from '../store/liveness.sql.js';
import type { LockedTask } from '../domain/locked-task.js';
import { applyPlans } from '../store/moves.js';
import {
  abortExpiredInQueue,
  lockExpiredRuns,
  lockExpiredRunsOfMuteAgents,
  lockOverdueRuns,
  lockRunsOfLostAgents,
  promoteDueRetries,
  type ReadyRow,
} from '../store/recovery.sql.js';
import { DependentSettlement } from './dependent-settlement.js';
import { countByWorkspace, swept, together } from './swept.js';

const COORDINATOR: Actor = { kind: 'coordinator', id: null };

const WHAT_HAPPENED: Partial<Record<AbortReason, string>> = {
  lease_expired: 'The lease of its run has passed',
  agent_stale: 'Its agent has stopped beating',
  timeout: 'It ran longer than its timeout',
};

/** The coordinator's sweeps over tasks and runs: lock, decide, apply, in one short transaction each. */
@Injectable()
export class TaskRecovery implements TaskSweeps {
  constructor(
    @Inject(Database) private readonly database: Database,
    @Inject(WakeUps) private readonly wakeUps: WakeUps,
    @Inject(DependentSettlement) private readonly settlement: DependentSettlement,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  async expireLeases(fence: Fence, limit: number): Promise<Swept> {
    const own = await this.recover(fence, limit, lockExpiredRuns, 'lease_expired');
    const mute = await this.recover(fence, limit, lockExpiredRunsOfMuteAgents, 'lease_expired');
    return together(own, mute);
  }

  recoverRunsOfLostAgents(fence: Fence, limit: number): Promise<Swept> {
    return this.recover(fence, limit, lockRunsOfLostAgents, 'agent_stale');
  }

  timeOutRuns(fence: Fence, limit: number): Promise<Swept> {
    return this.recover(fence, limit, lockOverdueRuns, 'timeout');
  }

  async promoteDueRetries(fence: Fence, limit: number): Promise<Swept> {
    const rows = await this.fenced(fence, (tx) => tx.rows(promoteDueRetries, [limit]));
    this.wakeClaims(rows);
    return swept(rows, limit);
  }

  async expireQueued(fence: Fence, limit: number): Promise<Swept> {
    const rows = await this.fenced(fence, (tx) => tx.rows(abortExpiredInQueue, [limit]));
    return swept(rows, limit);
  }

  async terminateDrained(fence: Fence, limit: number): Promise<Swept> {
    const rows = await this.fenced(fence, async (tx) => {
      const drained = await tx.rows(drainedAgents, [limit]);
      const reason = 'drained';
      return moveAgents(
        tx,
        drained.map(({ workspace_id, id }) => ({
          workspaceId: workspace_id,
          agentId: id,
          to: 'TERMINATED',
          reason,
        })),
      );
    });
    return swept(rows, limit);
  }

  async watchLiveness(fence: Fence, limit: number): Promise<Swept> {
    const [revived, silent] = await this.fenced(fence, async (tx) => [
      await tx.rows(reviveStaleRuns, [limit]),
      await tx.rows(markStaleRuns, [limit]),
    ]);
    return swept([...revived, ...silent], limit);
  }

  async settleDependents(fence: Fence, limit: number): Promise<Swept> {
    const settled = await this.fenced(fence, (tx) => this.settlement.settle(tx, limit));
    this.wakeClaims(settled.released);
    return swept(settled.prerequisites, limit);
  }

  private async recover(
    fence: Fence,
    limit: number,
    lock: Sql<LockedTask>,
    reason: AbortReason,
  ): Promise<Swept> {
    const tasks = await this.fenced(fence, async (tx) => {
      const locked = await tx.rows(lock, [limit]);
      await applyPlans(
        tx,
        locked.map((task) => this.plan(task, reason)),
      );
      return locked;
    });
    const agents = new Set(tasks.flatMap((task) => task.agent_id ?? []));
    this.wakeUps.signals([...agents]);
    return swept(tasks, limit);
  }

  private plan(task: LockedTask, reason: AbortReason): RecoveryPlan {
    const failure = { reason, message: WHAT_HAPPENED[reason] ?? reason, actor: COORDINATOR };
    const policy = { backoffCapSeconds: this.config.tasks.retryBackoffCapSeconds };
    return planRecovery(task, failure, policy, Math.random());
  }

  private fenced<T>(fence: Fence, work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.database.service.transaction(async (tx) => {
      await fence(tx);
      return work(tx);
    });
  }

  private wakeClaims(rows: readonly ReadyRow[]): void {
    for (const [workspaceId, count] of countByWorkspace(rows)) {
      this.wakeUps.claims(workspaceId, count);
    }
  }
}
