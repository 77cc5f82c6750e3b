import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '#lib/config';
import type { Transaction } from '#lib/database';
import {
  applyTransitions,
  applyPlans,
  detachRuns,
  NOTHING,
  type SweepResult,
  together,
} from '#lib/transitions';
import { WakeUps } from '#lib/valkey';
import { planRepair } from '../domain/repair-leased.js';
import type { Pass } from '../cycle/pass.js';
import type { Reconciler, ReconcilerFacts } from '../cycle/reconciler.js';
import {
  beginRuns,
  type DefectiveTask,
  findLeasedDefects,
  findStrayRuns,
  forgetRuns,
  lockForRepair,
  logStrayRuns,
  readLeasedDefects,
  readStrayRuns,
  type StrayRun,
} from './recover-orphans.sql.js';

/**
 * Finds leased tasks without a live run, live runs that no task names, and pairs of which only one
 * has begun. Task and run change in one statement, so Drover itself causes none of these. They come
 * from restored backups and manual changes in the database, and would wait forever.
 */
@Injectable()
export class RecoverOrphans implements Reconciler {
  static readonly facts = {
    name: 'recover_orphans',
    counter: 'orphanedTasksRecovered',
    moves: 'tasks that no live run holds, live runs that no task names',
    notable: 'Tasks and runs that contradicted each other were repaired',
    slow: true,
  } as const satisfies ReconcilerFacts;

  constructor(
    private readonly wakeUps: WakeUps,
    @Inject(CONFIG) private readonly config: Pick<Config, 'tasks'>,
  ) {}

  async sweep(pass: Pass): Promise<SweepResult> {
    return together(await this.endStrayRuns(pass), await this.repairLeased(pass));
  }

  private async endStrayRuns(pass: Pass): Promise<SweepResult> {
    const found = await pass.search(findStrayRuns);
    let skipped = false;
    if (found.length === 0) return NOTHING;
    const tasks = found.map(({ workspace_id, task_id }) => ({ workspace_id, id: task_id }));
    const ended = await pass.transaction(async (tx) => {
      const locked = await tx.rows(lockForRepair, [JSON.stringify(tasks)]);
      skipped = locked.length < new Set(tasks.map(({ id }) => id)).size;
      const stray = await tx.rows(readStrayRuns, [JSON.stringify(locked)]);
      const moved = await tx.rows(detachRuns, [JSON.stringify(stray.map(planRelease))]);
      await tx.rows(logStrayRuns, [JSON.stringify(stray)]);
      this.wakeUps.signals(moved.map((run) => run.agent_id));
      return stray;
    });
    return { ...pass.countMoved(ended), skipped };
  }

  private async repairLeased(pass: Pass): Promise<SweepResult> {
    const found = await pass.search(findLeasedDefects);
    let skipped = false;
    if (found.length === 0) return NOTHING;
    const repaired = await pass.transaction(async (tx) => {
      const locked = await tx.rows(lockForRepair, [JSON.stringify(found)]);
      skipped = locked.length < found.length;
      const defective = await tx.rows(readLeasedDefects, [JSON.stringify(locked)]);
      await this.repair(tx, defective);
      return defective;
    });
    this.wakeUps.signals([...new Set(repaired.flatMap((task) => task.agent_id ?? []))]);
    return { ...pass.countMoved(repaired), skipped };
  }

  private async repair(tx: Transaction, tasks: readonly DefectiveTask[]): Promise<void> {
    const policy = { backoffCapSeconds: this.config.tasks.retryBackoffCapSeconds };
    const planned = tasks.map((task) => {
      return { task, repair: planRepair(task, task.defect, policy, Math.random()) };
    });
    const plans = planned.flatMap(({ repair }) => (repair.kind === 'recover' ? [repair.plan] : []));
    const transitions = planned.flatMap(({ repair }) =>
      repair.kind === 'catch_up' ? [repair.transition] : [],
    );
    const of = (kind: string) =>
      planned.filter(({ repair }) => repair.kind === kind).map(({ task }) => task);
    await applyTransitions(tx, transitions);
    const behind = of('begin_run').map((task) => ({ ...task, id: task.run_id }));
    if (behind.length > 0) await tx.rows(beginRuns, [JSON.stringify(behind)]);
    const paused = of('forget_run');
    if (paused.length > 0) await tx.rows(forgetRuns, [JSON.stringify(paused)]);
    // Last: plans change agents and budgets, and after that no run may be locked.
    await applyPlans(tx, plans);
  }
}

/** A stray run spends no attempt, so it counts as released. */
function planRelease({ workspace_id, id }: StrayRun) {
  const end = { to_state: 'RELEASED', end_reason: 'orphaned', ended_by: 'coordinator' };
  return { workspace_id, run_id: id, ...end };
}
