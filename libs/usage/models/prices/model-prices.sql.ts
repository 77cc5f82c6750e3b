import { command, query } from '#lib/database';
import type { ModelTier } from '../domain/tiers.js';

/** Prices are decimals without trailing zeros, times of whole milliseconds. */
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

const COLUMNS = `model, tier, effective_from, trim_scale(input_usd)::text AS input_usd,
  trim_scale(output_usd)::text AS output_usd, trim_scale(cache_read_usd)::text AS cache_read_usd,
  trim_scale(cache_write_usd)::text AS cache_write_usd, created_by, created_at`;

/** All of them, each model's newest first: some hundreds. As the service role. */
export const allModelPrices = query<PriceRow>(
  'all_model_prices',
  `SELECT ${COLUMNS} FROM model_prices ORDER BY model, effective_from DESC`,
);

/**
 * By model, each model's newest first. Index: primary key, of few rows.
 *
 * $1 names or NULL: all, $2 only those that hold at this time or NULL: those of all times,
 * $3 and $4 model and time of the last row of the page before or NULL, $5 rows at most.
 */
export const listModelPrices = query<PriceRow>(
  'list_model_prices',
  `
SELECT ${COLUMNS} FROM model_prices p
WHERE ($1::text[] IS NULL OR p.model = ANY($1))
  AND ($2::timestamptz IS NULL OR p.effective_from = (
    SELECT max(n.effective_from) FROM model_prices n WHERE n.model = p.model AND n.effective_from <= $2))
  AND ($3::text IS NULL OR p.model > $3 OR (p.model = $3 AND p.effective_from < $4::timestamptz))
ORDER BY p.model, p.effective_from DESC
LIMIT $5`,
);

/** Index: primary key. As the service role. $1 model, $2 time. */
export const findModelPrice = query<PriceRow>(
  'find_model_price',
  `SELECT ${COLUMNS} FROM model_prices WHERE model = $1 AND effective_from = date_trunc('milliseconds', $2::timestamptz)`,
);

/**
 * No row: $3 has passed by the database's clock, or the model has a price from that time on.
 *
 * As the service role, for an operator. Index: primary key.
 * $1 model, $2 tier, $3 time or NULL: now, $4 to $7 prices of input, output, cache reads and cache writes, $8 user.
 */
export const insertModelPrice = command<PriceRow>(
  'insert_model_price',
  `
INSERT INTO model_prices (model, tier, effective_from, input_usd, output_usd, cache_read_usd, cache_write_usd, created_by)
SELECT $1, $2, date_trunc('milliseconds', coalesce($3, now())), $4::numeric, $5::numeric, $6::numeric, $7::numeric, $8
WHERE coalesce($3::timestamptz >= now(), true)
ON CONFLICT DO NOTHING
RETURNING ${COLUMNS}`,
);
