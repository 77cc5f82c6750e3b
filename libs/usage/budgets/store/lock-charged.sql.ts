import { query } from '#lib/database';
import { isActiveBudget, isLiveRun } from '#lib/transitions';
import type { BudgetPolicy, BudgetScope } from '../domain/budget.js';

/** A run that has used tokens, with its task. Tokens are bigints as text. */
export interface UsedRunRow {
  run_id: string;
  task_id: string;
  agent_id: string;
  project_id: string | null;
  milestone_id: string | null;
  estimated_tokens: string;
  held_tokens: string;
  budget_ids: string[];
  is_live: boolean;
  /** It is the live run of its task. */
  is_current: boolean;
  used_tokens: string;
  /** The tokens that it held when it was handed out; 0 without budgets. */
  first_held: string;
  /** The upper bounds of its requests to models that are under way, by their ids. */
  request_holds: Record<string, number>;
  /** The tokens that it had to hold for a refused request. */
  wanted_tokens: string | null;
}

/**
 * Locks the given runs, live or ended, and their tasks.
 *
 * Tasks are locked by id, as everywhere, and before their runs. Indexes: primary keys.
 * $1 workspace, $2 runs.
 */
export const lockUsedRuns = query<UsedRunRow>('lock_used_runs', lockingRuns(''));

/** A run that asks for a request, with the models that it can ask. */
export interface AskingRunRow extends UsedRunRow {
  workspace_models: string[];
  /** NULL: the task has no project. */
  project_models: string[] | null;
}

/**
 * lockUsedRuns, with the allowed models of workspace and project: before requests to models. Two more
 * probes of primary keys, 9 µs each among 50,000 projects, that of the workspace once a statement.
 * $1 workspace, $2 runs.
 */
export const lockAskingRuns = query<AskingRunRow>(
  'lock_asking_runs',
  lockingRuns(`,
  (SELECT w.allowed_models FROM workspaces w WHERE w.id = $1) AS workspace_models,
  (SELECT p.allowed_models FROM projects p
    WHERE p.workspace_id = $1 AND p.id = t.project_id) AS project_models`),
);

function lockingRuns(columns: string): string {
  return `
WITH task AS MATERIALIZED (
  SELECT t.id, t.project_id, t.milestone_id, t.estimated_tokens, t.run_id FROM agent_tasks t
  WHERE t.workspace_id = $1 AND t.id IN (
    SELECT r.task_id FROM task_runs r WHERE r.workspace_id = $1 AND r.id = ANY ($2::uuid[]))
  ORDER BY t.id
  FOR NO KEY UPDATE
)
SELECT r.id AS run_id, r.task_id, r.agent_id, t.project_id, t.milestone_id, t.estimated_tokens,
  r.held_tokens, r.budget_ids, ${isLiveRun('r')} AS is_live,
  ${isLiveRun('r')} AND t.run_id IS NOT DISTINCT FROM r.id AS is_current, r.used_tokens,
  coalesce(r.estimated_tokens, 0) AS first_held, r.request_holds, r.wanted_tokens${columns}
FROM task_runs r JOIN task t ON t.id = r.task_id
WHERE r.workspace_id = $1 AND r.id = ANY ($2::uuid[])
ORDER BY r.id
FOR NO KEY UPDATE OF r`;
}

/** A budget that usage is charged to. Tokens are bigints as text. */
export interface ChargedBudgetRow {
  id: string;
  scope: BudgetScope;
  scope_id: string;
  allocated: string;
  consumed: string;
  reserved: string;
  policy: BudgetPolicy;
  is_active: boolean;
}

/**
 * Locks the budgets that cover one of the scopes now, and the budgets that runs hold. Budgets are
 * locked last of all, by id.
 *
 * Indexes: usage_budgets_scope_idx, primary key. $1 workspace, $2 scope ids, $3 budgets.
 */
export const lockChargedBudgets = query<ChargedBudgetRow>(
  'lock_charged_budgets',
  `
SELECT b.id, b.scope, b.scope_id, b.allocated, b.consumed, b.reserved, b.policy,
  ${isActiveBudget('b')} AS is_active
FROM usage_budgets b
WHERE b.workspace_id = $1 AND b.id IN (
  SELECT c.id FROM usage_budgets c
  WHERE c.workspace_id = $1 AND c.scope_id = ANY ($2::uuid[]) AND ${isActiveBudget('c')}
  UNION ALL
  SELECT unnest($3::uuid[]))
ORDER BY b.id
FOR NO KEY UPDATE`,
);
