import { query } from '#lib/database';
import { endedWell } from '#lib/transitions';
import { ENDED_IN_TIME, failedUse, IN_TIME, USE } from './completed-tasks.sql.js';

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
  /** The completed tasks. */
  tasks: number;
  /** The tasks that ended without success. */
  failed_tasks: number;
  runs: number;
  used_tokens: string;
  cost_usd: string;
  /** The use that brought no success. */
  failed_tokens: string;
  failed_cost_usd: string;
  /** Divided by completed tasks. */
  tokens_per_outcome: string | null;
  cost_per_outcome: string | null;
  /** The use of a completed task: its 10 %, 50 % and 90 % quantiles. */
  token_quantiles: string[] | null;
  cost_quantiles: string[] | null;
}

/** SQL: the sums of `u` as the columns of `CostRow`. */
const SUMS = `coalesce(u.runs, 0)::int AS runs, coalesce(u.tokens, 0)::text AS used_tokens,
  trim_scale(coalesce(u.cost, 0))::text AS cost_usd,
  coalesce(u.failed_tokens, 0)::text AS failed_tokens,
  trim_scale(coalesce(u.failed_cost, 0))::text AS failed_cost_usd`;

const QUANTILES = `ARRAY[0.1, 0.5, 0.9]`;

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
  p.name AS project_name, 1 AS tasks, 0 AS failed_tasks, ${SUMS},
  coalesce(u.tokens, 0)::text AS tokens_per_outcome,
  trim_scale(coalesce(u.cost, 0))::text AS cost_per_outcome,
  NULL::text[] AS token_quantiles, NULL::text[] AS cost_quantiles
FROM page JOIN agent_tasks t ON t.workspace_id = page.workspace_id AND t.id = page.id
LEFT JOIN projects p ON p.workspace_id = t.workspace_id AND p.id = t.project_id
CROSS JOIN LATERAL (
  SELECT ${USE}, ${failedUse('true')}
  FROM task_runs r WHERE r.workspace_id = t.workspace_id AND r.task_id = t.id) u
ORDER BY page.completed_at DESC, page.id DESC`,
);

const NO_PROJECT = `'00000000-0000-0000-0000-000000000000'::uuid`;

/**
 * Lists the costs of projects by id, with the tasks without a project first. All runs of the tasks
 * that ended count, also of those that failed: they are the price of the completed ones.
 * $4 maximum number of rows, $5 project id of the last row of the previous page, or NULL.
 */
export const costsOfProjects = query<CostRow>(
  'costs_of_projects',
  `
WITH chosen AS MATERIALIZED (
  SELECT t.id, coalesce(t.project_id, ${NO_PROJECT}) AS place, ${endedWell('t')} AS completed
  FROM agent_tasks t
  WHERE ${ENDED_IN_TIME} AND ($5::uuid IS NULL OR t.project_id > $5)
),
page AS MATERIALIZED (
  SELECT DISTINCT place FROM chosen ORDER BY place LIMIT $4
),
used AS MATERIALIZED (
  SELECT c.place, c.completed, ${USE}, ${failedUse('c.completed')}
  FROM page JOIN chosen c ON c.place = page.place
  LEFT JOIN task_runs r ON r.workspace_id = $1 AND r.task_id = c.id
  GROUP BY c.id, c.place, c.completed
),
summed AS (
  SELECT place, count(*) FILTER (WHERE completed)::int AS tasks,
    count(*) FILTER (WHERE NOT completed)::int AS failed_tasks, sum(runs) AS runs,
    sum(tokens) AS tokens, sum(cost) AS cost, sum(failed_tokens) AS failed_tokens,
    sum(failed_cost) AS failed_cost,
    percentile_disc(${QUANTILES}) WITHIN GROUP (ORDER BY coalesce(tokens, 0))
      FILTER (WHERE completed) AS token_quantiles,
    percentile_disc(${QUANTILES}) WITHIN GROUP (ORDER BY coalesce(cost, 0))
      FILTER (WHERE completed) AS cost_quantiles
  FROM used GROUP BY place
)
SELECT NULL AS task_id, NULL AS title, NULL AS task_type, NULL::timestamptz AS completed_at,
  NULL AS completed_us, nullif(u.place, ${NO_PROJECT}) AS project_id, p.name AS project_name,
  u.tasks, u.failed_tasks, ${SUMS},
  round(coalesce(u.tokens, 0) / nullif(u.tasks, 0))::text AS tokens_per_outcome,
  trim_scale(round(coalesce(u.cost, 0) / nullif(u.tasks, 0), 12))::text AS cost_per_outcome,
  u.token_quantiles::text[], ARRAY(SELECT trim_scale(q)::text
    FROM unnest(u.cost_quantiles) WITH ORDINALITY AS c (q, n) ORDER BY n) AS cost_quantiles
FROM summed u
LEFT JOIN projects p ON p.workspace_id = $1 AND p.id = u.place
ORDER BY u.place`,
);
