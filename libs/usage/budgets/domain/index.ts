export {
  BUDGET_POLICIES,
  BUDGET_SCOPES,
  type BudgetPolicy,
  type BudgetScope,
  EVERY,
  type Every,
  type Recurrence,
} from './budget.js';
export type { Efficiency } from './commit-check.js';
export { ADVICE, type Advice, type BudgetStanding } from './compliance.js';
