import { query } from '#lib/database';
import type { Invariant, Violation } from './invariant.js';

/**
 * A workspace is marked if and only if it has a pause, a throttle, a budget or a provider limit.
 * Claims in a workspace without a mark ask for none of these.
 *
 * Reads all workspaces, with four look-ups each: pauses_holding_idx, workspace_throttles_pkey,
 * usage_budgets_wide_idx, provider_limits_is_one.
 */
export const holdsMarked: Invariant = {
  name: 'holds_marked',
  title: 'A workspace is marked exactly if something may hold back its tasks',
  sql: query<Violation>(
    'invariant_holds_marked',
    `
SELECT 'workspace ' || w.id AS subject,
  CASE WHEN w.may_hold_tasks THEN 'is marked, and nothing holds its tasks'
    ELSE 'is not marked, and something may hold its tasks' END AS problem
FROM workspaces w
WHERE w.may_hold_tasks <> workspace_may_hold_tasks(w.id)
ORDER BY 1
LIMIT $1`,
  ),
};
