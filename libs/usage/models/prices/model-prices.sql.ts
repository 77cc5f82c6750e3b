import { query } from '#lib/database';
import { PRICE_COLUMNS, type PriceRow } from './price-row.js';

/** Reads some hundred prices, each model's newest first, as the service role. */
export const allModelPrices = query<PriceRow>(
  'all_model_prices',
  `SELECT ${PRICE_COLUMNS} FROM model_prices ORDER BY model, effective_from DESC`,
);
