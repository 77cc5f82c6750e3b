import { query } from '#lib/database';
import { PRICE_COLUMNS, type PriceRow } from './price-row.js';

/**
 * Lists prices by model, each model's newest first. Index: primary key, of few rows.
 *
 * $1 names, or NULL for all. $2 a time at which the prices apply, or NULL for all times. $3 and $4
 * model and time of the last row of the previous page, or NULL. $5 maximum number of rows.
 */
export const listModelPrices = query<PriceRow>(
  'list_model_prices',
  `
SELECT ${PRICE_COLUMNS} FROM model_prices p
WHERE ($1::text[] IS NULL OR p.model = ANY($1))
  AND ($2::timestamptz IS NULL OR p.effective_from = (
    SELECT max(n.effective_from) FROM model_prices n
    WHERE n.model = p.model AND n.effective_from <= $2))
  AND ($3::text IS NULL OR p.model > $3
    OR (p.model = $3 AND p.effective_from < $4::timestamptz))
ORDER BY p.model, p.effective_from DESC
LIMIT $5`,
);
