import { query } from '#lib/database';
import { IN_TIME, USE } from './completed-tasks.js';

/** The cost of a completed task, or of a project. */
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

/**
 * Lists the costs of tasks, the latest first. $4 maximum number of rows, $5 and $6 microseconds and
 * id of the last task of the previous page, or NULL.
 */
export const costsOfTasks = query<CostRow>(
  'costs_of_tasks',
  `
WITH page AS MATERIALIZED (
  SELECT t.workspace_id, t.id, t.completed_at FROM agent_tasks t
  WHERE ${IN_TIME}
    AND ($5::bigint IS NULL OR (t.completed_at, t.id)
      < ('epoch'::timestamptz + $5::bigint * interval '1 microsecond', $6::uuid))
  ORDER BY t.completed_at DESC, t.id DESC
  LIMIT $4
)
SELECT t.id AS task_id, t.title, t.task_type, t.completed_at,
  (extract(epoch FROM t.completed_at) * 1000000)::bigint::text AS completed_us, t.project_id,
  p.name AS project_name, 1 AS tasks, u.runs, coalesce(u.tokens, 0)::text AS used_tokens,
  trim_scale(coalesce(u.cost, 0))::text AS cost_usd
FROM page JOIN agent_tasks t ON t.workspace_id = page.workspace_id AND t.id = page.id
LEFT JOIN projects p ON p.workspace_id = t.workspace_id AND p.id = t.project_id
CROSS JOIN LATERAL (
  SELECT ${USE} FROM task_runs r WHERE r.workspace_id = t.workspace_id AND r.task_id = t.id) u
ORDER BY page.completed_at DESC, page.id DESC`,
);

const NO_PROJECT = `'00000000-0000-0000-0000-000000000000'::uuid`;

/**
 * Lists the costs of projects by id, with the tasks without a project first. $4 maximum number of
 * rows, $5 project id of the last row of the previous page, or NULL.
 */
export const costsOfProjects = query<CostRow>(
  'costs_of_projects',
  `
WITH chosen AS MATERIALIZED (
  SELECT t.id, t.project_id FROM agent_tasks t
  WHERE ${IN_TIME} AND ($5::uuid IS NULL OR t.project_id > $5)
),
page AS (
  SELECT project_id, coalesce(project_id, ${NO_PROJECT}) AS place, count(*)::int AS tasks
  FROM chosen GROUP BY project_id ORDER BY place LIMIT $4
),
used AS (
  SELECT coalesce(c.project_id, ${NO_PROJECT}) AS place, ${USE}
  FROM chosen c JOIN task_runs r ON r.workspace_id = $1 AND r.task_id = c.id
  GROUP BY 1
)
SELECT NULL AS task_id, NULL AS title, NULL AS task_type, NULL::timestamptz AS completed_at,
  NULL AS completed_us, page.project_id, p.name AS project_name, page.tasks,
  coalesce(u.runs, 0) AS runs, coalesce(u.tokens, 0)::text AS used_tokens,
  trim_scale(coalesce(u.cost, 0))::text AS cost_usd
FROM page LEFT JOIN used u ON u.place = page.place
LEFT JOIN projects p ON p.workspace_id = $1 AND p.id = page.project_id
ORDER BY page.place`,
);
