import { query } from '#lib/database';
import { dayOf, keyIn, NONE, summands, SUMS, sums } from '../store/counted.sql.js';

/** The sums of a group. Tokens and costs are decimals as text. */
export interface UsageRow {
  key: string;
  /** The name of the agent, task or project. Days, models and unknown ids have NULL. */
  name: string | null;
  input_tokens: string;
  output_tokens: string;
  cache_read_tokens: string;
  cache_write_tokens: string;
  total_tokens: string;
  cost_usd: string;
  reports: string;
  reports_without_price: string;
  reasoning_tokens: string;
  estimated_tokens: string;
  estimated_reports: string;
}

const TOTAL = `input_tokens + output_tokens + cache_read_tokens + cache_write_tokens`;
const SHOWN = `u.input_tokens::text, u.output_tokens::text, u.cache_read_tokens::text,
  u.cache_write_tokens::text, (${TOTAL})::text AS total_tokens,
  trim_scale(u.cost_usd)::text AS cost_usd, u.reports::text, u.reports_without_price::text,
  u.reasoning_tokens::text, u.estimated_tokens::text, u.estimated_reports::text`;
/** Names are read only for the rows of a page. */
const NAME = `CASE $3
  WHEN 'agent' THEN (SELECT a.name::text FROM agents a
    WHERE a.workspace_id = $1 AND a.id = u.key::uuid)
  WHEN 'task' THEN (SELECT t.title::text FROM agent_tasks t
    WHERE t.workspace_id = $1 AND t.id = u.key::uuid)
  WHEN 'project' THEN (SELECT p.name::text FROM projects p
    WHERE p.workspace_id = $1 AND p.id = nullif(u.key, '${NONE}')::uuid)
  END AS name`;
const COLUMNS = SUMS.map((column) => `r.${column}`).join(', ');

/**
 * SQL: the reports that the sums still lack. The statement reads both in one snapshot, so each
 * report is in one of them. The upper bound of the number excludes nothing: it makes the planner
 * expect few rows.
 */
const TAIL = `agent_usage_logs l
  WHERE l.workspace_id = $1 AND l.seq > (SELECT position FROM usage_rollup_progress)
    AND l.seq <= (SELECT last_value FROM agent_usage_logs_seq)
    AND ($2 = $1 OR l.project_id = $2) AND ${dayOf('l')} >= $4::date AND ${dayOf('l')} <= $5::date`;

const OF_DIMENSION = 'r.workspace_id = $1 AND r.scope_id = $2 AND r.dimension = $3';

/**
 * SQL that selects the sums of the keys of a page. It finds the keys by an ordered look at each
 * range of the primary key and at the tail, then reads the sums of each key. The cost depends on
 * the page and hardly on the period. Keys without usage in the period are skipped in the index.
 *
 * Tried: one ordered aggregate over the ranges. It was planned as a hash of all keys.
 *
 * @param ranges conditions on rows `r` @param after the comparison with the previous page's last
 *   key
 * @param order the order of the keys
 */
function sumsByKey(ranges: readonly string[], after: '<' | '>', order: 'ASC' | 'DESC'): string {
  const keys = ranges.map(
    (range) => `(SELECT DISTINCT r.key FROM usage_rollups r
      WHERE ${OF_DIMENSION} AND ${range} AND r.key ${after} $6 ORDER BY r.key ${order} LIMIT $7)`,
  );
  const parts = ranges.map(
    (range) => `SELECT ${COLUMNS} FROM usage_rollups r
    WHERE ${OF_DIMENSION} AND r.key = k.key AND ${range}`,
  );
  return `
WITH tail AS MATERIALIZED (
  SELECT ${keyIn('$3', 'l')} COLLATE "C" AS key, ${summands('l')} FROM ${TAIL}
),
page AS MATERIALIZED (
  SELECT key FROM (
    ${keys.join('\n    UNION\n    ')}
    UNION
    SELECT t.key FROM tail t WHERE t.key ${after} $6) k
  ORDER BY key ${order} LIMIT $7
)
SELECT u.key, ${NAME}, ${SHOWN}
FROM (
  SELECT k.key, ${sums('p')}
  FROM page k CROSS JOIN LATERAL (
    ${parts.join('\n    UNION ALL\n    ')}
    UNION ALL
    SELECT ${SUMS.map((column) => `t.${column}`).join(', ')} FROM tail t WHERE t.key = k.key) p
  GROUP BY k.key) u
ORDER BY u.key ${order}`;
}

/**
 * Reads the sums of each key of a dimension over a period, in the order of the keys: the days
 * before the whole months, these months, and the days after them. Empty ranges are not read.
 *
 * Indexes: primary key of usage_rollups; agent_usage_logs_tail_idx.
 * $1 workspace, $2 scope, $3 dimension, $4 and $5 first and last day, $6 the last key of the
 * previous page or '', $7 maximum number of keys, $8 first day of the whole months, $9 the day
 * after them. Without whole months, $8 and $9 are $4.
 */
export const readUsageByKey = query<UsageRow>(
  'read_usage_by_key',
  sumsByKey(
    [
      `r.grain = 'day' AND r.day >= $4::date AND r.day < $8::date AND $4::date < $8::date`,
      `r.grain = 'month' AND r.day >= $8::date AND r.day < $9::date AND $8::date < $9::date`,
      `r.grain = 'day' AND r.day >= $9::date AND r.day <= $5::date AND $9::date <= $5::date`,
    ],
    '>',
    'ASC',
  ),
);

/**
 * Reads the sums of each task, the newest first. Tasks have sums of days only, and tasks of other
 * times are skipped one by one: 50,000 tasks of a year take some 10 ms.
 *
 * Indexes: primary key of usage_rollups; agent_usage_logs_tail_idx.
 * $1 workspace, $2 scope, $3 'task', $4 and $5 first and last day, $6 the last task of the previous
 * page or '~', $7 maximum number of tasks.
 */
export const readUsageByTask = query<UsageRow>(
  'read_usage_by_task',
  sumsByKey([`r.grain = 'day' AND r.day >= $4::date AND r.day <= $5::date`], '<', 'DESC'),
);

/**
 * Reads the sums of each day of one key.
 *
 * Indexes: primary key of usage_rollups; agent_usage_logs_tail_idx.
 * $1 workspace, $2 scope, $3 dimension, $4 and $5 first and last day, $6 key, $7 maximum number of
 * days.
 */
export const readUsageByDay = query<UsageRow>(
  'read_usage_by_day',
  `
WITH part AS (
  SELECT r.day, ${COLUMNS} FROM usage_rollups r
  WHERE ${OF_DIMENSION} AND r.key = $6 AND r.grain = 'day'
    AND r.day >= $4::date AND r.day <= $5::date
  UNION ALL
  SELECT ${dayOf('l')} AS day, ${summands('l')} FROM ${TAIL} AND ${keyIn('$3', 'l')} = $6
)
SELECT u.day::text AS key, NULL AS name, ${SHOWN}
FROM (SELECT p.day, ${sums('p')} FROM part p GROUP BY p.day ORDER BY p.day LIMIT $7) u
ORDER BY u.day`,
);

/**
 * Reads the sums of each day of one key, by the clock of a time zone. The sums have days in UTC, so
 * it reads the reports of the period: 25,000 of a month take 60 ms, 300,000 of a year 0.5 s.
 *
 * Index: agent_usage_logs_time_idx. $1 to $7 as of `readUsageByDay`, $8 time zone.
 */
export const readUsageByLocalDay = query<UsageRow>(
  'read_usage_by_local_day',
  `
SELECT u.day::text AS key, NULL AS name, ${SHOWN}
FROM (
  SELECT p.day, ${sums('p')} FROM (
    SELECT (l.logged_at AT TIME ZONE $8::text)::date AS day, ${summands('l')}
    FROM agent_usage_logs l
    WHERE l.workspace_id = $1 AND ($2 = $1 OR l.project_id = $2) AND ${keyIn('$3', 'l')} = $6
      AND l.logged_at >= $4::date::timestamp AT TIME ZONE $8::text
      AND l.logged_at < ($5::date + 1)::timestamp AT TIME ZONE $8::text) p
  GROUP BY p.day ORDER BY p.day LIMIT $7) u
ORDER BY u.day`,
);

/**
 * Finds the first day of a time zone whose reports are all kept, if it is later than the day $2.
 * $1 workspace, $3 time zone.
 */
export const firstKeptDay = query<{ day: string }>(
  'usage_first_kept_day',
  `
SELECT f.day::text FROM usage_logs_kept k CROSS JOIN LATERAL (
  SELECT (k.since::timestamp AT TIME ZONE 'UTC' AT TIME ZONE $3::text
    + interval '1 day' - interval '1 microsecond')::date AS day) f
WHERE k.workspace_id = $1 AND f.day > $2::date`,
);
