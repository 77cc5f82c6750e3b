import { command, query } from '#lib/database';
import { BUDGET_COLUMNS, type BudgetRow } from '../store/budget.sql.js';

/**
 * The tokens that were used in the scope and period of the row `b`.
 * Indexes: agent_usage_logs_task_idx, agent_usage_logs_time_idx.
 */
function usedIn(b: string): string {
  return `(SELECT coalesce(sum(l.total_tokens), 0) FROM agent_usage_logs l
    WHERE l.workspace_id = ${b}.workspace_id
      AND l.logged_at >= ${b}.period_start AND l.logged_at < ${b}.period_end
      AND (${b}.project_id IS NULL OR l.project_id = ${b}.project_id)
      AND (${b}.milestone_id IS NULL OR l.milestone_id = ${b}.milestone_id)
      AND (${b}.task_id IS NULL OR l.task_id = ${b}.task_id))`;
}

/**
 * Finds the moment since which all usage is kept, if it is later than $2: older usage cannot be
 * counted. $1 workspace.
 */
export const usageLostAfter = query<{ since: Date }>(
  'usage_lost_after',
  `
SELECT k.since::timestamp AT TIME ZONE 'UTC' AS since FROM usage_logs_kept k
WHERE k.workspace_id = $1 AND k.since::timestamp AT TIME ZONE 'UTC' > $2::timestamptz`,
);

/**
 * Creates a budget that has consumed the usage of its period so far. The ledger must be closed.
 * $1 workspace, $2 id, $3 project, $4 milestone, $5 task (at most one of the three), $6 tokens,
 * $7 and $8 period, $9 policy.
 */
export const insertBudget = command<BudgetRow>(
  'insert_budget',
  `
INSERT INTO usage_budgets AS b (workspace_id, id, project_id, milestone_id, task_id, allocated,
  period_start, period_end, policy, consumed)
SELECT n.*, ${usedIn('n')}
FROM (SELECT $1::uuid AS workspace_id, $2::uuid AS id, $3::uuid AS project_id,
  $4::uuid AS milestone_id, $5::uuid AS task_id, $6::bigint AS allocated,
  $7::timestamptz AS period_start, $8::timestamptz AS period_end, $9::text AS policy) n
RETURNING ${BUDGET_COLUMNS}`,
);

/**
 * Changes a budget. It returns no row if the budget has another version. The ledger must be closed
 * if the period changes, because the usage of the new period is counted.
 * $1 workspace, $2 id, $3 tokens, $4 and $5 period, $6 policy (NULL leaves each as it is),
 * $7 expected version or NULL.
 */
export const changeBudget = command<BudgetRow>(
  'change_budget',
  `
WITH changed AS (
  UPDATE usage_budgets b SET allocated = coalesce($3, b.allocated),
    period_start = coalesce($4, b.period_start), period_end = coalesce($5, b.period_end),
    policy = coalesce($6, b.policy), version = b.version + 1, updated_at = now(),
    consumed = CASE WHEN $4::timestamptz IS NULL AND $5::timestamptz IS NULL THEN b.consumed ELSE (
      SELECT used.tokens FROM (SELECT b.workspace_id, b.project_id, b.milestone_id, b.task_id,
        coalesce($4, b.period_start) AS period_start, coalesce($5, b.period_end) AS period_end) n
      CROSS JOIN LATERAL (SELECT ${usedIn('n')} AS tokens) used) END
  WHERE b.workspace_id = $1 AND b.id = $2 AND ($7::int IS NULL OR b.version = $7)
  RETURNING b.*
)
SELECT ${BUDGET_COLUMNS} FROM changed b`,
);
