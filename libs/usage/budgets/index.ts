export * from './domain/index.js';
export { BudgetsModule } from './budgets.module.js';
export { type PricedUsage, UsageCharges, type UsageOutcome } from './charges/usage-charges.js';
export { isNearlyOutOfBudget } from './checks/nearly-used-up.sql.js';
export { RunBudgets, type RunBudgetView } from './checks/run-budgets.js';
export { holdsAfforded } from './holds/afforded.sql.js';
export {
  availableBudgets,
  hasBudgets,
  isAffordable,
  isUsedUp,
} from './holds/available-budgets.sql.js';
export { type HoldAnswer, RequestHolds } from './holds/request-holds.js';
export { BudgetPeriods } from './periods/budget-periods.js';
export { duePeriods, nextPeriodDue } from './periods/end-periods.sql.js';
export { leavesNoLimit } from './store/period.sql.js';
export { alertsDue, tellBudgetAlerts } from './store/tell-budget-alerts.sql.js';
export {
  hasThrottledProjects,
  isInNoThrottledProject,
  isThrottled,
} from './throttling/throttle-conditions.sql.js';
export { hasOutdatedThrottles, outdatedThrottles } from './throttling/outdated-throttles.sql.js';
export { type Throttle, throttlesOf } from './throttling/throttles-of.sql.js';
export { Throttles } from './throttling/throttles.js';
export { type ChangedThrottle, writeThrottles } from './throttling/write-throttles.sql.js';
export { UsageView } from './view/usage-view.js';
