import { command, query } from '#lib/database';
import { BUDGET_COLUMNS, type BudgetRow } from '../store/budget.sql.js';
import { firstDueTime } from '../store/period.sql.js';

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
 * SQL: the first start (`a`) and the present or first period (`p`) of a recurrence. Without one,
 * both have NULLs. The arguments are SQL expressions.
 *
 * @param start NULL for the begin of the present day, week (Monday) or month
 */
function recurrenceOf(every: string, zone: string, start: string): string {
  return `LATERAL (
    SELECT coalesce(${start}::timestamptz AT TIME ZONE ${zone}::text,
      date_trunc(${every}::text, now() AT TIME ZONE ${zone}::text)) AS first_start) a
  CROSS JOIN LATERAL budget_period(a.first_start, ${every}::text, ${zone}::text,
    greatest(now(), a.first_start AT TIME ZONE ${zone}::text)) p`;
}

/**
 * Creates a budget that has consumed the usage of its period so far. The ledger must be closed.
 * $1 workspace, $2 id, $3 project, $4 milestone, $5 task (at most one of the three), $6 tokens,
 * $7 and $8 period, $9 policy, $10 and $11 length and time zone of recurring periods or NULL.
 */
export const insertBudget = command<BudgetRow>(
  'insert_budget',
  `
INSERT INTO usage_budgets AS b (workspace_id, id, project_id, milestone_id, task_id, allocated,
  period_start, period_end, policy, every, time_zone, first_start, renewed_allocation, consumed,
  due_at)
SELECT n.*, ${usedIn('n')}, ${firstDueTime('n')}
FROM (SELECT $1::uuid AS workspace_id, $2::uuid AS id, $3::uuid AS project_id,
  $4::uuid AS milestone_id, $5::uuid AS task_id, $6::bigint AS allocated,
  coalesce(p.period_start, $7::timestamptz) AS period_start,
  coalesce(p.period_end, $8::timestamptz) AS period_end, $9::text AS policy, $10::text AS every,
  $11::text AS time_zone, a.first_start,
  CASE WHEN $10::text IS NOT NULL THEN $6::bigint END AS renewed_allocation
  FROM ${recurrenceOf('$10', '$11', '$7')}) n
RETURNING ${BUDGET_COLUMNS}`,
);

/**
 * Changes a budget. It returns no row if the budget has another version. The ledger must be closed,
 * because the usage of another period is counted, and nobody else may change the period meanwhile.
 * $1 workspace, $2 id, $3 tokens, $4 and $5 period, $6 policy (NULL leaves each as it is),
 * $7 expected version or NULL, $8 and $9 length and time zone of recurring periods (NULL leaves
 * them as they are), $10 whether the recurrence ends.
 */
export const changeBudget = command<BudgetRow>(
  'change_budget',
  `
WITH wanted AS MATERIALIZED (
  SELECT c.workspace_id, c.id, c.project_id, c.milestone_id, c.task_id,
    coalesce(p.period_start, $4, c.period_start) AS period_start,
    coalesce(p.period_end, $5, c.period_end) AS period_end,
    CASE WHEN NOT $10::boolean THEN coalesce($8, c.every) END AS every,
    CASE WHEN NOT $10::boolean THEN coalesce($9, c.time_zone) END AS time_zone,
    CASE WHEN NOT $10::boolean THEN coalesce(a.first_start, c.first_start) END AS first_start,
    num_nonnulls($4::timestamptz, $5::timestamptz, $8::text) > 0
      OR $10::boolean AND c.every IS NOT NULL AS is_moved
  FROM usage_budgets c CROSS JOIN ${recurrenceOf('$8', '$9', '$4')}
  WHERE c.workspace_id = $1 AND c.id = $2
),
changed AS (
  UPDATE usage_budgets b SET allocated = coalesce($3, b.allocated), period_start = n.period_start,
    period_end = n.period_end, policy = coalesce($6, b.policy), version = b.version + 1,
    updated_at = now(), every = n.every, time_zone = n.time_zone, first_start = n.first_start,
    renewed_allocation = CASE WHEN n.every IS NOT NULL
      THEN coalesce($3, b.renewed_allocation, b.allocated) END,
    due_at = CASE WHEN n.is_moved THEN ${firstDueTime('n')} ELSE b.due_at END,
    consumed = CASE WHEN n.is_moved THEN ${usedIn('n')} ELSE b.consumed END
  FROM wanted n
  WHERE b.workspace_id = n.workspace_id AND b.id = n.id AND ($7::int IS NULL OR b.version = $7)
  RETURNING b.*
)
SELECT ${BUDGET_COLUMNS} FROM changed b`,
);
