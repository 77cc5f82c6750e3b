import { query } from '#lib/database';
import { isActiveBudget, isLiveRun, scopesOf } from '#lib/transitions';
import type { ChargedBudgetRow } from '../store/lock-charged.sql.js';

/** Tokens are bigints as text, costs are numerics as text. */
export interface RunUseRow {
  run_id: string;
  task_id: string;
  is_live: boolean;
  estimated_tokens: string;
  held_tokens: string;
  used_tokens: string;
  used_cost_usd: string;
  /** The sum of all runs of the task. */
  task_used_tokens: string;
}

/**
 * Reads what a run holds and has used.
 * Indexes: primary keys, task_runs_task_idx. $1 workspace, $2 run, $3 its agent.
 */
export const readRunUse = query<RunUseRow>(
  'read_run_use',
  `
SELECT r.id AS run_id, r.task_id, ${isLiveRun('r')} AS is_live, t.estimated_tokens, r.held_tokens,
  r.used_tokens, trim_scale(r.used_cost_usd) AS used_cost_usd,
  (SELECT sum(o.used_tokens) FROM task_runs o
    WHERE o.workspace_id = t.workspace_id AND o.task_id = t.id) AS task_used_tokens
FROM task_runs r JOIN agent_tasks t ON t.workspace_id = r.workspace_id AND t.id = r.task_id
WHERE r.workspace_id = $1 AND r.id = $2 AND r.agent_id = $3`,
);

/**
 * Reads the budgets that cover a run now, without a lock.
 * Index: usage_budgets_scope_idx. $1 workspace, $2 run.
 */
export const readRunBudgets = query<ChargedBudgetRow>(
  'read_run_budgets',
  `
SELECT b.id, b.scope, b.scope_id, b.allocated, b.consumed, b.reserved, b.policy, true AS is_active
FROM task_runs r JOIN agent_tasks t ON t.workspace_id = r.workspace_id AND t.id = r.task_id
JOIN usage_budgets b ON b.workspace_id = t.workspace_id AND b.scope_id = ANY (${scopesOf('t')})
  AND ${isActiveBudget('b')}
WHERE r.workspace_id = $1 AND r.id = $2
ORDER BY b.id`,
);
