import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '#lib/config';
import type { Sql } from '#lib/database';
import { COORDINATOR } from '#lib/kernel';
import {
  type AbortReason,
  applyPlans,
  type FailurePlan,
  type LockedTask,
  planFailure,
  planFreeRelease,
  type ReleasePlan,
  type SweepResult,
} from '#lib/transitions';
import { WakeUps } from '#lib/valkey';
import type { Pass } from '../cycle/pass.js';

export interface Loss {
  /** A statement of `lostRuns`. */
  lock: Sql<LockedTask>;
  /** Parameters of the statement, after the first two. */
  params?: readonly unknown[];
  reason: AbortReason;
  /** The message in the task's log. */
  message: string;
}

/**
 * Ends lost runs in one short transaction: locks them, decides about their tasks, applies the
 * decisions.
 */
@Injectable()
export class LostRuns {
  constructor(
    private readonly wakeUps: WakeUps,
    @Inject(CONFIG) private readonly config: Pick<Config, 'tasks'>,
  ) {}

  end(pass: Pass, { lock, params = [], reason, message }: Loss): Promise<SweepResult> {
    const policy = { backoffCapSeconds: this.config.tasks.retryBackoffCapSeconds };
    const failure = { reason, message, actor: COORDINATOR };
    return this.settle(pass, [lock, params], (task) =>
      planFailure(task, failure, policy, Math.random()),
    );
  }

  /** Returns their tasks to the queue, except paused ones. No attempt is spent. */
  release(pass: Pass, lock: Sql<LockedTask>, reason: string): Promise<SweepResult> {
    return this.settle(pass, [lock, []], (task) =>
      planFreeRelease(task, { actor: COORDINATOR, reason }),
    );
  }

  private async settle(
    pass: Pass,
    [lock, params]: readonly [Sql<LockedTask>, readonly unknown[]],
    planOf: (task: LockedTask) => FailurePlan | ReleasePlan,
  ): Promise<SweepResult> {
    const tasks = await pass.transaction(async (tx) => {
      const locked = await tx.rows(lock, [...pass.bounds, ...params]);
      await applyPlans(tx, locked.map(planOf));
      return locked;
    });
    this.wakeUps.signals([...new Set(tasks.flatMap((task) => task.agent_id ?? []))]);
    return pass.countMoved(tasks);
  }
}
