import { isActiveBudget } from '#lib/transitions';
import { runsLeft } from '../throttling/throttles.sql.js';

/**
 * CTEs that leave of the tasks of `chosen` those whose estimates their budgets can bear, and of throttled scopes no more than
 * may run, in the order of their runs: `afforded` has the columns of `chosen`, and `budget_ids`. A task that does not fit counts
 * against those behind it nevertheless: they come next time. Budgets are not locked: `takeHolds` looks again.
 *
 * `chosen` has the columns id, run_id, project_id, milestone_id and estimated_tokens, and its tasks are locked.
 * Indexes: usage_budgets_scope_idx, four probes a task; workspace_throttles (primary key).
 *
 * @param workspaceOf an SQL expression for the workspace of a row of `chosen`
 */
export function holdsAfforded(workspaceOf: (chosen: string) => string): string {
  const workspace = workspaceOf('c');
  const scopes = `${workspace}, c.project_id, c.milestone_id, c.id`;
  return `budget AS MATERIALIZED (
  SELECT b.id, b.scope_id, b.available FROM usage_budgets b
  WHERE (b.workspace_id, b.scope_id) IN (SELECT ${workspace}, unnest(ARRAY[${scopes}]) FROM chosen c)
    AND ${isActiveBudget('b')}
),
wanted AS (
  SELECT c.id, b.id AS budget_id, b.available >= greatest(1,
    sum(c.estimated_tokens) OVER (PARTITION BY b.id ORDER BY c.run_id ROWS UNBOUNDED PRECEDING)) AS fits
  FROM chosen c JOIN budget b ON b.scope_id IN (${scopes})
),
throttled AS (
  SELECT id FROM (
    SELECT c.id, ${runsLeft('h')} < row_number() OVER (PARTITION BY h.workspace_id, h.scope_id ORDER BY c.run_id) AS is_beyond
    FROM chosen c JOIN workspace_throttles h ON h.workspace_id = ${workspace} AND h.scope_id IN (${workspace}, c.project_id)) t
  WHERE is_beyond
),
afforded AS MATERIALIZED (
  SELECT c.*, coalesce(w.budget_ids, '{}') AS budget_ids
  FROM chosen c LEFT JOIN (
    SELECT id, bool_and(fits) AS fit, array_agg(budget_id ORDER BY budget_id) AS budget_ids FROM wanted GROUP BY id) w
    ON w.id = c.id
  WHERE w.fit IS NOT FALSE AND c.id NOT IN (SELECT id FROM throttled)
)`;
}
