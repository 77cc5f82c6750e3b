import type { ModelTier } from '../domain/tiers.js';

/** Prices are decimals without trailing zeros, times have whole milliseconds. */
export interface PriceRow {
  model: string;
  tier: ModelTier;
  effective_from: Date;
  input_usd: string;
  output_usd: string;
  cache_read_usd: string;
  cache_write_usd: string;
  created_by: string | null;
  created_at: Date;
}

/** The columns of `PriceRow`, from model_prices. */
export const PRICE_COLUMNS = `model, tier, effective_from, trim_scale(input_usd)::text AS input_usd,
  trim_scale(output_usd)::text AS output_usd, trim_scale(cache_read_usd)::text AS cache_read_usd,
  trim_scale(cache_write_usd)::text AS cache_write_usd, created_by, created_at`;
