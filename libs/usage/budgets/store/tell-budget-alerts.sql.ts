import { command } from '#lib/database';
import { alertLevel, alertMessage, percentUsed } from './alert-text.sql.js';

/** The thresholds of a budget, in percent. `reached_percent` is one of them, or 0. */
const THRESHOLDS = [50, 75, 90, 100].map((percent) => `(${percent}::smallint)`).join(', ');

/**
 * SQL: some budget has an alert that is due.
 * Index: usage_budgets_untold_idx, which is empty except for a moment.
 */
export const alertsDue = `EXISTS (
  SELECT FROM usage_budgets WHERE reached_percent <> alerted_percent)`;

/** The maximum number of budgets that one change alerts about. The coordinator alerts the rest. */
export const MAX_ALERTED = 100;

/** A budget that sent alerts, or that can send them again. */
export interface AlertedBudget {
  workspace_id: string;
  task_id: string | null;
  budget_id: string;
  /** The number of events that were written. */
  told: number;
}

/**
 * Writes an event for each threshold that a budget has reached since the last one. The statement
 * that notes a threshold writes its event, so each is sent once. A budget that fell below a
 * threshold, because more was allocated, can send it again. Locked budgets are skipped.
 *
 * It runs after the statement that changes `consumed` or `allocated`, in its transaction or later.
 * A tenant sees its own budgets alone.
 *
 * Index: usage_budgets_untold_idx. $1 maximum number of budgets, $2 workspace or NULL.
 */
export const tellBudgetAlerts = command<AlertedBudget>(
  'usage_tell_budget_alerts',
  `
WITH untold AS MATERIALIZED (
  SELECT b.workspace_id, b.id, b.scope, b.scope_id, b.task_id, b.allocated, b.consumed,
    b.reached_percent, b.alerted_percent, ${percentUsed('b')} AS percent
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
  SELECT u.workspace_id, 'budget.alert',
    CASE WHEN u.task_id IS NOT NULL THEN 'budget_alert' END, u.task_id,
    CASE s.step WHEN 100 THEN 'ERROR' ELSE 'WARN' END, ${alertMessage('s.step', 'u.scope')},
    jsonb_build_object('level', ${alertLevel('s.step')}, 'threshold', s.step,
      'percentUsed', u.percent, 'scope', u.scope, 'scopeId', u.scope_id, 'budgetId', u.id,
      'allocated', u.allocated::text, 'consumed', u.consumed::text), 'system'
  FROM untold u
  JOIN (VALUES ${THRESHOLDS}) AS s (step)
    ON s.step > u.alerted_percent AND s.step <= u.reached_percent
  ORDER BY u.workspace_id, u.id, s.step
  RETURNING (details ->> 'budgetId')::uuid AS budget_id
)
SELECT u.workspace_id, u.task_id, u.id AS budget_id, count(t.budget_id)::int AS told
FROM untold u LEFT JOIN told t ON t.budget_id = u.id
GROUP BY 1, 2, 3`,
);
