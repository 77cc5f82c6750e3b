import { isActiveBudget } from '#lib/transitions';

/**
 * What the budgets of a workspace have left, for statements that hand out tasks, which compute it once: a jsonb object of
 * scope ids, and the key `task` when single tasks have budgets; NULL when nothing has one.
 *
 * Indexes: usage_budgets_wide_idx, usage_budgets_task_idx.
 *
 * @param workspace an SQL expression
 */
export function availableBudgets(workspace: string): string {
  const active = `b.workspace_id = ${workspace} AND ${isActiveBudget('b')}`;
  return `(SELECT jsonb_object_agg(l.scope, l.available) FROM (
    SELECT b.scope_id::text AS scope, b.available FROM usage_budgets b WHERE ${active} AND b.task_id IS NULL
    UNION ALL
    SELECT 'task', 0 WHERE EXISTS (SELECT FROM usage_budgets b WHERE ${active} AND b.task_id IS NOT NULL)) l)`;
}

/** Where it is known that nothing has a budget. */
export const NO_BUDGETS = 'NULL::jsonb';

/**
 * Whether the budgets that cover a task have its estimate left, and anything at all. They are not locked: the statement that hands it out looks
 * again, at all of its tasks together.
 *
 * @param t an alias of agent_tasks
 * @param budgets an SQL expression, the result of `availableBudgets`
 */
export function isAffordable(t: string, budgets: string): string {
  const left = ['workspace_id', 'project_id', 'milestone_id'].map(
    (column) => `(${budgets} ->> ${t}.${column}::text)::bigint`,
  );
  return `(${budgets} IS NULL OR (
    greatest(${t}.estimated_tokens, 1) <= least(9223372036854775807, ${left.join(', ')})
    AND (NOT ${budgets} ? 'task' OR NOT EXISTS (SELECT FROM usage_budgets b
      WHERE b.workspace_id = ${t}.workspace_id AND b.scope_id = ${t}.id AND ${isActiveBudget('b')}
        AND b.available < greatest(${t}.estimated_tokens, 1)))))`;
}

/** Whether there ever was a budget in a workspace: then its runs hold something of those that cover them. */
export function hasBudgets(workspace: string): string {
  return `EXISTS (SELECT FROM usage_budgets b WHERE b.workspace_id = ${workspace})`;
}

/** Whether the budget of a whole workspace has nothing left. */
export function isUsedUp(workspace: string): string {
  return `EXISTS (SELECT FROM usage_budgets b WHERE b.workspace_id = ${workspace} AND b.scope_id = ${workspace}
    AND ${isActiveBudget('b')} AND b.available <= 0)`;
}
