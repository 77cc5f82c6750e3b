import { query } from '#lib/database';

/** SQL: throttles whose budget was changed since they were computed. */
const OUTDATED = `workspace_throttles h
JOIN usage_budgets b ON b.workspace_id = h.workspace_id AND b.id = h.budget_id
WHERE b.version <> h.budget_version`;

/** SQL: whether there is such a throttle. Nothing is read of an empty table. */
export const hasOutdatedThrottles = `EXISTS (SELECT FROM ${OUTDATED})`;

/**
 * Reads the workspaces with a throttle whose budget was changed since, as the service role. Usage
 * does not change the version of a budget.
 *
 * In every cycle. Index: primary key of usage_budgets; the throttles are few and read whole.
 * $1 rows at most, $2 workspace or NULL for all.
 */
export const outdatedThrottles = query<{ workspace_id: string }>(
  'outdated_throttles',
  `
SELECT DISTINCT h.workspace_id FROM ${OUTDATED} AND ($2::uuid IS NULL OR h.workspace_id = $2)
LIMIT $1`,
);
