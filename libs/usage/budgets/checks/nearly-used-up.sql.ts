import { isActiveBudget, scopesOf } from '#lib/transitions';

/**
 * SQL: more than 90 % of a budget that covers the task is consumed.
 * Index: usage_budgets_reached_idx, one look at the few such budgets of the workspace.
 *
 * @param t an alias of agent_tasks
 */
export function isNearlyOutOfBudget(t: string): string {
  return `EXISTS (SELECT FROM usage_budgets b
    WHERE b.workspace_id = ${t}.workspace_id AND b.reached_percent >= 90
      AND b.consumed * 10.0 > b.allocated * 9.0 AND ${isActiveBudget('b')}
      AND b.scope_id = ANY (${scopesOf(t)}))`;
}
