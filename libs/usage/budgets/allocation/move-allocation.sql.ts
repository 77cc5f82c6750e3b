import { command, query } from '#lib/database';
import { BUDGET_COLUMNS, type BudgetRow } from '../store/budget.sql.js';

/** Locks budgets in the order of their ids, as all statements do. $1 workspace, $2 budgets. */
export const lockBudgets = query<BudgetRow>(
  'lock_budgets',
  `
SELECT ${BUDGET_COLUMNS} FROM usage_budgets b
WHERE b.workspace_id = $1 AND b.id = ANY ($2::uuid[]) ORDER BY b.id FOR NO KEY UPDATE`,
);

/** Moves tokens between two locked budgets. $1 workspace, $2 from, $3 to, $4 tokens. */
export const moveAllocation = command<BudgetRow>(
  'move_allocation',
  `
UPDATE usage_budgets b
SET allocated = b.allocated + CASE WHEN b.id = $2 THEN -$4::bigint ELSE $4::bigint END,
  version = b.version + 1, updated_at = now()
WHERE b.workspace_id = $1 AND b.id IN ($2, $3)
RETURNING ${BUDGET_COLUMNS}`,
);
