import { command, query } from '#lib/database';

/** Percents of a budget at which people are told; usage_budgets.reached_percent is one of them, or 0. */
const STEPS = [50, 75, 90, 100].map((step) => `(${step}::smallint)`).join(', ');

/** How serious it is that a step was reached. @param step an SQL expression */
export function alertLevel(step: string): string {
  return `CASE ${step} WHEN 100 THEN 'critical' ELSE 'warning' END`;
}

/** The sentence for people. @param step an SQL expression @param scope another, of the budget's scope */
export function alertMessage(step: string, scope: string): string {
  const whose = `CASE ${scope} WHEN 'global' THEN 'workspace' ELSE ${scope} END`;
  return `CASE ${step} WHEN 100 THEN 'The budget of the ' || ${whose} || ' is used up'
      ELSE ${step} || ' % of the budget of the ' || ${whose} || ' is used' END`;
}

/** How much of a budget is used, in whole percents. @param budget alias of a row of usage_budgets */
export function percentUsed(budget: string): string {
  return `CASE WHEN ${budget}.allocated = 0 THEN 100 ELSE trunc(${budget}.consumed * 100.0 / ${budget}.allocated) END`;
}

/** An SQL condition: there is an alert to be told. Index: usage_budgets_untold_idx, which is empty but for a moment. */
export const alertsDue = `EXISTS (SELECT FROM usage_budgets WHERE reached_percent <> alerted_percent)`;

/** Budgets that one change of them tells of at most; the coordinator tells of the rest. */
export const ALERTED = 100;

/** A budget of which something was told, or that may tell again. */
export interface AlertedBudget {
  workspace_id: string;
  task_id: string | null;
  budget_id: string;
  /** Events that were written. */
  told: number;
}

/**
 * Tells of each step that a budget has reached and that was not told: the statement that notes it writes the event, so
 * it is told once. A budget that is below a step again, because more was allocated, can tell it again. Budgets that
 * somebody else has locked are passed over.
 *
 * To be run behind the statement that changes `consumed` or `allocated`, in its transaction or after it. As a tenant it
 * sees the tenant's budgets alone.
 *
 * Index: usage_budgets_untold_idx. $1 budgets at most, $2 workspace or NULL.
 */
export const tellBudgetAlerts = command<AlertedBudget>(
  'usage_tell_budget_alerts',
  `
WITH untold AS MATERIALIZED (
  SELECT b.workspace_id, b.id, b.scope, b.scope_id, b.task_id, b.allocated, b.consumed, b.reached_percent,
    b.alerted_percent, ${percentUsed('b')} AS percent
  FROM usage_budgets b
  WHERE b.reached_percent <> b.alerted_percent AND ($2::uuid IS NULL OR b.workspace_id = $2)
  ORDER BY b.workspace_id, b.id
  LIMIT $1
  FOR NO KEY UPDATE SKIP LOCKED
),
noted AS (
  UPDATE usage_budgets b SET alerted_percent = u.reached_percent FROM untold u
  WHERE b.workspace_id = u.workspace_id AND b.id = u.id
),
told AS (
  INSERT INTO journal (workspace_id, event, log_event, task_id, level, message, details, actor_kind)
  SELECT u.workspace_id, 'budget.alert', CASE WHEN u.task_id IS NOT NULL THEN 'budget_alert' END, u.task_id,
    CASE s.step WHEN 100 THEN 'ERROR' ELSE 'WARN' END, ${alertMessage('s.step', 'u.scope')},
    jsonb_build_object('level', ${alertLevel('s.step')}, 'threshold', s.step, 'percentUsed', u.percent,
      'scope', u.scope, 'scopeId', u.scope_id, 'budgetId', u.id, 'allocated', u.allocated::text,
      'consumed', u.consumed::text), 'system'
  FROM untold u
  JOIN (VALUES ${STEPS}) AS s (step) ON s.step > u.alerted_percent AND s.step <= u.reached_percent
  ORDER BY u.workspace_id, u.id, s.step
  RETURNING (details ->> 'budgetId')::uuid AS budget_id
)
SELECT u.workspace_id, u.task_id, u.id AS budget_id, count(t.budget_id)::int AS told
FROM untold u LEFT JOIN told t ON t.budget_id = u.id
GROUP BY 1, 2, 3`,
);

/** One step that a budget has reached. Tokens are bigints as text. */
export interface AlertRow {
  id: string;
  created_at: Date;
  level: 'warning' | 'critical';
  threshold: number;
  percent_used: number;
  allocated: string;
  consumed: string;
  message: string;
}

/**
 * What was told of a budget, the newest first, as far back as the journal goes.
 * Index: journal_budget_alerts_idx of each partition, backwards.
 * $1 workspace, $2 budget as text, $3 the last id of the page before or NULL, $4 rows at most.
 */
export const listBudgetAlerts = query<AlertRow>(
  'usage_list_budget_alerts',
  `
SELECT id, created_at, details ->> 'level' AS level, (details ->> 'threshold')::int AS threshold,
  (details ->> 'percentUsed')::bigint AS percent_used, details ->> 'allocated' AS allocated,
  details ->> 'consumed' AS consumed, message
FROM journal
WHERE workspace_id = $1 AND event = 'budget.alert' AND details ->> 'budgetId' = $2 AND ($3::bigint IS NULL OR id < $3)
ORDER BY id DESC
LIMIT $4`,
);
