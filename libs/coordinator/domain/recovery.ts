import type { StepName } from '../steps/step.js';
import { type CycleReport, movedFor } from './cycle-report.js';

const COUNTERS = {
  expire_leases: 'expiredLeases',
  reap_stale_agents: 'staleAgents',
  recover_lost_runs: 'recoveredRuns',
  watch_liveness: 'livenessChanges',
  promote_retries: 'promotedRetries',
  settle_dependents: 'settledPrerequisites',
  time_out_runs: 'timedOutRuns',
  expire_queued: 'expiredInQueue',
  terminate_drained: 'terminatedAgents',
  assign: 'assignedTasks',
} as const satisfies Record<StepName, string>;

export const COUNTER_NAMES = Object.values(COUNTERS);
export type CounterName = (typeof COUNTERS)[StepName];

export interface RecoveryResult {
  /** The workspace that the counts are about; null: all. */
  workspaceId: string | null;
  /** Rows moved in all. */
  recovered: number;
  counts: Record<CounterName, number>;
  durationMs: number;
  /** Steps that failed; the others ran. */
  failedSteps: StepName[];
}

export function toRecoveryResult(report: CycleReport, workspaceId: string | null): RecoveryResult {
  const pairs = report.steps.map((step) => [COUNTERS[step.step], movedFor(step, workspaceId)]);
  const counts = Object.fromEntries(pairs) as Record<CounterName, number>;
  return {
    workspaceId,
    recovered: Object.values(counts).reduce((sum, count) => sum + count, 0),
    counts,
    durationMs: report.durationMs,
    failedSteps: report.steps.filter((step) => step.error !== null).map((step) => step.step),
  };
}
