import { query } from '#lib/database';
import { dayOf, keyIn, summands, SUMS, sums } from './counted.js';

/** Sums of a group; counts of tokens and costs as decimal texts. */
export interface UsageRow {
  key: string;
  input_tokens: string;
  output_tokens: string;
  cache_read_tokens: string;
  cache_write_tokens: string;
  total_tokens: string;
  cost_usd: string;
  reports: string;
  reports_without_price: string;
}

const TOTAL = `input_tokens + output_tokens + cache_read_tokens + cache_write_tokens`;
const SHOWN = `u.input_tokens::text, u.output_tokens::text, u.cache_read_tokens::text, u.cache_write_tokens::text,
  (${TOTAL})::text AS total_tokens, trim_scale(u.cost_usd)::text AS cost_usd, u.reports::text,
  u.reports_without_price::text`;
const COLUMNS = SUMS.map((column) => `r.${column}`).join(', ');

/** Reports that the sums leave out yet. The statement sees one snapshot of both, so that each report is in one of them. */
const TAIL = `agent_usage_logs l
  WHERE l.workspace_id = $1 AND l.seq > (SELECT position FROM usage_rollup_progress)
    AND ($2 = $1 OR l.project_id = $2)
    AND l.logged_at >= $4::timestamp AT TIME ZONE 'UTC'
    AND l.logged_at < ($5::timestamp + interval '1 day') AT TIME ZONE 'UTC'`;

/**
 * The sums of each key of a dimension over a period, in the order of the keys: whole months as such, the days before
 * and behind them one by one. What it costs depends on the keys of a page, and hardly on the period.
 *
 * Indexes: primary key of usage_rollups; agent_usage_logs_seq_key.
 * $1 workspace, $2 scope, $3 dimension, $4 and $5 first and last day, $6 first day of the whole months, $7 the day behind
 * them, $8 the key of the last page's end, or '', $9 keys at most.
 */
export const readUsageByKey = query<UsageRow>(
  'read_usage_by_key',
  `
WITH tail AS MATERIALIZED (
  SELECT ${keyIn('$3', 'l')} AS key, ${summands('l')} FROM ${TAIL}
),
part AS (
  SELECT r.key, ${COLUMNS} FROM usage_rollups r
  WHERE r.workspace_id = $1 AND r.scope_id = $2 AND r.dimension = $3 AND r.key > $8 AND CASE r.grain
    WHEN 'month' THEN r.day >= $6::date AND r.day < $7::date
    ELSE r.day >= $4::date AND r.day <= $5::date AND NOT (r.day >= $6::date AND r.day < $7::date) END
  UNION ALL
  SELECT t.key COLLATE "C", ${SUMS.map((column) => `t.${column}`).join(', ')} FROM tail t WHERE t.key COLLATE "C" > $8
)
SELECT u.key, ${SHOWN}
FROM (SELECT p.key, ${sums('p')} FROM part p GROUP BY p.key ORDER BY p.key LIMIT $9) u
ORDER BY u.key`,
);

/**
 * The sums of each day of one key.
 *
 * Indexes: primary key of usage_rollups; agent_usage_logs_seq_key.
 * $1 workspace, $2 scope, $3 dimension, $4 and $5 first and last day, $6 key, $7 days at most.
 */
export const readUsageByDay = query<UsageRow>(
  'read_usage_by_day',
  `
WITH part AS (
  SELECT r.day, ${COLUMNS} FROM usage_rollups r
  WHERE r.workspace_id = $1 AND r.scope_id = $2 AND r.dimension = $3 AND r.key = $6 AND r.grain = 'day'
    AND r.day >= $4::date AND r.day <= $5::date
  UNION ALL
  SELECT ${dayOf('l')} AS day, ${summands('l')} FROM ${TAIL} AND ${keyIn('$3', 'l')} = $6
)
SELECT u.day::text AS key, ${SHOWN}
FROM (SELECT p.day, ${sums('p')} FROM part p GROUP BY p.day ORDER BY p.day LIMIT $7) u
ORDER BY u.day`,
);
