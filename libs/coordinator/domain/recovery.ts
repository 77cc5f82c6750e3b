import type { StepName } from '../steps/step.js';
import { type CycleReport, movedFor } from './cycle-report.js';

/** What each step set right, as the answer names it. */
const COUNTERS = {
  expire_leases: 'expiredClaimsReleased',
  reap_stale_agents: 'deadWorkersFound',
  recover_lost_runs: 'lostRunsRecovered',
  watch_liveness: 'livenessChanges',
  recover_orphans: 'orphanedTasksRecovered',
  reconcile_states: 'staleStatesFixed',
  promote_retries: 'retriesPromoted',
  fail_cycles: 'cyclesFailed',
  settle_dependents: 'prerequisitesSettled',
  time_out_runs: 'timedOutRuns',
  warn_hung: 'hungWarned',
  time_out_hung: 'hungAborted',
  detect_split_brain: 'conflictsFound',
  expire_queued: 'queuedExpired',
  terminate_drained: 'drainedAgentsTerminated',
  clear_pauses: 'tasksParkedOrFreed',
  assign: 'tasksAssigned',
} as const satisfies Record<StepName, string>;

export const COUNTER_NAMES = Object.values(COUNTERS);
export type CounterName = (typeof COUNTERS)[StepName];

export interface RecoveryWish {
  workspaceId?: string;
  /** All workspaces, or a refusal; not whatever the caller may see. */
  allWorkspaces?: boolean;
}

export interface RecoveryResult {
  /** The workspace that was swept; null: all. */
  workspaceId: string | null;
  /** The sum of the counts. */
  recovered: number;
  counts: Record<CounterName, number>;
  durationMs: number;
  /** Steps that failed; the others ran. */
  failedSteps: StepName[];
}

export function toRecoveryResult(report: CycleReport, workspaceId: string | null): RecoveryResult {
  const none = COUNTER_NAMES.map((name) => [name, 0]);
  const pairs = report.steps.map((step) => [COUNTERS[step.step], movedFor(step, workspaceId)]);
  const counts = Object.fromEntries([...none, ...pairs]) as Record<CounterName, number>;
  return {
    workspaceId,
    recovered: Object.values(counts).reduce((sum, count) => sum + count, 0),
    counts,
    durationMs: report.durationMs,
    failedSteps: report.steps.filter((step) => step.error !== null).map((step) => step.step),
  };
}
