export { UsageBudgetModule } from './usage-budget.module.js';
export { ESTIMATE_SOURCES, type EstimateSource } from './domain/estimate-source.js';
export {
  availableBudgets,
  hasBudgets,
  isAffordable,
  isUsedUp,
  NO_BUDGETS,
} from './holds/available-budgets.js';
export {
  BUDGET_POLICIES,
  BUDGET_SCOPES,
  type BudgetPolicy,
  type BudgetScope,
} from './domain/budget.js';
export { ADVICE, type Advice, type BudgetStanding } from './domain/compliance.js';
export { type UsageReport } from './ledger/reports.js';
export { UsageLedger, type UsageOutcome } from './ledger/usage-ledger.js';
