export { ExplainModule } from './explain.module.js';
export type { ReasonCode } from './domain/explain.js';
