export { ESTIMATE_SOURCES, type EstimateSource } from './estimate-source.js';
export { BUDGET_POLICIES, BUDGET_SCOPES, type BudgetPolicy, type BudgetScope } from './budget.js';
export { ADVICE, type Advice, type BudgetStanding } from './compliance.js';
export type { Efficiency } from './commit-check.js';
export { costOf, type TokenPrices } from './cost.js';
export type { TokenUsage } from './token-usage.js';
export type { Price } from './price-list.js';
export type { TaskFacts } from './select-model.js';
export { MODEL_TIERS, type ModelTier } from './tiers.js';
export { type CurrentEstimate, type Estimate, estimatedAnew, MAX_ESTIMATE } from './estimates.js';
export {
  DEFAULT_LIMIT_SECONDS,
  LIMIT_KINDS,
  limitedBy,
  type LimitKind,
  type LimitReport,
  MAX_LIMIT_SECONDS,
} from './provider-limit.js';
