import { query } from '#lib/database';
import { isActiveBudget } from '#lib/transitions';
import { BURNING_COLUMNS, type BurningBudget, HOURS, IN_HOUR } from '../store/burn.js';

/**
 * Reads the active budgets of workspaces and projects, as the service role. The usage of a
 * workspace is read once, however many budgets it has.
 *
 * Indexes: usage_budgets is read whole, agent_usage_logs_time_idx once for each workspace.
 * $1 workspace, or NULL for all.
 */
export const burnOfWideBudgets = query<BurningBudget>(
  'burn_of_wide_budgets',
  `
WITH budget AS MATERIALIZED (
  SELECT ${BURNING_COLUMNS}
  FROM usage_budgets b JOIN workspaces w ON w.id = b.workspace_id AND w.archived_at IS NULL
  WHERE b.milestone_id IS NULL AND b.task_id IS NULL AND ${isActiveBudget('b')}
    AND ($1::uuid IS NULL OR b.workspace_id = $1)
),
used AS MATERIALIZED (
  SELECT w.workspace_id, h.ago, u.*
  FROM (SELECT DISTINCT workspace_id FROM budget) w CROSS JOIN ${HOURS}
  CROSS JOIN LATERAL (
    SELECT l.project_id, sum(l.total_tokens) AS tokens FROM agent_usage_logs l
    WHERE l.workspace_id = w.workspace_id AND ${IN_HOUR}
    GROUP BY 1) u
)
SELECT b.*, (
  SELECT coalesce(jsonb_object_agg(u.ago, u.tokens::text), '{}') FROM (
    SELECT u.ago, sum(u.tokens) AS tokens FROM used u
    WHERE u.workspace_id = b.workspace_id
      AND (b.project_id IS NULL OR u.project_id = b.project_id)
    GROUP BY 1) u) AS hourly
FROM budget b`,
);

/**
 * Reads the tokens of the last day, and the hours that their runs lasted in it, as the service
 * role.
 *
 * Indexes: agent_usage_logs_time_idx, task_runs (primary key). $1 workspace, $2 project or NULL
 * for all.
 */
export const runHours = query<{ tokens: string; run_hours: number }>(
  'run_hours',
  `
SELECT coalesce(sum(u.tokens), 0)::text AS tokens,
  coalesce(sum(greatest(0, extract(epoch FROM least(coalesce(r.ended_at, now()), now())
    - greatest(r.assigned_at, now() - interval '1 day')))), 0)::float8 / 3600 AS run_hours
FROM (
  SELECT l.run_id, sum(l.total_tokens) AS tokens FROM agent_usage_logs l
  WHERE l.workspace_id = $1 AND l.logged_at > now() - interval '1 day' AND l.logged_at <= now()
    AND ($2::uuid IS NULL OR l.project_id = $2)
  GROUP BY 1) u
JOIN task_runs r ON r.workspace_id = $1 AND r.id = u.run_id`,
);
