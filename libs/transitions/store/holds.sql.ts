/**
 * What runs hold of budgets: the SQL that writes usage_budgets.reserved and task_runs.held_tokens at the two ends of a
 * run. A hold is taken in the statement that makes the run, and dies in the one that ends it, whatever that is.
 *
 * Budgets are locked last, by id: after tasks, runs and agents. So a budget of a whole workspace is locked for no longer
 * than its holder takes to commit, and claims that come together lock it once.
 */

/** A budget that holds now; `b` is an alias of usage_budgets. */
export function isActiveBudget(b: string): string {
  return `(${b}.period_start <= now() AND ${b}.period_end > now())`;
}

/** The ids of what a task belongs to and may have a budget, itself among them: a uuid[]. */
export function scopesOf(t: string): string {
  return `ARRAY[${t}.workspace_id, ${t}.project_id, ${t}.milestone_id, ${t}.id]`;
}

/**
 * CTEs that leave of the tasks of `chosen` those whose estimates their budgets can bear, in the order of their
 * runs: `afforded` has the columns of `chosen`, and `budget_ids`. A task that does not fit counts against those behind it
 * nevertheless: they come next time.
 *
 * `chosen` has the columns id, run_id, project_id, milestone_id and estimated_tokens, and its tasks are locked.
 * Index: usage_budgets_scope_idx, four probes a task.
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
  ORDER BY b.id
  FOR NO KEY UPDATE
),
wanted AS (
  SELECT c.id, b.id AS budget_id, b.available >= greatest(1,
    sum(c.estimated_tokens) OVER (PARTITION BY b.id ORDER BY c.run_id ROWS UNBOUNDED PRECEDING)) AS fits
  FROM chosen c JOIN budget b ON b.scope_id IN (${scopes})
),
afforded AS MATERIALIZED (
  SELECT c.*, coalesce(w.budget_ids, '{}') AS budget_ids
  FROM chosen c LEFT JOIN (
    SELECT id, bool_and(fits) AS fit, array_agg(budget_id ORDER BY budget_id) AS budget_ids FROM wanted GROUP BY id) w
    ON w.id = c.id
  WHERE w.fit IS NOT FALSE
)`;
}

/** What `task_moved` returns of the row `m` of `afforded`, for `runStart` and HOLDS_TAKEN. */
export const HELD_COLUMNS = ['m.budget_ids', 'm.estimated_tokens AS held_tokens'];

/** The CTE that takes the holds of the runs of `task_moved`, whose budgets are locked. */
export const HOLDS_TAKEN = `budget_held AS (
  UPDATE usage_budgets b SET reserved = b.reserved + h.tokens, updated_at = now() FROM (
    SELECT m.workspace_id, i.id, sum(m.held_tokens) AS tokens FROM task_moved m CROSS JOIN LATERAL unnest(m.budget_ids) AS i (id)
    GROUP BY 1, 2) h
  WHERE b.workspace_id = h.workspace_id AND b.id = h.id
)`;

/** What `run_moved` returns of an ended run for HOLDS_RELEASED. */
export const RELEASED_COLUMNS = 'old.held_tokens AS released_tokens, r.budget_ids';

/** The CTEs that give back what ended runs of `run_moved` held, after `freed` has locked their agents. */
export const HOLDS_RELEASED = `released AS MATERIALIZED (
  SELECT b.workspace_id, b.id, h.tokens FROM usage_budgets b JOIN (
    SELECT r.workspace_id, i.id, sum(r.released_tokens) AS tokens
    FROM run_moved r CROSS JOIN LATERAL unnest(r.budget_ids) AS i (id)
    WHERE r.ended_at IS NOT NULL AND r.released_tokens > 0 AND (SELECT count(*) FROM freed) >= 0
    GROUP BY 1, 2) h ON b.workspace_id = h.workspace_id AND b.id = h.id
  ORDER BY b.id FOR NO KEY UPDATE OF b
),
budget_released AS (
  -- A sum that is too low must not fail the report of an agent: an invariant finds it.
  UPDATE usage_budgets b SET reserved = greatest(b.reserved - l.tokens, 0), updated_at = now() FROM released l
  WHERE b.workspace_id = l.workspace_id AND b.id = l.id
)`;
