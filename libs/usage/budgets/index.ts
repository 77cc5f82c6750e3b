export * from './domain/index.js';
export { BudgetsModule } from './budgets.module.js';
export { alertsDue, tellBudgetAlerts } from './alerts/alerts.sql.js';
export { type PricedUsage, UsageLedger, type UsageOutcome } from './charges/usage-ledger.js';
export { RunBudgets, type RunBudgetView } from './checks/run-budgets.js';
export { holdsAfforded } from './holds/afforded.js';
export {
  availableBudgets,
  hasBudgets,
  isAffordable,
  isUsedUp,
  NO_BUDGETS,
} from './holds/available-budgets.js';
export { Throttles } from './throttling/throttles.js';
export {
  type ChangedThrottle,
  hasThrottledProjects,
  isInNoThrottledProject,
  isThrottled,
  type Throttle,
  throttlesOf,
  writeThrottles,
} from './throttling/throttles.sql.js';
export { UsageView } from './view/usage-view.js';
