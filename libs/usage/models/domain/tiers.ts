/** The tiers from the cheapest to the dearest: simple work, most work, the hardest work. */
export const MODEL_TIERS = ['haiku', 'sonnet', 'opus'] as const;
export type ModelTier = (typeof MODEL_TIERS)[number];
export type TierModels = Record<ModelTier, string>;

/** The models of the tiers, unless the workspace names others. */
export const TIER_MODELS: TierModels = {
  haiku: 'claude-haiku-4-5',
  sonnet: 'claude-sonnet-4-6',
  opus: 'claude-opus-4-6',
};
