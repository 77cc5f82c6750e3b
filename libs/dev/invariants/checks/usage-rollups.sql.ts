import { query } from '#lib/database';
import { dailySums, monthlySums, SUMS } from '#lib/ledger';
import type { Invariant, Violation } from './invariant.js';

const KEY = 'workspace_id, scope_id, dimension, key, grain, day';
const sumsOf = (alias: string): string =>
  `(${SUMS.map((column) => `${alias}.${column}`).join(', ')})`;

/**
 * The history's sums are those of the reports up to its position; those of a month are the sums of
 * its days. Days of which reports were removed can't be compared with any.
 *
 * Reads the whole ledger and all sums, hashed once each.
 */
export const usageRollups: Invariant = {
  name: 'usage_rollups',
  title: 'The history of usage has each report once',
  sql: query<Violation>(
    'invariant_usage_rollups',
    `
WITH expected AS (
  ${dailySums('agent_usage_logs', 'l.seq <= (SELECT position FROM usage_rollup_progress)')}
  UNION ALL
  ${monthlySums('usage_rollups', `m.grain = 'day'`)}
)
SELECT 'usage of ' || coalesce(r.dimension, e.dimension) || ' ' || coalesce(r.key, e.key) AS subject,
  'in the ' || coalesce(r.grain, e.grain) || ' ' || coalesce(r.day, e.day) || ' the history has '
    || coalesce(r.reports, 0) || ' reports, and there are ' || coalesce(e.reports, 0) AS problem
FROM usage_rollups r FULL JOIN expected e USING (${KEY})
LEFT JOIN usage_logs_kept k ON k.workspace_id = coalesce(r.workspace_id, e.workspace_id)
WHERE ${sumsOf('r')} IS DISTINCT FROM ${sumsOf('e')}
  AND (coalesce(r.grain, e.grain) = 'month' OR coalesce(r.day, e.day) >= coalesce(k.since, '-infinity'))
ORDER BY 1
LIMIT $1`,
  ),
};
