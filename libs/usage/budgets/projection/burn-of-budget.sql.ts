import { query } from '#lib/database';
import { BURNING_COLUMNS, type BurningBudget, HOURS, IN_HOUR } from '../store/burn.js';

/** SQL: the log `l` counts for the budget `b`. */
const IN_SCOPE = `(b.project_id IS NULL OR l.project_id = b.project_id)
      AND (b.milestone_id IS NULL OR l.milestone_id = b.milestone_id)
      AND (b.task_id IS NULL OR l.task_id = b.task_id)`;

/** A budget with the throttle that it caused, if one applies. */
export interface ProjectedBudget extends BurningBudget {
  max_runs: number | null;
  throttled_since: Date | null;
}

/**
 * Reads one budget, with the usage of its scope in each of the last 48 hours. Older usage counts
 * only in `consumed`.
 *
 * Indexes: primary keys, agent_usage_logs_time_idx. $1 workspace, $2 budget.
 */
export const burnOfBudget = query<ProjectedBudget>(
  'burn_of_budget',
  `
SELECT ${BURNING_COLUMNS}, h.max_runs, h.since AS throttled_since, (
  SELECT coalesce(jsonb_object_agg(h.ago, u.tokens::text), '{}') FROM ${HOURS} CROSS JOIN LATERAL (
    SELECT sum(l.total_tokens) AS tokens FROM agent_usage_logs l
    WHERE l.workspace_id = b.workspace_id AND ${IN_HOUR}
      AND ${IN_SCOPE}) u
  WHERE u.tokens > 0) AS hourly
FROM usage_budgets b
LEFT JOIN workspace_throttles h
  ON h.workspace_id = b.workspace_id AND h.scope_id = b.scope_id AND h.budget_id = b.id
WHERE b.workspace_id = $1 AND b.id = $2`,
);
