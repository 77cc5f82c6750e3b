import { query } from '#lib/database';

/**
 * What completed tasks used. Their indexes: agent_tasks_history_idx (from type to type), task_runs_task_idx; of many tasks
 * the tables are read. Each begins with $1 workspace, $2 and $3 the times between which the tasks have completed.
 */

const IN_TIME = `t.workspace_id = $1 AND t.completed_at >= $2 AND t.completed_at < $3`;

/** Of runs `r`: how many, and what they used. */
const USE = `count(*)::int AS runs, sum(r.used_tokens) AS tokens, sum(r.used_cost_usd) AS cost`;

/** A kind of tasks; the total has neither type nor project. */
export interface EstimateReportRow {
  is_total: boolean;
  task_type: string;
  project_id: string | null;
  tasks: number;
  /** Of which nothing was reported; they are in none of the other numbers. */
  unreported: number;
  /** Bigints as texts. */
  estimated_tokens: string;
  used_tokens: string;
  /** Used, in terms of the estimate. */
  median_ratio: number | null;
  within_20_percent: number | null;
}

/**
 * The total first, then the kinds with most tasks. A task that was handed out under a budget counts with the estimate that
 * it had then. $4 rows at most.
 */
export const reportEstimates = query<EstimateReportRow>(
  'report_estimates',
  `
WITH chosen AS MATERIALIZED (
  SELECT t.id, t.task_type, t.project_id, t.estimated_tokens, t.generation FROM agent_tasks t WHERE ${IN_TIME}
),
used AS (
  SELECT r.task_id, ${USE}, max(r.estimated_tokens) FILTER (WHERE r.generation = c.generation) AS estimated
  FROM chosen c JOIN task_runs r ON r.workspace_id = $1 AND r.task_id = c.id
  GROUP BY r.task_id
),
task AS (
  SELECT c.task_type, c.project_id, coalesce(u.estimated, c.estimated_tokens) AS estimated, u.tokens,
    coalesce(u.tokens, 0) > 0 AS known
  FROM chosen c LEFT JOIN used u ON u.task_id = c.id
)
SELECT grouping(task_type) = 1 AS is_total, task_type, project_id, count(*)::int AS tasks,
  count(*) FILTER (WHERE NOT known)::int AS unreported,
  coalesce(sum(estimated) FILTER (WHERE known), 0)::text AS estimated_tokens,
  coalesce(sum(tokens) FILTER (WHERE known), 0)::text AS used_tokens,
  round((percentile_cont(0.5) WITHIN GROUP (ORDER BY (tokens / nullif(estimated, 0))::float8)
    FILTER (WHERE known))::numeric, 4)::float8 AS median_ratio,
  round(avg((abs(tokens - estimated) <= 0.2 * estimated)::int) FILTER (WHERE known), 4)::float8 AS within_20_percent
FROM task
GROUP BY GROUPING SETS ((), (task_type, project_id))
ORDER BY is_total DESC, tasks DESC, task_type, project_id
LIMIT $4`,
);

export interface CostRow {
  task_id: string | null;
  title: string | null;
  task_type: string | null;
  completed_at: Date | null;
  /** Microseconds since 1970, as text. */
  completed_us: string | null;
  project_id: string | null;
  project_name: string | null;
  tasks: number;
  runs: number;
  used_tokens: string;
  cost_usd: string;
}

/** The latest first. $4 rows at most, $5 and $6 microseconds and id of the last task of the page before, or NULL. */
export const costsOfTasks = query<CostRow>(
  'costs_of_tasks',
  `
WITH page AS MATERIALIZED (
  SELECT t.workspace_id, t.id, t.completed_at FROM agent_tasks t
  WHERE ${IN_TIME}
    AND ($5::bigint IS NULL OR (t.completed_at, t.id) < ('epoch'::timestamptz + $5::bigint * interval '1 microsecond', $6::uuid))
  ORDER BY t.completed_at DESC, t.id DESC
  LIMIT $4
)
SELECT t.id AS task_id, t.title, t.task_type, t.completed_at,
  (extract(epoch FROM t.completed_at) * 1000000)::bigint::text AS completed_us, t.project_id, p.name AS project_name,
  1 AS tasks, u.runs, coalesce(u.tokens, 0)::text AS used_tokens, trim_scale(coalesce(u.cost, 0))::text AS cost_usd
FROM page JOIN agent_tasks t ON t.workspace_id = page.workspace_id AND t.id = page.id
LEFT JOIN projects p ON p.workspace_id = t.workspace_id AND p.id = t.project_id
CROSS JOIN LATERAL (
  SELECT ${USE} FROM task_runs r WHERE r.workspace_id = t.workspace_id AND r.task_id = t.id) u
ORDER BY page.completed_at DESC, page.id DESC`,
);

const NO_PROJECT = `'00000000-0000-0000-0000-000000000000'::uuid`;

/** By project id, tasks without one first. $4 rows at most, $5 project id of the last row of the page before, or NULL. */
export const costsOfProjects = query<CostRow>(
  'costs_of_projects',
  `
WITH chosen AS MATERIALIZED (
  SELECT t.id, t.project_id FROM agent_tasks t WHERE ${IN_TIME} AND ($5::uuid IS NULL OR t.project_id > $5)
),
page AS (
  SELECT project_id, coalesce(project_id, ${NO_PROJECT}) AS place, count(*)::int AS tasks FROM chosen
  GROUP BY project_id ORDER BY place LIMIT $4
),
used AS (
  SELECT coalesce(c.project_id, ${NO_PROJECT}) AS place, ${USE}
  FROM chosen c JOIN task_runs r ON r.workspace_id = $1 AND r.task_id = c.id
  GROUP BY 1
)
SELECT NULL AS task_id, NULL AS title, NULL AS task_type, NULL::timestamptz AS completed_at, NULL AS completed_us,
  page.project_id, p.name AS project_name, page.tasks, coalesce(u.runs, 0) AS runs,
  coalesce(u.tokens, 0)::text AS used_tokens, trim_scale(coalesce(u.cost, 0))::text AS cost_usd
FROM page LEFT JOIN used u ON u.place = page.place
LEFT JOIN projects p ON p.workspace_id = $1 AND p.id = page.project_id
ORDER BY page.place`,
);
