export { UsageBudgetModule } from './usage-budget.module.js';
export { ESTIMATE_SOURCES, type EstimateSource } from './domain/estimate-source.js';
export { costOf, type TokenPrices, type TokenUsage } from './domain/cost.js';
export type { Price } from './domain/price-list.js';
export type { TaskFacts } from './domain/select-model.js';
export { MODEL_TIERS, type ModelTier } from './domain/tiers.js';
export { ModelPrices } from './prices/model-prices.js';
export { ModelRouting, type RunModel } from './routing/model-routing.js';
