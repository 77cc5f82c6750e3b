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
 * Compares the cost of usage, model by model, with the cost of the same tokens at the dearest price
 * of the list at that time: the one with the highest price of output, then of input. The last row,
 * with the model NULL, is the sum of all, and names the dearest models in the order of time. Usage
 * without a cost, or from before the first price, is only counted in `unpriced_tokens`.
 *
 * It reads every report of the time, by agent_usage_logs_time_idx, and model_prices whole. Tokens
 * are summed up for each price before they are multiplied: 100,000 reports take 130 ms. Tried:
 * multiplying the tokens of each report takes five times as long.
 *
 * $1 workspace, $2 from, $3 to (exclusive).
 */
export const routingSavings = query<
  SavingsRow & { model: string | null; dearest_models: string[] }
>(
  'routing_savings',
  `
WITH price AS MATERIALIZED (
  SELECT model, input_usd, output_usd, cache_read_usd, cache_write_usd, effective_from,
    lead(effective_from, 1, 'infinity') OVER (PARTITION BY model ORDER BY effective_from) AS effective_to
  FROM model_prices
),
span AS (
  SELECT effective_from, lead(effective_from, 1, 'infinity') OVER (ORDER BY effective_from) AS effective_to
  FROM (SELECT DISTINCT effective_from FROM model_prices) t
),
dearest AS MATERIALIZED (
  SELECT DISTINCT ON (s.effective_from) s.effective_from, s.effective_to, p.model, p.input_usd,
    p.output_usd, p.cache_read_usd, p.cache_write_usd
  FROM span s JOIN price p
    ON p.effective_from <= s.effective_from AND p.effective_to > s.effective_from
  WHERE s.effective_to > $2 AND s.effective_from < $3
  ORDER BY s.effective_from, p.output_usd DESC, p.input_usd DESC, p.model
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
  ARRAY(SELECT d.model FROM dearest d GROUP BY d.model ORDER BY min(d.effective_from)) AS dearest_models,
  round(100 * (dearest_usd - actual_usd) / nullif(dearest_usd, 0), 1)::float8 AS saved_percent
FROM summed
ORDER BY is_all, dearest_usd - actual_usd DESC, model`,
);
