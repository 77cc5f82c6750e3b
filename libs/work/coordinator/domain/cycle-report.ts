import type { StepName } from '../patterns/index.js';

export interface StepReport {
  step: StepName;
  /** Number of moved rows, in total and by workspace. */
  moved: number;
  byWorkspace: Record<string, number>;
  durationMs: number;
  /** True if it stopped at its limit with more to do. */
  more: boolean;
  /** The code of the error, or null if the step did not fail. */
  error: string | null;
}

export interface CycleReport {
  startedAt: string;
  durationMs: number;
  steps: StepReport[];
}

export function movedIn(report: CycleReport): number {
  return report.steps.reduce((sum, step) => sum + step.moved, 0);
}

export function hasFailed(report: CycleReport): boolean {
  return report.steps.some((step) => step.error !== null);
}

/** True if a step that moved rows stopped at its limit. */
export function leavesMore(report: CycleReport): boolean {
  return report.steps.some((step) => step.more && step.moved > 0 && step.error === null);
}

/** Number of rows that a step moved, for a caller that sees one workspace, or all (null). */
export function movedFor(step: StepReport, workspaceId: string | null): number {
  return workspaceId === null ? step.moved : (step.byWorkspace[workspaceId] ?? 0);
}
