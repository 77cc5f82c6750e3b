import { query } from '#lib/database';
import { IN_TIME, USE } from './completed-tasks.sql.js';

/** The figures of a kind of tasks. The total has neither type nor project. Bigints are text. */
export interface EstimateReportRow {
  is_total: boolean;
  task_type: string;
  project_id: string | null;
  tasks: number;
  /** The number of tasks without a report. The other numbers leave these tasks out. */
  unreported: number;
  estimated_tokens: string;
  used_tokens: string;
  /** The median of used by estimated tokens. */
  median_ratio: number | null;
  within_20_percent: number | null;
}

/**
 * Compares estimates with usage: the total first, then the kinds with most tasks. A task that was
 * handed out under a budget counts with its estimate of that time. $4 maximum number of rows.
 */
export const reportEstimates = query<EstimateReportRow>(
  'report_estimates',
  `
WITH chosen AS MATERIALIZED (
  SELECT t.id, t.task_type, t.project_id, t.estimated_tokens, t.generation
  FROM agent_tasks t WHERE ${IN_TIME}
),
used AS (
  SELECT r.task_id, ${USE},
    max(r.estimated_tokens) FILTER (WHERE r.generation = c.generation) AS estimated
  FROM chosen c JOIN task_runs r ON r.workspace_id = $1 AND r.task_id = c.id
  GROUP BY r.task_id
),
task AS (
  SELECT c.task_type, c.project_id, coalesce(u.estimated, c.estimated_tokens) AS estimated,
    u.tokens, coalesce(u.tokens, 0) > 0 AS known
  FROM chosen c LEFT JOIN used u ON u.task_id = c.id
)
SELECT grouping(task_type) = 1 AS is_total, task_type, project_id, count(*)::int AS tasks,
  count(*) FILTER (WHERE NOT known)::int AS unreported,
  coalesce(sum(estimated) FILTER (WHERE known), 0)::text AS estimated_tokens,
  coalesce(sum(tokens) FILTER (WHERE known), 0)::text AS used_tokens,
  round((percentile_cont(0.5) WITHIN GROUP (ORDER BY (tokens / nullif(estimated, 0))::float8)
    FILTER (WHERE known))::numeric, 4)::float8 AS median_ratio,
  round(avg((abs(tokens - estimated) <= 0.2 * estimated)::int) FILTER (WHERE known), 4)::float8
    AS within_20_percent
FROM task
GROUP BY GROUPING SETS ((), (task_type, project_id))
ORDER BY is_total DESC, tasks DESC, task_type, project_id
LIMIT $4`,
);
