export * from './domain/index.js';
export { ProviderLimitsModule } from './provider-limits.module.js';
export { ProviderLimits, type UnderstoodLimit } from './limits/provider-limits.js';
export {
  agentLimitedUntil,
  hasProviderLimits,
  isAgentLimited,
  isFreeOfProviderLimits,
  limitsOfTask,
  removePastProviderLimits,
} from './limits/provider-limits.sql.js';
