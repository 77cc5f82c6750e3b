import { isActiveBudget } from '#lib/transitions';
import { runsLeft } from '../throttling/throttle-conditions.sql.js';

/**
 * CTEs that keep the tasks of `chosen` whose estimates their budgets can bear. Of throttled scopes
 * they keep no more tasks than can run. `afforded` has the columns of `chosen`, and `budget_ids`,
 * and its rows have no order. A task that does not fit still counts against the tasks behind it:
 * they come next time. Budgets are not locked: `takeHolds` checks again.
 *
 * `chosen` has the columns id, run_id, project_id, milestone_id and estimated_tokens, and its tasks
 * are locked. Indexes: usage_budgets_scope_idx, one probe for each task, project and milestone;
 * workspace_throttles (primary key).
 *
 * The time grows with the number of tasks, not with its square: claims that come together are
 * thousands of tasks, and the joins of pinned statements are nested loops. So no task is joined
 * with another, nor with the budgets of others. The budgets that cover many tasks are read once,
 * because each change of a row leaves a version that readers must skip.
 *
 * @param workspaceOf an SQL expression for the workspace of a row of `chosen`
 */
export function holdsAfforded(workspaceOf: (chosen: string) => string): string {
  const workspace = workspaceOf('c');
  const wide = `${workspace}, c.project_id, c.milestone_id`;
  return `wide_budget AS MATERIALIZED (
  SELECT b.id, b.scope_id, b.available FROM usage_budgets b
  WHERE (b.workspace_id, b.scope_id) IN (SELECT ${workspace}, unnest(ARRAY[${wide}]) FROM chosen c)
    AND ${isActiveBudget('b')}
),
wanted AS (
  SELECT c.*, b.id AS budget_id, b.id IS NULL OR b.available >= greatest(1,
    sum(c.estimated_tokens)
      OVER (PARTITION BY b.id ORDER BY c.run_id ROWS UNBOUNDED PRECEDING)) AS fits
  FROM chosen c LEFT JOIN LATERAL (
    SELECT b.id, b.available FROM wide_budget b WHERE b.scope_id IN (${wide})
    UNION ALL
    SELECT b.id, b.available FROM usage_budgets b
    WHERE b.workspace_id = ${workspace} AND b.scope_id = c.id AND ${isActiveBudget('b')}) b ON true
),
throttled AS (
  SELECT id FROM (
    SELECT c.id, ${runsLeft('h')} < row_number()
      OVER (PARTITION BY h.workspace_id, h.scope_id ORDER BY c.run_id) AS is_beyond
    FROM chosen c JOIN workspace_throttles h
      ON h.workspace_id = ${workspace} AND h.scope_id IN (${workspace}, c.project_id)) t
  WHERE is_beyond
),
afforded AS MATERIALIZED (
  SELECT * FROM (
    SELECT w.*, bool_and(w.fits) OVER task AS fit,
      array_remove(array_agg(w.budget_id) OVER task, NULL) AS budget_ids,
      row_number() OVER task AS row_of_task
    FROM wanted w
    WINDOW task AS (PARTITION BY w.id ORDER BY w.budget_id
      ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)) c
  WHERE c.row_of_task = 1 AND c.fit AND c.id NOT IN (SELECT id FROM throttled)
)`;
}
