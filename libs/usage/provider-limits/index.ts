export * from './domain/index.js';
export { ProviderLimitsModule } from './provider-limits.module.js';
export {
  agentLimitedUntil,
  hasProviderLimits,
  isAgentLimited,
  isFreeOfProviderLimits,
  isRunLimited,
  limitsOfTask,
} from './limits/limit-conditions.sql.js';
export { ProviderLimits, type UnderstoodLimit } from './limits/provider-limits.js';
export { removePastProviderLimits } from './limits/remove-past-provider-limits.sql.js';
