import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '#lib/config';
import { query, type Sql } from '#lib/database';
import { COORDINATOR } from '#lib/kernel';
import {
  type AbortReason,
  applyPlans,
  type FailurePlan,
  isLiveRun,
  LOCKED_TASK_COLUMNS,
  type LockedTask,
  planFailure,
  planFreeRelease,
  type ReleasePlan,
  type SweepResult,
} from '#lib/transitions';
import { WakeUps } from '#lib/valkey';
import type { Pass } from '../cycle/pass.js';

/**
 * Selects lost live runs with their tasks, of every workspace, as the service role. It locks the
 * rows that it returns and skips locked rows, because these are being changed.
 *
 * $1 rows at most, $2 the workspace or NULL for all: the indexes cover all workspaces, and few rows
 * are due.
 */
export const lostRuns = (name: string, joins: string, condition: string, order: string) =>
  query<LockedTask>(
    name,
    `
SELECT ${LOCKED_TASK_COLUMNS}
FROM task_runs r
JOIN agent_tasks t ON t.workspace_id = r.workspace_id AND t.id = r.task_id AND t.run_id = r.id
${joins}
WHERE ${isLiveRun('r')} AND ${condition}
  AND ($2::uuid IS NULL OR r.workspace_id = $2)
ORDER BY ${order}
LIMIT $1
-- Locks both, so that a renewal or report before the lock counts.
FOR NO KEY UPDATE OF t, r SKIP LOCKED`,
  );

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
