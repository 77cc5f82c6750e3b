import { MODEL_TIERS, type ModelTier, plainName, providerOf } from '#lib/models/domain';

/** A model, and its tier; null for a model without a price. */
export interface TieredModel {
  model: string;
  tier: ModelTier | null;
}

/**
 * Returns the model that a request must ask instead, or null if it can ask its own. The routed model
 * of the run is the dearest that it can ask: agents ask cheaper ones for titles and summaries, which
 * stay. A routed model of another provider cannot answer the request, so it changes nothing.
 */
export function replacementOf(asked: TieredModel, routed: TieredModel): string | null {
  const isSame = plainName(asked.model) === plainName(routed.model);
  if (isSame || providerOf(asked.model) !== providerOf(routed.model)) return null;
  const isCheaper =
    asked.tier !== null && routed.tier !== null && rankOf(asked.tier) < rankOf(routed.tier);
  return isCheaper ? null : routed.model;
}

function rankOf(tier: ModelTier): number {
  return MODEL_TIERS.indexOf(tier);
}
