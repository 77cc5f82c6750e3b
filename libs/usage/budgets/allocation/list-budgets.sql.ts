import { query } from '#lib/database';
import { isActiveBudget } from '#lib/transitions';
import { BUDGET_COLUMNS, type BudgetRow } from '../store/budget.sql.js';

/**
 * Lists budgets, the newest first. Index: primary key, backwards.
 * $1 workspace, $2 scope or NULL, $3 scope id or NULL, $4 whether only active budgets are listed,
 * $5 the last id of the previous page or NULL, $6 maximum number of rows.
 */
export const listBudgets = query<BudgetRow>(
  'list_budgets',
  `
SELECT ${BUDGET_COLUMNS} FROM usage_budgets b
WHERE b.workspace_id = $1 AND ($2::text IS NULL OR b.scope = $2)
  AND ($3::uuid IS NULL OR b.scope_id = $3)
  AND (NOT $4::boolean OR ${isActiveBudget('b')}) AND ($5::uuid IS NULL OR b.id < $5)
ORDER BY b.id DESC
LIMIT $6`,
);

/**
 * Finds the workspace, project, milestone or task that a budget can cover.
 * Indexes: primary keys. $1 workspace, $2 scope id.
 */
export const findScope = query<{ id: string }>(
  'find_scope',
  `
SELECT $2::uuid AS id
WHERE $1 = $2 OR EXISTS (SELECT FROM projects WHERE workspace_id = $1 AND id = $2)
  OR EXISTS (SELECT FROM milestones WHERE workspace_id = $1 AND id = $2)
  OR EXISTS (SELECT FROM agent_tasks WHERE workspace_id = $1 AND id = $2)`,
);
