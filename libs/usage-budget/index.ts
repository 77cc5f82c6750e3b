export { UsageBudgetModule } from './usage-budget.module.js';
export { ESTIMATE_SOURCES, type EstimateSource } from './domain/estimate-source.js';
export {
  type CurrentEstimate,
  type Estimate,
  estimatedAnew,
  MAX_ESTIMATE,
} from './domain/estimates.js';
export { calibrateEstimates } from './estimates/calibrate.js';
export { Estimates } from './estimates/estimates.service.js';
export { Tokens } from './http/tokens.js';
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
