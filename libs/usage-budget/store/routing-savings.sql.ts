import { query } from '#lib/database';

/** Of one model. Amounts are exact decimals without trailing zeros. */
export interface SavingsRow {
  model: string;
  tokens: string;
  unpriced_tokens: string;
  actual_usd: string;
  dearest_usd: string;
  saved_usd: string;
  /** With one decimal; NULL: nothing would have been paid. */
  saved_percent: number | null;
}

/**
 * What the usage of a time cost, model by model, and what another model would have cost for the same tokens at
 * its prices of those times. The last row, with the model NULL, is the sum of all. Usage that has no cost, or
 * none of the other model, is compared nowhere and counted in `unpriced_tokens`.
 *
 * Index: agent_usage_logs_time_idx, and the primary key of model_prices. Reads every report of the time. Tried: the price
 * of each report by a lateral join, which looks one up for every row instead of once for each period.
 *
 * $1 workspace, $2 from, $3 to (not included), $4 names of the other model, the one that counts first.
 */
export const routingSavings = query<SavingsRow & { model: string | null }>(
  'routing_savings',
  `
WITH dearest AS MATERIALIZED (
  SELECT input_usd, output_usd, cache_read_usd, cache_write_usd, effective_from,
    lead(effective_from, 1, 'infinity') OVER (ORDER BY effective_from) AS effective_to
  FROM model_prices
  WHERE model = (SELECT n.name FROM unnest($4::text[]) WITH ORDINALITY AS n (name, position)
    WHERE EXISTS (SELECT FROM model_prices p WHERE p.model = n.name) ORDER BY n.position LIMIT 1)
),
used AS (
  SELECT l.model, l.total_tokens, l.cost_usd,
    0.000001 * (l.input_tokens * d.input_usd + l.output_tokens * d.output_usd
      + l.cache_read_tokens * d.cache_read_usd + l.cache_write_tokens * d.cache_write_usd) AS dearest_usd
  FROM agent_usage_logs l
  LEFT JOIN dearest d ON l.logged_at >= d.effective_from AND l.logged_at < d.effective_to
  WHERE l.workspace_id = $1 AND l.logged_at >= $2 AND l.logged_at < $3
),
summed AS (
  SELECT model, GROUPING(model) AS is_all,
    coalesce(sum(total_tokens) FILTER (WHERE cost_usd + dearest_usd IS NOT NULL), 0) AS tokens,
    coalesce(sum(total_tokens) FILTER (WHERE cost_usd + dearest_usd IS NULL), 0) AS unpriced_tokens,
    coalesce(sum(cost_usd) FILTER (WHERE dearest_usd IS NOT NULL), 0) AS actual_usd,
    coalesce(sum(dearest_usd) FILTER (WHERE cost_usd IS NOT NULL), 0) AS dearest_usd
  FROM used
  GROUP BY GROUPING SETS ((model), ())
)
SELECT model, tokens::text, unpriced_tokens::text, trim_scale(actual_usd)::text AS actual_usd,
  trim_scale(dearest_usd)::text AS dearest_usd, trim_scale(dearest_usd - actual_usd)::text AS saved_usd,
  round(100 * (dearest_usd - actual_usd) / nullif(dearest_usd, 0), 1)::float8 AS saved_percent
FROM summed
ORDER BY is_all, dearest_usd - actual_usd DESC, model`,
);
