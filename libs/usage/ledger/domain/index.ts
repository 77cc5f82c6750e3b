export { boundsOf, type Period, type Quantiles, toQuantiles } from './period.js';
export type { TokenUsage } from './token-usage.js';
