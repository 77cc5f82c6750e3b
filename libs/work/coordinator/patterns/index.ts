import type { ReconcilerClass } from '../cycle/reconciler.js';
import { Assign } from './assign.js';
import { ClearPauses } from './clear-pauses.js';
import { CloseWorkspaces } from './close-workspaces.js';
import { DetectSplitBrain } from './detect-split-brain.js';
import { EndBudgetPeriods } from './end-budget-periods.js';
import { EndPausedRuns } from './end-paused-runs.js';
import { EnforceBudgets } from './enforce-budgets.js';
import { ExpireLeases } from './expire-leases.js';
import { ExpireQuestions } from './expire-questions.js';
import { ExpireQueued } from './expire-queued.js';
import { FailCycles } from './fail-cycles.js';
import { GrantSlots } from './grant-slots.js';
import { HeedProviderLimits } from './heed-provider-limits.js';
import { PromoteRetries } from './promote-retries.js';
import { ReapStaleAgents } from './reap-stale-agents.js';
import { ReconcileStates } from './reconcile-states.js';
import { RecoverLostRuns } from './recover-lost-runs.js';
import { RecoverOrphans } from './recover-orphans.js';
import { RemindReviews } from './remind-reviews.js';
import { ReviewByAgents } from './review-by-agents.js';
import { SettleDependents } from './settle-dependents.js';
import { StartDelayed } from './start-delayed.js';
import { StartSchedules } from './start-schedules.js';
import { TellBudgetAlerts } from './tell-budget-alerts.js';
import { TerminateDrained } from './terminate-drained.js';
import { ThrottleWorkspaces } from './throttle-workspaces.js';
import { TimeOutHung } from './time-out-hung.js';
import { TimeOutRuns } from './time-out-runs.js';
import { WarnHung } from './warn-hung.js';
import { WatchLiveness } from './watch-liveness.js';

/**
 * The cycle, in order. A task that lost its run returns to the queue in the same cycle if its retry
 * is due. Dependents learn of all tasks that have ended by then. Each pattern repairs rows that
 * later patterns read.
 */
export const RECONCILERS = [
  ExpireLeases,
  ReapStaleAgents,
  RecoverLostRuns,
  CloseWorkspaces,
  EndPausedRuns,
  WatchLiveness,
  RecoverOrphans,
  ReconcileStates,
  PromoteRetries,
  ExpireQuestions,
  StartSchedules,
  RemindReviews,
  StartDelayed,
  ReviewByAgents,
  FailCycles,
  SettleDependents,
  GrantSlots,
  TimeOutRuns,
  WarnHung,
  TimeOutHung,
  DetectSplitBrain,
  ExpireQueued,
  TerminateDrained,
  EndBudgetPeriods,
  EnforceBudgets,
  HeedProviderLimits,
  ClearPauses,
  TellBudgetAlerts,
  ThrottleWorkspaces,
  Assign,
] as const satisfies readonly ReconcilerClass[];

type Facts = (typeof RECONCILERS)[number]['facts'];
export type StepName = Facts['name'];
export type CounterName = Facts['counter'];

export const STEP_NAMES: StepName[] = RECONCILERS.map(({ facts }) => facts.name);
export const COUNTER_NAMES: CounterName[] = RECONCILERS.map(({ facts }) => facts.counter);
