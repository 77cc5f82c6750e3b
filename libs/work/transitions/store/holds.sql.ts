import { hotCommand } from '#lib/database';
import { isLiveRun } from './conditions.sql.js';

/**
 * Holds of runs on budgets: the SQL that writes usage_budgets.reserved and task_runs.held_tokens at
 * the two ends of a run. A hold is taken in the transaction that creates the run, and released in
 * the statement that ends it, whatever that is.
 *
 * Budgets are locked last, by id, after tasks, runs and agents. So a workspace's budget is locked
 * only for the time of its holder's commit, and concurrent claims lock it once.
 */

/**
 * An active budget. A recurring one stays active while its renewal is late. `b` is an alias of
 * usage_budgets.
 */
export function isActiveBudget(b: string): string {
  return `(${b}.period_start <= now() AND ${b}.covers_until > now())`;
}

/** The ids of all scopes of a task that can have a budget, including the task: a uuid[]. */
export function scopesOf(t: string): string {
  return `ARRAY[${t}.workspace_id, ${t}.project_id, ${t}.milestone_id, ${t}.id]`;
}

/**
 * The columns that `task_moved` returns of the row `m` of `afforded`, for `runStart` and
 * HOLDS_NOTED.
 */
export const HELD_COLUMNS = ['m.budget_ids', 'm.estimated_tokens AS held_tokens'];

/** SQL expression that passes the holds of `task_moved`'s runs to `takeHolds`. True. */
export const HOLDS_NOTED = `(SELECT set_config('app.holds', coalesce(jsonb_agg(h)::text, ''), true)
  FROM (
    SELECT m.workspace_id, i.id, sum(m.held_tokens) AS tokens FROM task_moved m CROSS
      JOIN LATERAL unnest(m.budget_ids) AS i (id)
    GROUP BY 1, 2) h) IS NOT NULL`;

/**
 * Takes the holds that the statement before noted. Aborts the transaction, so that it is repeated,
 * if others have used the budget since.
 *
 * The last statement of its transaction, so that budgets are locked only for its time and the
 * commit's. Within the statement that creates the runs it would take longer, and whoever waited for
 * a row gets all plans of the statement prepared again. Index: primary key.
 */
export const takeHolds = hotCommand<never>(
  'take_holds',
  `
WITH held AS MATERIALIZED (
  SELECT b.workspace_id, b.id, h.tokens
  FROM jsonb_to_recordset(nullif(current_setting('app.holds', true), '')::jsonb) AS h (workspace_id uuid, id uuid, tokens bigint)
  JOIN usage_budgets b ON b.workspace_id = h.workspace_id AND b.id = h.id
  ORDER BY b.id
  FOR NO KEY UPDATE OF b
)
UPDATE usage_budgets b SET updated_at = now(),
  reserved = CASE WHEN b.available >= greatest(h.tokens, 1) THEN b.reserved + h.tokens
    ELSE budget_taken_meanwhile() END
FROM held h WHERE b.workspace_id = h.workspace_id AND b.id = h.id`,
);

/** The columns that `run_moved` returns of an ended run for HOLDS_RELEASED. */
export const RELEASED_COLUMNS = 'old.held_tokens AS released_tokens, r.budget_ids';

/**
 * The CTEs that release the holds of ended runs of `run_moved`, after `freed` has locked their
 * agents.
 */
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
  UPDATE usage_budgets b SET reserved = greatest(b.reserved - l.tokens, 0), updated_at = now()
    FROM released l
  WHERE b.workspace_id = l.workspace_id AND b.id = l.id
)`;

/**
 * Releases the remaining holds of ended runs on the budgets `miscounted(workspace_id, id)`, and
 * returns these budgets under lock. A server of a version without budgets ends a run and leaves its
 * hold behind. Reads the runs of the workspaces.
 */
export const HOLDS_GIVEN_UP = `forgotten AS MATERIALIZED (
  SELECT r.workspace_id, r.id FROM task_runs r
  WHERE r.held_tokens > 0 AND NOT ${isLiveRun('r')}
    AND EXISTS (SELECT FROM miscounted m WHERE m.workspace_id = r.workspace_id
      AND m.id = ANY (r.budget_ids))
  ORDER BY r.id FOR NO KEY UPDATE
),
given_up AS (
  UPDATE task_runs r SET held_tokens = 0 FROM forgotten f
    WHERE r.workspace_id = f.workspace_id AND r.id = f.id
)
SELECT b.workspace_id, b.id FROM usage_budgets b
WHERE (b.workspace_id, b.id) IN (SELECT m.workspace_id, m.id FROM miscounted m)
  AND (SELECT count(*) FROM forgotten) >= 0
ORDER BY b.id FOR NO KEY UPDATE`;

/**
 * Recounts the reservations of budgets. The statement has a CTE `miscounted(workspace_id, id)` of
 * budgets under lock. Whoever changes a hold waits for that lock and then changes the new sum.
 */
export const BUDGET_RECOUNT = `actual AS MATERIALIZED (
  SELECT m.workspace_id, m.id, (SELECT coalesce(sum(r.held_tokens), 0) FROM task_runs r
    WHERE r.workspace_id = m.workspace_id AND m.id = ANY (r.budget_ids)
      AND ${isLiveRun('r')}) AS tokens
  FROM miscounted m
),
budget_recounted AS (
  UPDATE usage_budgets b SET reserved = c.tokens, updated_at = now() FROM actual c
  WHERE b.workspace_id = c.workspace_id AND b.id = c.id AND b.reserved <> c.tokens
  RETURNING b.workspace_id, b.id, old.reserved AS counted, b.reserved AS actual
)`;
