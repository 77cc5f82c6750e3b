import { query } from '#lib/database';
import type { Burn } from '../domain/burn.js';
import { HOURS_WEIGHTED } from '../domain/projection.js';

/** A budget, with what was used in its scope in the last hours, before its period too. */
export interface BurningBudget extends Burn {
  workspace_id: string;
  id: string;
  project_id: string | null;
}

const BUDGET = `b.workspace_id, b.id, b.project_id, now() AS now, b.period_start, b.period_end, b.consumed, b.remaining,
  b.available`;
/** The hours that are counted, back from now: each is a range of the index, so that nothing is sorted. */
const HOURS = `generate_series(0, ${HOURS_WEIGHTED - 1}) AS h (ago)`;
const IN_HOUR = `l.logged_at > now() - (h.ago + 1) * interval '1 hour' AND l.logged_at <= now() - h.ago * interval '1 hour'`;

/** Whether the log `l` counts for the budget `b`. */
const IN_SCOPE = `(b.project_id IS NULL OR l.project_id = b.project_id)
      AND (b.milestone_id IS NULL OR l.milestone_id = b.milestone_id) AND (b.task_id IS NULL OR l.task_id = b.task_id)`;

/** Also of the throttle that the budget has brought about, if one holds. */
export interface ProjectedBudget extends BurningBudget {
  max_runs: number | null;
  throttled_since: Date | null;
}

/**
 * One budget. What was used before the last ${HOURS_WEIGHTED} hours stands in its row.
 * Indexes: primary keys, agent_usage_logs_time_idx. $1 workspace, $2 budget.
 */
export const burnOfBudget = query<ProjectedBudget>(
  'burn_of_budget',
  `
SELECT ${BUDGET}, h.max_runs, h.since AS throttled_since, (
  SELECT coalesce(jsonb_object_agg(h.ago, u.tokens::text), '{}') FROM ${HOURS} CROSS JOIN LATERAL (
    SELECT sum(l.total_tokens) AS tokens FROM agent_usage_logs l
    WHERE l.workspace_id = b.workspace_id AND ${IN_HOUR}
      AND ${IN_SCOPE}) u
  WHERE u.tokens > 0) AS hourly
FROM usage_budgets b
LEFT JOIN workspace_throttles h ON h.workspace_id = b.workspace_id AND h.scope_id = b.scope_id AND h.budget_id = b.id
WHERE b.workspace_id = $1 AND b.id = $2`,
);

/**
 * The budgets of workspaces and projects that hold now, of all workspaces, for the service role. The usage of a workspace
 * is read once, however many budgets it has.
 *
 * Indexes: usage_budgets is read whole, agent_usage_logs_time_idx once a workspace. $1 workspace, or NULL for all.
 */
export const burnOfWideBudgets = query<BurningBudget>(
  'burn_of_wide_budgets',
  `
WITH budget AS MATERIALIZED (
  SELECT ${BUDGET} FROM usage_budgets b JOIN workspaces w ON w.id = b.workspace_id AND w.archived_at IS NULL
  WHERE b.milestone_id IS NULL AND b.task_id IS NULL AND b.period_start <= now() AND b.period_end > now()
    AND ($1::uuid IS NULL OR b.workspace_id = $1)
),
used AS MATERIALIZED (
  SELECT w.workspace_id, h.ago, u.* FROM (SELECT DISTINCT workspace_id FROM budget) w CROSS JOIN ${HOURS}
  CROSS JOIN LATERAL (
    SELECT l.project_id, sum(l.total_tokens) AS tokens FROM agent_usage_logs l
    WHERE l.workspace_id = w.workspace_id AND ${IN_HOUR}
    GROUP BY 1) u
)
SELECT b.*, (
  SELECT coalesce(jsonb_object_agg(u.ago, u.tokens::text), '{}') FROM (
    SELECT u.ago, sum(u.tokens) AS tokens FROM used u
    WHERE u.workspace_id = b.workspace_id AND (b.project_id IS NULL OR u.project_id = b.project_id)
    GROUP BY 1) u) AS hourly
FROM budget b`,
);

/**
 * The runs that used something in the last day, by the hours that they lasted in it. As the service role.
 *
 * Indexes: agent_usage_logs_time_idx, task_runs (primary key). $1 workspace, $2 project or NULL for all.
 */
export const runHours = query<{ tokens: string; run_hours: number }>(
  'run_hours',
  `
SELECT coalesce(sum(u.tokens), 0)::text AS tokens, coalesce(sum(greatest(0, extract(epoch FROM
  least(coalesce(r.ended_at, now()), now()) - greatest(r.assigned_at, now() - interval '1 day')))), 0)::float8 / 3600 AS run_hours
FROM (
  SELECT l.run_id, sum(l.total_tokens) AS tokens FROM agent_usage_logs l
  WHERE l.workspace_id = $1 AND l.logged_at > now() - interval '1 day' AND l.logged_at <= now()
    AND ($2::uuid IS NULL OR l.project_id = $2)
  GROUP BY 1) u
JOIN task_runs r ON r.workspace_id = $1 AND r.id = u.run_id`,
);
