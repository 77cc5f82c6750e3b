import type { StepName } from '../patterns/index.js';

export interface StepReport {
  step: StepName;
  /** Rows that it moved, in all and by workspace. */
  moved: number;
  byWorkspace: Record<string, number>;
  durationMs: number;
  /** Whether it stopped at its bound with more to do. */
  more: boolean;
  /** The cause of its failure, as a code; null when it did not fail. */
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

/** Whether a step that got on stopped at its bound. */
export function leavesMore(report: CycleReport): boolean {
  return report.steps.some((step) => step.more && step.moved > 0 && step.error === null);
}

/** The rows that a step moved, for a caller that sees one workspace, or all (null). */
export function movedFor(step: StepReport, workspaceId: string | null): number {
  return workspaceId === null ? step.moved : (step.byWorkspace[workspaceId] ?? 0);
}
