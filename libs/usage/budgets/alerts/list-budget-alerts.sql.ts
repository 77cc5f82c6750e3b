import { query } from '#lib/database';

/** A threshold that a budget has reached. Tokens and `percent_used` are bigints as text. */
export interface AlertRow {
  id: string;
  created_at: Date;
  level: 'warning' | 'critical';
  threshold: number;
  percent_used: string;
  allocated: string;
  consumed: string;
  message: string;
}

/**
 * Lists the alerts of a budget, the newest first, as far back as the journal goes.
 * Index: journal_budgets_idx of each partition, backwards.
 * $1 workspace, $2 budget as text, $3 the last id of the previous page or NULL, $4 maximum number
 * of rows.
 */
export const listBudgetAlerts = query<AlertRow>(
  'usage_list_budget_alerts',
  `
SELECT id, created_at, details ->> 'level' AS level, (details ->> 'threshold')::int AS threshold,
  (details ->> 'percentUsed')::bigint AS percent_used, details ->> 'allocated' AS allocated,
  details ->> 'consumed' AS consumed, message
FROM journal
WHERE workspace_id = $1 AND event = 'budget.alert' AND details ->> 'budgetId' = $2
  AND ($3::bigint IS NULL OR id < $3)
ORDER BY id DESC
LIMIT $4`,
);
