export { UsageBudgetModule } from './usage-budget.module.js';
export { ESTIMATE_SOURCES, type EstimateSource } from './domain/estimate-source.js';
