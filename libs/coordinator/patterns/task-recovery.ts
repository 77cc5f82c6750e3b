import { Inject, Injectable } from '@nestjs/common';
import { moveAgents } from '#lib/transitions';
import { CONFIG, type Config } from '#lib/config';
import { Database, type Fence, type Sql } from '#lib/database';
import type { Actor } from '#lib/kernel';
import { WakeUps } from '#lib/valkey';
import { planRecovery, type RecoveryPlan } from '#lib/transitions';
import type { AbortReason } from '#lib/transitions';
import { EVERYWHERE, type Swept, type SweepScope, type TaskSweeps } from '#lib/transitions';
import { drainedAgents } from '../store/drained-agents.sql.js';
import { markStaleRuns, reviveStaleRuns } from '../store/liveness.sql.js';
import type { LockedTask } from '#lib/transitions';
import { applyPlans } from '#lib/transitions';
import {
  abortExpiredInQueue,
  lockExpiredRuns,
  lockExpiredRunsOfMuteAgents,
  lockOverdueRuns,
  lockRunsOfLostAgents,
  lockRunsOfLostGateways,
  promoteDueRetries,
} from '../store/recovery.sql.js';
import { DependentSettlement } from './dependent-settlement.js';
import { fenced } from '#lib/transitions';
import { swept, together, wakeClaims } from '#lib/transitions';

const COORDINATOR: Actor = { kind: 'coordinator', id: null };

const WHAT_HAPPENED: Partial<Record<AbortReason, string>> = {
  lease_expired: 'The lease of its run has passed',
  agent_stale: 'Its agent has stopped beating',
  timeout: 'It ran longer than its timeout',
};

interface Losses {
  limit: number;
  scope: SweepScope;
  /** Of the statement, after the first two. */
  params?: readonly unknown[];
  /** What the log says, if not the same as for others of the reason. */
  message?: string;
}

/** The coordinator's sweeps over tasks and runs: lock, decide, apply, in one short transaction each. */
@Injectable()
export class TaskRecovery implements TaskSweeps {
  constructor(
    private readonly database: Database,
    private readonly wakeUps: WakeUps,
    private readonly settlement: DependentSettlement,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  async expireLeases(fence: Fence, limit: number, scope = EVERYWHERE): Promise<Swept> {
    const bounds = { limit, scope };
    const own = await this.recover(fence, bounds, lockExpiredRuns, 'lease_expired');
    const mute = await this.recover(fence, bounds, lockExpiredRunsOfMuteAgents, 'lease_expired');
    return together(own, mute);
  }

  recoverRunsOfLostAgents(fence: Fence, limit: number, scope = EVERYWHERE): Promise<Swept> {
    return this.recover(fence, { limit, scope }, lockRunsOfLostAgents, 'agent_stale');
  }

  recoverRunsOfLostGateways(
    fence: Fence,
    limit: number,
    listeningMs: number,
    scope = EVERYWHERE,
  ): Promise<Swept> {
    const params = [this.config.gateway.staleSeconds, listeningMs / 1_000];
    const lost = { ...{ limit, scope, params }, message: 'Its gateway has stopped beating' };
    return this.recover(fence, lost, lockRunsOfLostGateways, 'agent_stale');
  }

  timeOutRuns(fence: Fence, limit: number, scope = EVERYWHERE): Promise<Swept> {
    return this.recover(fence, { limit, scope }, lockOverdueRuns, 'timeout');
  }

  async promoteDueRetries(fence: Fence, limit: number, scope = EVERYWHERE): Promise<Swept> {
    const params = [limit, scope.workspaceId];
    const rows = await fenced(this.database, fence, (tx) => tx.rows(promoteDueRetries, params));
    wakeClaims(this.wakeUps, rows);
    return swept(rows, limit);
  }

  async expireQueued(fence: Fence, limit: number, scope = EVERYWHERE): Promise<Swept> {
    const params = [limit, scope.workspaceId];
    const rows = await fenced(this.database, fence, (tx) => tx.rows(abortExpiredInQueue, params));
    return swept(rows, limit);
  }

  async terminateDrained(fence: Fence, limit: number, scope = EVERYWHERE): Promise<Swept> {
    const rows = await fenced(this.database, fence, async (tx) => {
      const drained = await tx.rows(drainedAgents, [limit, scope.workspaceId]);
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

  async watchLiveness(fence: Fence, limit: number, scope = EVERYWHERE): Promise<Swept> {
    const params = [limit, scope.workspaceId];
    const [revived, silent] = await fenced(this.database, fence, async (tx) => [
      await tx.rows(reviveStaleRuns, params),
      await tx.rows(markStaleRuns, params),
    ]);
    return swept([...revived, ...silent], limit);
  }

  async settleDependents(fence: Fence, limit: number, scope = EVERYWHERE): Promise<Swept> {
    const settled = await fenced(this.database, fence, (tx) =>
      this.settlement.settle(tx, limit, scope.workspaceId),
    );
    wakeClaims(this.wakeUps, settled.released);
    const told = swept(settled.prerequisites, limit);
    return { ...told, more: told.more || settled.more };
  }

  private async recover(
    fence: Fence,
    { limit, scope, params = [], message }: Losses,
    lock: Sql<LockedTask>,
    reason: AbortReason,
  ): Promise<Swept> {
    const tasks = await fenced(this.database, fence, async (tx) => {
      const locked = await tx.rows(lock, [limit, scope.workspaceId, ...params]);
      await applyPlans(
        tx,
        locked.map((task) => this.plan(task, reason, message ?? WHAT_HAPPENED[reason] ?? reason)),
      );
      return locked;
    });
    const agents = new Set(tasks.flatMap((task) => task.agent_id ?? []));
    this.wakeUps.signals([...agents]);
    return swept(tasks, limit);
  }

  private plan(task: LockedTask, reason: AbortReason, message: string): RecoveryPlan {
    const failure = { reason, message, actor: COORDINATOR };
    const policy = { backoffCapSeconds: this.config.tasks.retryBackoffCapSeconds };
    return planRecovery(task, failure, policy, Math.random());
  }
}
