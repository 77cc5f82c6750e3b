import { query } from '#lib/database';

/** A period that has ended. Tokens are bigints as text, times are as in RFC 3339. */
export interface PastPeriodRow {
  id: string;
  period_start: string;
  period_end: string;
  allocated: string;
  consumed: string;
}

/**
 * Lists the periods of a budget that have ended, the newest first, as far back as the journal goes.
 * Index: journal_budgets_idx of each partition, backwards.
 * $1 workspace, $2 budget as text, $3 the last id of the previous page or NULL, $4 maximum number
 * of rows.
 */
export const listPastPeriods = query<PastPeriodRow>(
  'usage_list_past_periods',
  `
SELECT id, details ->> 'periodStart' AS period_start, details ->> 'periodEnd' AS period_end,
  details ->> 'allocated' AS allocated, details ->> 'consumed' AS consumed
FROM journal
WHERE workspace_id = $1 AND event = 'budget.ended' AND details ->> 'budgetId' = $2
  AND ($3::bigint IS NULL OR id < $3)
ORDER BY id DESC
LIMIT $4`,
);
