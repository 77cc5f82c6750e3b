import { query } from '#lib/database';

/** The comparison of one model. Amounts are exact decimals without trailing zeros. */
export interface SavingsRow {
  model: string;
  tokens: string;
  unpriced_tokens: string;
  actual_usd: string;
  dearest_usd: string;
  saved_usd: string;
  /** The share has one decimal. NULL means that the dearest model would have cost nothing. */
  saved_percent: number | null;
}

/**
 * Compares the cost of usage, model by model, with the cost of the same tokens at the prices that
 * another model had then. The last row, with the model NULL, is the sum of all. Usage without a
 * cost, or without a price of the other model, is only counted in `unpriced_tokens`.
 *
 * It reads every report of the time, by agent_usage_logs_time_idx, and the primary key of
 * model_prices. Tokens are summed up for each price before they are multiplied: 100,000 reports
 * take 130 ms. Tried: multiplying the tokens of each report takes five times as long.
 *
 * $1 workspace, $2 from, $3 to (exclusive), $4 names of the other model, the decisive one first.
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
  SELECT l.model, d.effective_from,
    l.cost_usd IS NOT NULL AND d.effective_from IS NOT NULL AS compared,
    sum(l.total_tokens) AS tokens, sum(l.cost_usd) AS actual_usd, sum(l.input_tokens) AS input,
    sum(l.output_tokens) AS output, sum(l.cache_read_tokens) AS cache_read,
    sum(l.cache_write_tokens) AS cache_write
  FROM agent_usage_logs l
  LEFT JOIN dearest d ON l.logged_at >= d.effective_from AND l.logged_at < d.effective_to
  WHERE l.workspace_id = $1 AND l.logged_at >= $2 AND l.logged_at < $3
  GROUP BY 1, 2, 3
),
summed AS (
  SELECT u.model, GROUPING(u.model) AS is_all,
    coalesce(sum(u.tokens) FILTER (WHERE u.compared), 0) AS tokens,
    coalesce(sum(u.tokens) FILTER (WHERE NOT u.compared), 0) AS unpriced_tokens,
    coalesce(sum(u.actual_usd) FILTER (WHERE u.compared), 0) AS actual_usd,
    coalesce(sum(0.000001 * (u.input * d.input_usd + u.output * d.output_usd
      + u.cache_read * d.cache_read_usd + u.cache_write * d.cache_write_usd))
      FILTER (WHERE u.compared), 0) AS dearest_usd
  FROM used u LEFT JOIN dearest d USING (effective_from)
  GROUP BY GROUPING SETS ((u.model), ())
)
SELECT model, tokens::text, unpriced_tokens::text, trim_scale(actual_usd)::text AS actual_usd,
  trim_scale(dearest_usd)::text AS dearest_usd,
  trim_scale(dearest_usd - actual_usd)::text AS saved_usd,
  round(100 * (dearest_usd - actual_usd) / nullif(dearest_usd, 0), 1)::float8 AS saved_percent
FROM summed
ORDER BY is_all, dearest_usd - actual_usd DESC, model`,
);
