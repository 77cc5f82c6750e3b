/** From the cheapest to the dearest: simple work, most work, the hardest. */
export const MODEL_TIERS = ['haiku', 'sonnet', 'opus'] as const;
export type ModelTier = (typeof MODEL_TIERS)[number];
export type TierModels = Record<ModelTier, string>;

export const DEAREST_TIER: ModelTier = 'opus';

/** The model that a tier stands for, unless the workspace names another. */
export const TIER_MODELS: TierModels = {
  haiku: 'claude-haiku-4-5',
  sonnet: 'claude-sonnet-4-6',
  opus: 'claude-opus-4-6',
};
