/** The sums of tokens and costs, and the counts of reports: columns of usage_rollups. */
export const SUMS = [
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'cost_usd',
  'reports',
  'reports_without_price',
  'reasoning_tokens',
  'estimated_tokens',
  'estimated_reports',
] as const;

/** SQL: a report as a row of `SUMS`. @param report an alias of agent_usage_logs */
export function summands(report: string): string {
  const of = (column: string): string => `${report}.${column}`;
  return `${SUMS.slice(0, 4).map(of).join(', ')}, coalesce(${of('cost_usd')}, 0) AS cost_usd,
    1 AS reports, (${of('cost_usd')} IS NULL)::int AS reports_without_price,
    ${of('reasoning_tokens')}, CASE WHEN ${of('estimated')} THEN ${of('total_tokens')} ELSE 0 END
      AS estimated_tokens, ${of('estimated')}::int AS estimated_reports`;
}

/** SQL: the sums of rows with the columns of `SUMS`. @param alias an alias of these rows */
export function sums(alias: string): string {
  return SUMS.map((column) => `sum(${alias}.${column}) AS ${column}`).join(', ');
}

/** SQL: the day of a report, in UTC. */
export function dayOf(report: string): string {
  return `(${report}.logged_at AT TIME ZONE 'UTC')::date`;
}

/** The key for reports of no project, and the one key of the dimension `total`. */
export const NONE = '-';

/** The dimensions that a report counts in, with the SQL of its key. */
const KEYS = {
  total: () => `'${NONE}'`,
  agent: (report: string) => `${report}.agent_id::text`,
  task: (report: string) => `${report}.task_id::text`,
  project: (report: string) => `coalesce(${report}.project_id::text, '${NONE}')`,
  model: (report: string) => `${report}.model`,
};
export type Dimension = keyof typeof KEYS;

/** SQL: the key of a report in a dimension that is a parameter. */
export function keyIn(dimension: string, report: string): string {
  const cases = Object.entries(KEYS).map(([name, key]) => `WHEN '${name}' THEN ${key(report)}`);
  return `CASE ${dimension} ${cases.join(' ')} END`;
}

/**
 * SQL that selects the sums of reports by day: workspace_id, scope_id, dimension, key, grain, day
 * and `SUMS`.
 *
 * @param reports a table or CTE with rows of agent_usage_logs @param where a condition on a row `l`
 */
export function dailySums(reports: string, where = 'true'): string {
  const keys = Object.entries(KEYS).map(([name, key]) => `('${name}', ${key('l')})`);
  return `SELECT c.workspace_id, c.scope_id, c.dimension, c.key, 'day' AS grain, c.day, ${sums('c')}
  FROM (
    SELECT l.workspace_id, s.scope_id, d.dimension, d.key, ${dayOf('l')} AS day,
      ${summands('l')}
    FROM ${reports} l
    CROSS JOIN LATERAL (VALUES ${keys.join(',\n      ')}) AS d (dimension, key)
    CROSS JOIN LATERAL (
      SELECT l.workspace_id AS scope_id
      UNION ALL SELECT l.project_id WHERE l.project_id IS NOT NULL) s
    WHERE ${where}) c
  GROUP BY 1, 2, 3, 4, 6`;
}

/**
 * SQL that selects the sums of months from the sums of days.
 *
 * @param days a table or CTE @param where a condition on a row `m`
 */
export function monthlySums(days: string, where = 'true'): string {
  return `SELECT m.workspace_id, m.scope_id, m.dimension, m.key, 'month' AS grain,
    date_trunc('month', m.day)::date AS day, ${sums('m')}
  FROM ${days} m
  WHERE m.dimension <> 'task' AND ${where}
  GROUP BY 1, 2, 3, 4, 6`;
}

export const ROLLUP_COLUMNS = `workspace_id, scope_id, dimension, key, grain, day,
  ${SUMS.join(', ')}`;
