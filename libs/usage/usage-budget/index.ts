export * from './domain/index.js';
export { UsageBudgetModule } from './usage-budget.module.js';
export {
  availableBudgets,
  hasBudgets,
  isAffordable,
  isUsedUp,
  NO_BUDGETS,
} from './holds/available-budgets.js';
export { holdsAfforded } from './holds/afforded.sql.js';
export { RunBudgets, type RunBudgetView } from './budgets/run-budgets.js';
export { type UsageReport } from './ledger/reports.js';
export { type PricedUsage, UsageLedger, type UsageOutcome } from './ledger/usage-ledger.js';
export { ModelPrices } from './prices/model-prices.js';
export { ModelRouting, type RunModel } from './routing/model-routing.js';
export { alertsDue, tellBudgetAlerts } from './history/store/alerts.sql.js';
export { dailySums, monthlySums, SUMS } from './history/store/counted.js';
export { pruneUsageReports } from './history/store/prune.sql.js';
export { rebuildUsageRollups } from './history/usage-rebuild.js';
export { UsageView } from './history/usage-view.js';
export { calibrateEstimates } from './estimates/calibrate.js';
export { Estimates } from './estimates/estimates.service.js';
export { Throttles } from './throttling/throttles.service.js';
export {
  type ChangedThrottle,
  hasThrottledProjects,
  isInNoThrottledProject,
  isThrottled,
  type Throttle,
  throttlesOf,
  writeThrottles,
} from './throttling/throttles.sql.js';
export { ProviderLimits, type UnderstoodLimit } from './provider-limits/provider-limits.service.js';
export {
  agentLimitedUntil,
  hasProviderLimits,
  isAgentLimited,
  isFreeOfProviderLimits,
  limitsOfTask,
  removePastProviderLimits,
} from './provider-limits/provider-limits.sql.js';
