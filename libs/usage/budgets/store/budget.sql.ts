import { query } from '#lib/database';
import { isActiveBudget } from '#lib/transitions';
import type { BudgetPolicy, BudgetScope, Every } from '../domain/budget.js';

/** A budget with the name of its scope. Tokens are bigints as text. */
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
  /** The length of recurring periods; NULL: the budget ends with its period. */
  every: Every | null;
  time_zone: string | null;
  /** The tokens of each later period. */
  renewed_allocation: string | null;
  policy: BudgetPolicy;
  is_active: boolean;
  version: number;
  created_at: Date;
  updated_at: Date;
}

/** The columns of `BudgetRow`, from `usage_budgets b`. Primary keys lead to the names. */
export const BUDGET_COLUMNS = `b.id, b.scope, b.scope_id, CASE b.scope
    WHEN 'project' THEN (SELECT p.name FROM projects p
      WHERE p.workspace_id = b.workspace_id AND p.id = b.project_id)
    WHEN 'milestone' THEN (SELECT m.name FROM milestones m
      WHERE m.workspace_id = b.workspace_id AND m.id = b.milestone_id)
    WHEN 'task' THEN (SELECT t.title FROM agent_tasks t
      WHERE t.workspace_id = b.workspace_id AND t.id = b.task_id)
  END AS scope_name, b.allocated, b.reserved, b.consumed, b.remaining, b.available, b.period_start,
  b.period_end, b.every, b.time_zone, b.renewed_allocation, b.policy, ${isActiveBudget('b')} AS is_active, b.version, b.created_at,
  b.updated_at`;

/** Reads one budget. Index: primary key. $1 workspace, $2 budget. */
export const findBudget = query<BudgetRow>(
  'find_budget',
  `SELECT ${BUDGET_COLUMNS} FROM usage_budgets b WHERE b.workspace_id = $1 AND b.id = $2`,
);
