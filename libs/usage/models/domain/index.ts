export {
  describeRefusal,
  type ModelLists,
  type ModelRefusal,
  refusalOf,
} from './allowed-models.js';
export { commandKindOf } from './command-kind.js';
export { costOf, type TokenPrices } from './cost.js';
export { ESTIMATE_SOURCES, type EstimateSource } from './estimate-source.js';
export { type CurrentEstimate, type Estimate, estimatedAnew, MAX_ESTIMATE } from './estimates.js';
export { anyVersionOf, escapePattern, plainName, VERSION_OF_MODEL } from './model-names.js';
export type { Price } from './price-list.js';
export { beginsWith, FAMILIES, providerOf } from './providers.js';
export { SERVER_RULES, type TaskFacts } from './select-model.js';
export { MODEL_TIERS, type ModelTier, TIER_MODELS } from './tiers.js';
