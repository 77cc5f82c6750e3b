import { command, query } from '#lib/database';
import { isActiveBudget } from '#lib/transitions';
import type { BudgetPolicy, BudgetScope } from '../domain/budget.js';

/** Tokens are bigints as text. */
export interface BudgetRow {
  id: string;
  scope: BudgetScope;
  scope_id: string;
  scope_name: string | null;
  allocated: string;
  reserved: string;
  consumed: string;
  remaining: string;
  available: string;
  period_start: Date;
  period_end: Date;
  policy: BudgetPolicy;
  is_active: boolean;
  version: number;
  created_at: Date;
  updated_at: Date;
}

/** Names by primary keys. */
const SHOWN = `b.id, b.scope, b.scope_id, CASE b.scope
    WHEN 'project' THEN (SELECT p.name FROM projects p WHERE p.workspace_id = b.workspace_id AND p.id = b.project_id)
    WHEN 'milestone' THEN (SELECT m.name FROM milestones m WHERE m.workspace_id = b.workspace_id AND m.id = b.milestone_id)
    WHEN 'task' THEN (SELECT t.title FROM agent_tasks t WHERE t.workspace_id = b.workspace_id AND t.id = b.task_id)
  END AS scope_name, b.allocated, b.reserved, b.consumed, b.remaining, b.available, b.period_start,
  b.period_end, b.policy, ${isActiveBudget('b')} AS is_active, b.version, b.created_at, b.updated_at`;

/** What was used in a scope in a period. Indexes: agent_usage_logs_task_idx, agent_usage_logs_time_idx. */
function usedIn(b: string): string {
  return `(SELECT coalesce(sum(l.total_tokens), 0) FROM agent_usage_logs l
    WHERE l.workspace_id = ${b}.workspace_id AND l.logged_at >= ${b}.period_start AND l.logged_at < ${b}.period_end
      AND (${b}.project_id IS NULL OR l.project_id = ${b}.project_id)
      AND (${b}.milestone_id IS NULL OR l.milestone_id = ${b}.milestone_id)
      AND (${b}.task_id IS NULL OR l.task_id = ${b}.task_id))`;
}

/**
 * With what was used in its period already. While the ledger is closed.
 * $1 workspace, $2 id, $3 project, $4 milestone, $5 task: at most one of the three, $6 tokens, $7 and $8 period,
 * $9 policy.
 */
export const insertBudget = command<BudgetRow>(
  'insert_budget',
  `
INSERT INTO usage_budgets AS b (workspace_id, id, project_id, milestone_id, task_id, allocated, period_start, period_end,
  policy, consumed)
SELECT n.*, ${usedIn('n')}
FROM (SELECT $1::uuid AS workspace_id, $2::uuid AS id, $3::uuid AS project_id, $4::uuid AS milestone_id, $5::uuid AS task_id,
  $6::bigint AS allocated, $7::timestamptz AS period_start, $8::timestamptz AS period_end, $9::text AS policy) n
RETURNING ${SHOWN}`,
);

/**
 * No row: it has another version than wanted. While the ledger is closed, if the period changes.
 * $1 workspace, $2 id, $3 tokens, $4 and $5 period, $6 policy, each NULL as it is; $7 version wanted or NULL.
 */
export const changeBudget = command<BudgetRow>(
  'change_budget',
  `
WITH changed AS (
  UPDATE usage_budgets b SET allocated = coalesce($3, b.allocated), period_start = coalesce($4, b.period_start),
    period_end = coalesce($5, b.period_end), policy = coalesce($6, b.policy), version = b.version + 1, updated_at = now(),
    consumed = CASE WHEN $4::timestamptz IS NULL AND $5::timestamptz IS NULL THEN b.consumed ELSE (
      SELECT used.tokens FROM (SELECT b.workspace_id, b.project_id, b.milestone_id, b.task_id,
        coalesce($4, b.period_start) AS period_start, coalesce($5, b.period_end) AS period_end) n
      CROSS JOIN LATERAL (SELECT ${usedIn('n')} AS tokens) used) END
  WHERE b.workspace_id = $1 AND b.id = $2 AND ($7::int IS NULL OR b.version = $7)
  RETURNING b.*
)
SELECT ${SHOWN} FROM changed b`,
);

/** The moment since which all usage is kept, if it is behind $2: what was used before is counted no more. $1 workspace. */
export const usageLostAfter = query<{ since: Date }>(
  'usage_lost_after',
  `
SELECT k.since::timestamp AT TIME ZONE 'UTC' AS since FROM usage_logs_kept k
WHERE k.workspace_id = $1 AND k.since::timestamp AT TIME ZONE 'UTC' > $2::timestamptz`,
);

/** Index: primary key. $1 workspace, $2 budget. */
export const findBudget = query<BudgetRow>(
  'find_budget',
  `SELECT ${SHOWN} FROM usage_budgets b WHERE b.workspace_id = $1 AND b.id = $2`,
);

/**
 * The newest first. Index: primary key, backwards.
 * $1 workspace, $2 scope or NULL, $3 scope id or NULL, $4 whether only those that hold now, $5 the last id of the page
 * before or NULL, $6 rows at most.
 */
export const listBudgets = query<BudgetRow>(
  'list_budgets',
  `
SELECT ${SHOWN} FROM usage_budgets b
WHERE b.workspace_id = $1 AND ($2::text IS NULL OR b.scope = $2) AND ($3::uuid IS NULL OR b.scope_id = $3)
  AND (NOT $4::boolean OR ${isActiveBudget('b')}) AND ($5::uuid IS NULL OR b.id < $5)
ORDER BY b.id DESC
LIMIT $6`,
);

/**
 * Whether a budget may be for that.
 * Indexes: primary keys. $1 workspace, $2 scope id.
 */
export const findScope = query<{ id: string }>(
  'find_scope',
  `
SELECT $2::uuid AS id WHERE $1 = $2 OR EXISTS (SELECT FROM projects WHERE workspace_id = $1 AND id = $2)
  OR EXISTS (SELECT FROM milestones WHERE workspace_id = $1 AND id = $2)
  OR EXISTS (SELECT FROM agent_tasks WHERE workspace_id = $1 AND id = $2)`,
);

/**
 * Two budgets, locked by id as everywhere. $1 workspace, $2 budgets.
 */
export const lockBudgets = query<BudgetRow>(
  'lock_budgets',
  `SELECT ${SHOWN} FROM usage_budgets b WHERE b.workspace_id = $1 AND b.id = ANY ($2::uuid[]) ORDER BY b.id FOR NO KEY UPDATE`,
);

/** Under the locks of both. $1 workspace, $2 from, $3 to, $4 tokens. */
export const moveAllocation = command<BudgetRow>(
  'move_allocation',
  `
UPDATE usage_budgets b SET allocated = b.allocated + CASE WHEN b.id = $2 THEN -$4::bigint ELSE $4::bigint END,
  version = b.version + 1, updated_at = now()
WHERE b.workspace_id = $1 AND b.id IN ($2, $3)
RETURNING ${SHOWN}`,
);
