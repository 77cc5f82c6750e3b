import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '#lib/config';
import { Database, type Fence } from '#lib/database';
import type { Actor } from '#lib/kernel';
import { WakeUps } from '#lib/valkey';
import type { LockedTask } from '#lib/transitions';
import { planRecovery, type RecoveryPlan } from '#lib/transitions';
import { EVERYWHERE, type Swept } from '#lib/transitions';
import { warnHungRuns } from '../store/hung-runs.sql.js';
import { applyPlans } from '#lib/transitions';
import { lockHungRuns } from '../store/recovery.sql.js';
import { fenced } from '#lib/transitions';
import { swept } from '#lib/transitions';

const COORDINATOR: Actor = { kind: 'coordinator', id: null };

/**
 * Runs that seem to hang: long past their estimate, and without progress. Their agents are warned first.
 * Progress or a checkpoint takes the warning back; without, the run ends like one past its timeout, and its
 * task is retried at the priority that it has: one that always hangs must not overtake the others.
 */
@Injectable()
export class HungRuns {
  constructor(
    private readonly database: Database,
    private readonly wakeUps: WakeUps,
    @Inject(CONFIG) private readonly config: Pick<Config, 'tasks'>,
  ) {}

  async warn(fence: Fence, limit: number, scope = EVERYWHERE): Promise<Swept> {
    const { hungAfterSeconds, hungAbortAfterSeconds } = this.config.tasks;
    const params = [limit, scope.workspaceId, hungAfterSeconds, hungAbortAfterSeconds];
    const warned = await fenced(this.database, fence, (tx) => tx.rows(warnHungRuns, params));
    this.wakeUps.signals([...new Set(warned.map((run) => run.agent_id))]);
    return swept(warned, limit);
  }

  async timeOut(fence: Fence, limit: number, scope = EVERYWHERE): Promise<Swept> {
    const params = [limit, scope.workspaceId, this.config.tasks.hungAbortAfterSeconds];
    const tasks = await fenced(this.database, fence, async (tx) => {
      const locked = await tx.rows(lockHungRuns, params);
      await applyPlans(
        tx,
        locked.map((task) => this.plan(task)),
      );
      return locked;
    });
    this.wakeUps.signals([...new Set(tasks.flatMap((task) => task.agent_id ?? []))]);
    return swept(tasks, limit);
  }

  private plan(task: LockedTask): RecoveryPlan {
    const { hungAbortAfterSeconds, retryBackoffCapSeconds } = this.config.tasks;
    const message = `It was long past its estimate, and made no progress within ${hungAbortAfterSeconds} s of a warning`;
    const failure = { reason: 'timeout', message, actor: COORDINATOR } as const;
    return planRecovery(
      task,
      failure,
      { backoffCapSeconds: retryBackoffCapSeconds },
      Math.random(),
    );
  }
}
