import { isActiveBudget } from '#lib/transitions';

/**
 * SQL: the tokens that the budgets of a workspace have left, for statements that hand out tasks.
 * They compute it once. The result is a jsonb object by scope id, with the key `task` if single
 * tasks have budgets. It is NULL if no budget is active.
 *
 * Indexes: usage_budgets_wide_idx, usage_budgets_task_idx.
 *
 * @param workspace an SQL expression
 */
export function availableBudgets(workspace: string): string {
  const active = `b.workspace_id = ${workspace} AND ${isActiveBudget('b')}`;
  return `(SELECT jsonb_object_agg(l.scope, l.available) FROM (
    SELECT b.scope_id::text AS scope, b.available FROM usage_budgets b
    WHERE ${active} AND b.task_id IS NULL
    UNION ALL
    SELECT 'task', 0 WHERE EXISTS (SELECT FROM usage_budgets b
      WHERE ${active} AND b.task_id IS NOT NULL)) l)`;
}

/**
 * SQL: each budget that covers a task has the estimate left, and at least one token. Budgets are
 * not locked: the statement that hands out the task checks all of its tasks together again.
 *
 * @param t an alias of agent_tasks
 * @param budgets an SQL expression, the result of `availableBudgets`
 */
export function isAffordable(t: string, budgets: string): string {
  const left = ['workspace_id', 'project_id', 'milestone_id'].map(
    (column) => `(${budgets} ->> ${t}.${column}::text)::bigint`,
  );
  return `(${budgets} IS NULL OR (
    greatest(${t}.estimated_tokens, 1) <= least(9223372036854775807, ${left.join(',\n      ')})
    AND (NOT ${budgets} ? 'task' OR NOT EXISTS (SELECT FROM usage_budgets b
      WHERE b.workspace_id = ${t}.workspace_id AND b.scope_id = ${t}.id AND ${isActiveBudget('b')}
        AND b.available < greatest(${t}.estimated_tokens, 1)))))`;
}

/** SQL: a workspace has, or had, a budget. Then runs can hold tokens. */
export function hasBudgets(workspace: string): string {
  return `EXISTS (SELECT FROM usage_budgets b WHERE b.workspace_id = ${workspace})`;
}

/** SQL: the budget of a whole workspace has no tokens left. */
export function isUsedUp(workspace: string): string {
  return `EXISTS (SELECT FROM usage_budgets b
    WHERE b.workspace_id = ${workspace} AND b.scope_id = ${workspace}
    AND ${isActiveBudget('b')} AND b.available <= 0)`;
}
