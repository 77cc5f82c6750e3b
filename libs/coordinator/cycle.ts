import { Injectable } from '@nestjs/common';
import { type Fence, isUnreachable } from '#lib/database';
import { DroverError } from '#lib/kernel';
import { instruments } from '#lib/observability';
import { EVERYWHERE, type Swept } from '#lib/transitions';
import type { CycleReport, StepReport } from './domain/cycle-report.js';
import { Journal } from './journal.js';
import { LeadershipLost } from './leadership/fence.js';
import type { StepName } from './steps/step.js';
import { Steps } from './steps/steps.js';

/** Rows that one sweep moves, and sweeps of one step in a cycle, at most. */
const SWEEP_LIMIT = 500;
const SWEEPS_PER_STEP = 20;

/** What a workspace's log says of a step that moved rows of it. The others happen all the time. */
const NOTABLE: Partial<Record<StepName, string>> = {
  expire_leases: 'Runs were ended because their lease had passed',
  recover_lost_runs: 'Runs were ended because their agent is gone',
  time_out_runs: 'Runs were ended because they were past their timeout',
  expire_queued: 'Tasks were aborted because they had waited too long',
  warn_hung: 'Runs are long past their estimate without progress; their agents were warned',
  time_out_hung: 'Runs were ended because they made no progress after a warning',
  recover_orphans: 'Tasks and runs that had lost each other were set right',
};

/** One pass over everything that can be overdue. */
@Injectable()
export class Cycle {
  constructor(
    private readonly steps: Steps,
    private readonly journal: Journal,
  ) {}

  /**
   * Runs the steps in order. An error in one is told and counted, and the next still runs.
   *
   * @param betweenSweeps called before each sweep; what it throws ends the cycle
   * @param scope one workspace: without the steps that have all of them in view
   * @throws LeadershipLost, or DroverError when the database can't be reached: the rest would fail too
   */
  async run(
    fence: Fence,
    betweenSweeps: () => Promise<void>,
    scope = EVERYWHERE,
  ): Promise<CycleReport> {
    const startedAt = new Date().toISOString();
    const start = performance.now();
    const steps: StepReport[] = [];
    for (const step of this.steps.inOrder) {
      if (step.acrossWorkspaces && scope.workspaceId !== null) continue;
      const sweep = () => step.sweep(fence, SWEEP_LIMIT, scope);
      steps.push(await this.runStep(step.name, sweep, betweenSweeps));
    }
    const durationMs = since(start);
    instruments.cycleSeconds.observe(durationMs / 1_000);
    return { startedAt, durationMs, steps };
  }

  private async runStep(
    name: StepName,
    sweep: () => Promise<Swept>,
    betweenSweeps: () => Promise<void>,
  ): Promise<StepReport> {
    const start = performance.now();
    const report: StepReport = begin(name);
    for (let sweeps = 0; sweeps < SWEEPS_PER_STEP; sweeps++) {
      await betweenSweeps();
      if (!(await this.sweepInto(report, sweep))) break;
    }
    this.tellOfMoves(report);
    const durationMs = since(start);
    count(report, durationMs);
    return { ...report, durationMs };
  }

  /** @returns whether there is more to do */
  private async sweepInto(report: StepReport, sweep: () => Promise<Swept>): Promise<boolean> {
    try {
      const swept = await sweep();
      add(report, swept);
      for (const finding of swept.findings ?? []) this.journal.write(finding);
      return report.more;
    } catch (error) {
      if (error instanceof LeadershipLost || isUnreachable(error)) throw error;
      report.error = codeOf(error);
      this.tellOfFailure(report.step, error);
      return false;
    }
  }

  private tellOfFailure(step: StepName, error: unknown): void {
    this.journal.write({
      level: 'ERROR',
      event: 'step_failed',
      message: 'A step of the cycle failed; the next ones ran',
      details: { step, code: codeOf(error), error: String(error) },
    });
  }

  private tellOfMoves({ step, byWorkspace }: StepReport): void {
    const message = NOTABLE[step];
    if (message === undefined) return;
    for (const [workspaceId, count] of Object.entries(byWorkspace)) {
      this.journal.write({ workspaceId, level: 'WARN', event: step, message, details: { count } });
    }
  }
}

function begin(step: StepName): StepReport {
  return { step, moved: 0, byWorkspace: {}, durationMs: 0, more: false, error: null };
}

function add(report: StepReport, swept: Swept): void {
  report.moved += swept.moved;
  report.more = swept.more;
  for (const [id, count] of swept.byWorkspace) {
    report.byWorkspace[id] = (report.byWorkspace[id] ?? 0) + count;
  }
}

function count({ step, moved, error }: StepReport, durationMs: number): void {
  instruments.stepSeconds.observe({ step }, durationMs / 1_000);
  instruments.stepMoves.inc({ step }, moved);
  if (error !== null) instruments.stepErrors.inc({ step });
}

function since(start: number): number {
  return Math.round((performance.now() - start) * 10) / 10;
}

function codeOf(error: unknown): string {
  if (error instanceof DroverError) return error.code;
  return (error as { code?: string }).code ?? (error as Error).name ?? 'unknown';
}
