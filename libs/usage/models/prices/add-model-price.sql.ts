import { command, query } from '#lib/database';
import { PRICE_COLUMNS, type PriceRow } from './price-row.js';

/** Finds a price as the service role. Index: primary key. $1 model, $2 time. */
export const findModelPrice = query<PriceRow>(
  'find_model_price',
  `
SELECT ${PRICE_COLUMNS} FROM model_prices
WHERE model = $1 AND effective_from = date_trunc('milliseconds', $2::timestamptz)`,
);

/**
 * Adds a price for an operator, as the service role. It returns no row if $3 has passed by the
 * database's clock, or if the model has a price from that time.
 *
 * Index: primary key. $1 model, $2 tier, $3 time, or NULL for now, $4 to $7 prices of input,
 * output, cache reads and cache writes, $8 user.
 */
export const insertModelPrice = command<PriceRow>(
  'insert_model_price',
  `
INSERT INTO model_prices (model, tier, effective_from, input_usd, output_usd, cache_read_usd,
  cache_write_usd, created_by)
SELECT $1, $2, date_trunc('milliseconds', coalesce($3, now())), $4::numeric, $5::numeric,
  $6::numeric, $7::numeric, $8
WHERE coalesce($3::timestamptz >= now(), true)
ON CONFLICT DO NOTHING
RETURNING ${PRICE_COLUMNS}`,
);
