import { type CycleReport, movedFor } from '../domain/cycle-report.js';
import { COUNTER_NAMES, type CounterName, RECONCILERS, type StepName } from '../patterns/index.js';

const COUNTERS = new Map<StepName, CounterName>(
  RECONCILERS.map(({ facts }) => [facts.name, facts.counter]),
);

export interface RecoveryRequest {
  workspaceId?: string;
  /** True for all workspaces. Refused unless the caller can see all of them. */
  allWorkspaces?: boolean;
}

export interface RecoveryResult {
  /** The workspace that was swept; null: all. */
  workspaceId: string | null;
  /** The sum of the counts. */
  recovered: number;
  counts: Record<CounterName, number>;
  durationMs: number;
  /** Steps that failed. The other steps ran. */
  failedSteps: StepName[];
}

export function toRecoveryResult(report: CycleReport, workspaceId: string | null): RecoveryResult {
  const none = COUNTER_NAMES.map((name) => [name, 0]);
  const pairs = report.steps.map((step) => [COUNTERS.get(step.step), movedFor(step, workspaceId)]);
  const counts = Object.fromEntries([...none, ...pairs]) as Record<CounterName, number>;
  return {
    workspaceId,
    recovered: Object.values(counts).reduce((sum, count) => sum + count, 0),
    counts,
    durationMs: report.durationMs,
    failedSteps: report.steps.filter((step) => step.error !== null).map((step) => step.step),
  };
}
