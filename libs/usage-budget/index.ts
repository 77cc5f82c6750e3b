export { UsageBudgetModule } from './usage-budget.module.js';
export { ESTIMATE_SOURCES, type EstimateSource } from './domain/estimate-source.js';
export { alertsDue, tellBudgetAlerts } from './history/store/alerts.sql.js';
export { dailySums, monthlySums, SUMS } from './history/store/counted.js';
export { pruneUsageReports } from './history/store/prune.sql.js';
export { rebuildUsageRollups } from './history/usage-rebuild.js';
export { UsageView } from './history/usage-view.js';
