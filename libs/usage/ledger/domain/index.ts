export type { TokenUsage } from './token-usage.js';
