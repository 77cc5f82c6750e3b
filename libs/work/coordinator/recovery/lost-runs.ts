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
 * A selection of live runs that are lost, with their tasks, of every workspace, for the service role. It
 * locks what it returns and skips what is locked, because that is being changed.
 *
 * $1 rows at most, $2 the workspace to look at, or NULL for all: the indexes are of all workspaces, and
 * what is due is few rows.
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
-- Both: a renewal or a report that came between the look and the lock counts.
FOR NO KEY UPDATE OF t, r SKIP LOCKED`,
  );

export interface Loss {
  /** Made by `lostRuns`. */
  lock: Sql<LockedTask>;
  /** Parameters of the statement, after the first two. */
  params?: readonly unknown[];
  reason: AbortReason;
  /** For the log of the task. */
  message: string;
}

/** Ends lost runs: locks them, decides about their tasks, applies it, in one short transaction. */
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

  /** Their tasks go back to the queue, paused ones aside; no attempt is spent. */
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
    return pass.moved(tasks);
  }
}
