import { Inject, Injectable } from '@nestjs/common';
import { Database, type Fence, isUnreachable } from '#lib/database';
import { DroverError } from '#lib/kernel';
import { instruments } from '#lib/observability';
import { EVERYWHERE, type SweepResult } from '#lib/transitions';
import type { CycleReport, StepReport } from '../domain/cycle-report.js';
import { EventLog } from '../status/event-log.js';
import { LeadershipLost } from '../leadership/fence.js';
import { Pass } from './pass.js';
import type { StepName } from '../patterns/index.js';
import { type Step, STEPS } from './steps.js';

/** Maximum number of rows that one sweep moves, and of sweeps of one step in a cycle. */
const SWEEP_LIMIT = 500;
const SWEEPS_PER_STEP = 20;

/** One pass over everything that can be overdue. */
@Injectable()
export class Cycle {
  constructor(
    private readonly database: Database,
    @Inject(STEPS) private readonly steps: readonly Step[],
    private readonly eventLog: EventLog,
  ) {}

  /**
   * Runs the steps in order. An error in one step is logged and counted, and the next step still
   * runs.
   *
   * @param betweenSweeps called before each sweep; its error ends the cycle
   * @param scope one workspace: steps that need all workspaces in view are left out
   * @throws LeadershipLost, or DroverError when the database cannot be reached: the remaining steps
   *   would fail too
   */
  async run(
    fence: Fence,
    betweenSweeps: () => Promise<void>,
    scope = EVERYWHERE,
  ): Promise<CycleReport> {
    const startedAt = new Date().toISOString();
    const start = performance.now();
    const pass = new Pass(this.database, fence, SWEEP_LIMIT, scope);
    const steps: StepReport[] = [];
    for (const { facts, sweep } of this.steps) {
      if (facts.acrossWorkspaces && scope.workspaceId !== null) continue;
      const report = await this.runStep(facts.name, () => sweep(pass), betweenSweeps);
      if (facts.notable !== undefined) this.logMoves(facts.notable, report);
      steps.push(report);
    }
    const durationMs = since(start);
    instruments.cycleSeconds.observe(durationMs / 1_000);
    instruments.lastCycle.set(durationMs / 1_000);
    return { startedAt, durationMs, steps };
  }

  /** The time of the next expensive search, on the clock of performance.now(). */
  nextSearchAt(): number {
    return Math.min(...this.steps.map((step) => step.nextSearchAt()));
  }

  private async runStep(
    name: StepName,
    sweep: () => Promise<SweepResult>,
    betweenSweeps: () => Promise<void>,
  ): Promise<StepReport> {
    const start = performance.now();
    const report: StepReport = begin(name);
    for (let sweeps = 0; sweeps < SWEEPS_PER_STEP; sweeps++) {
      await betweenSweeps();
      if (!(await this.sweepInto(report, sweep))) break;
    }
    const durationMs = since(start);
    count(report, durationMs);
    return { ...report, durationMs };
  }

  /** @returns whether there is more to do */
  private async sweepInto(report: StepReport, sweep: () => Promise<SweepResult>): Promise<boolean> {
    try {
      const result = await sweep();
      add(report, result);
      for (const finding of result.findings ?? []) this.eventLog.write(finding);
      return report.more;
    } catch (error) {
      if (error instanceof LeadershipLost || isUnreachable(error)) throw error;
      report.error = codeOf(error);
      this.logFailure(report.step, error);
      return false;
    }
  }

  private logFailure(step: StepName, error: unknown): void {
    this.eventLog.write({
      level: 'ERROR',
      event: 'step_failed',
      message: 'Step of the cycle failed; the next steps ran',
      details: { step, code: codeOf(error), error: String(error) },
    });
  }

  private logMoves(message: string, { step, byWorkspace }: StepReport): void {
    for (const [workspaceId, count] of Object.entries(byWorkspace)) {
      this.eventLog.write({ workspaceId, level: 'WARN', event: step, message, details: { count } });
    }
  }
}

function begin(step: StepName): StepReport {
  return { step, moved: 0, byWorkspace: {}, durationMs: 0, more: false, error: null };
}

function add(report: StepReport, result: SweepResult): void {
  report.moved += result.moved;
  report.more = result.more;
  for (const [id, count] of result.byWorkspace) {
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
