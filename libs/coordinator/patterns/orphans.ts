import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '#lib/config';
import { Database, type Fence, type Transaction } from '#lib/database';
import { WakeUps } from '#lib/valkey';
import { judgeHeld } from '../domain/judge-held.js';
import { EVERYWHERE, type Swept, type SweepScope } from '#lib/transitions';
import { letGoOfRuns } from '#lib/transitions';
import { applyMoves, applyPlans } from '#lib/transitions';
import {
  beginRuns,
  type DefectiveTask,
  findHeldDefects,
  findStrayRuns,
  forgetRuns,
  lockForRepair,
  logStrayRuns,
  readHeldDefects,
  readStrayRuns,
  type StrayRun,
} from '../store/orphans.sql.js';
import { fenced } from '#lib/transitions';
import { swept, together } from '#lib/transitions';

/**
 * Tasks that are held by no live run, live runs that no task names, and tasks and runs of which only one
 * has begun. The doors move task and run in one statement, so none of these can come from Drover; they
 * come with restored backups and hands in the database, and would wait for good.
 */
@Injectable()
export class Orphans {
  constructor(
    private readonly database: Database,
    private readonly wakeUps: WakeUps,
    @Inject(CONFIG) private readonly config: Pick<Config, 'tasks'>,
  ) {}

  async sweep(fence: Fence, limit: number, scope = EVERYWHERE): Promise<Swept> {
    const runs = await this.endStrayRuns(fence, limit, scope);
    return together(runs, await this.repairHeld(fence, limit, scope));
  }

  private async endStrayRuns(fence: Fence, limit: number, scope: SweepScope): Promise<Swept> {
    const params = [limit, scope.workspaceId];
    const found = await this.database.service.rows(findStrayRuns, params);
    if (found.length === 0) return swept([], limit);
    const tasks = found.map(({ workspace_id, task_id }) => ({ workspace_id, id: task_id }));
    const ended = await fenced(this.database, fence, async (tx) => {
      const locked = await tx.rows(lockForRepair, [JSON.stringify(tasks)]);
      const stray = await tx.rows(readStrayRuns, [JSON.stringify(locked)]);
      const moved = await tx.rows(letGoOfRuns, [JSON.stringify(stray.map(released))]);
      await tx.rows(logStrayRuns, [JSON.stringify(stray)]);
      this.wakeUps.signals(moved.map((run) => run.agent_id));
      return stray;
    });
    return swept(ended, limit);
  }

  private async repairHeld(fence: Fence, limit: number, scope: SweepScope): Promise<Swept> {
    const params = [limit, scope.workspaceId];
    const found = await this.database.service.rows(findHeldDefects, params);
    if (found.length === 0) return swept([], limit);
    const repaired = await fenced(this.database, fence, async (tx) => {
      const locked = await tx.rows(lockForRepair, [JSON.stringify(found)]);
      const defective = await tx.rows(readHeldDefects, [JSON.stringify(locked)]);
      await this.repair(tx, defective);
      return defective;
    });
    this.wakeUps.signals([...new Set(repaired.flatMap((task) => task.agent_id ?? []))]);
    return swept(repaired, limit);
  }

  private async repair(tx: Transaction, tasks: readonly DefectiveTask[]): Promise<void> {
    const policy = { backoffCapSeconds: this.config.tasks.retryBackoffCapSeconds };
    const judged = tasks.map((task) => {
      return { task, repair: judgeHeld(task, task.defect, policy, Math.random()) };
    });
    const plans = judged.flatMap(({ repair }) => (repair.kind === 'recover' ? [repair.plan] : []));
    const moves = judged.flatMap(({ repair }) => (repair.kind === 'catch_up' ? [repair.move] : []));
    const of = (kind: string) =>
      judged.filter(({ repair }) => repair.kind === kind).map(({ task }) => task);
    await applyPlans(tx, plans);
    await applyMoves(tx, moves);
    const behind = of('begin_run').map((task) => ({ ...task, id: task.run_id }));
    if (behind.length > 0) await tx.rows(beginRuns, [JSON.stringify(behind)]);
    const paused = of('forget_run');
    if (paused.length > 0) await tx.rows(forgetRuns, [JSON.stringify(paused)]);
  }
}

/** It was nobody's attempt, so it counts as given back. */
function released({ workspace_id, id }: StrayRun) {
  return { workspace_id, run_id: id, to_state: 'RELEASED', end_reason: 'orphaned' };
}
