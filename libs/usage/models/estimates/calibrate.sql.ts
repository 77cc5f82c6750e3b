import { command, query } from '#lib/database';
import { FACTOR_BOUNDS, MAX_ESTIMATE, TOKENS_WITH_OVERHEADS } from '../domain/estimates.js';

/** A kind needs the least number of completed tasks, and learns from the latest ones. */
const SAMPLES = { most: 50, least: 5 } as const;
const DAYS = 90;
/** The number of a type's latest tasks that are read, in all projects. */
const TASKS_OF_TYPE = 500;
/** The number of a workspace's types that are read. */
const TYPES = 1_000;

const COMPLETED = `t.workspace_id = $1 AND t.completed_at > now() - interval '${DAYS} days'`;

/**
 * SQL: the tokens that all runs of the task `t` used together, as `used`. The sum can exceed
 * bigint. Index: task_runs_task_idx.
 */
const USED = `SELECT sum(r.used_tokens) AS used FROM task_runs r
    WHERE r.workspace_id = t.workspace_id AND r.task_id = t.id`;

/**
 * Reads the workspaces in which a task completed in the last $1 seconds, as the service role.
 * Index: agent_tasks_history_idx, from type to type.
 */
export const workspacesWithCompletions = query<{ id: string }>(
  'workspaces_with_completions',
  `
SELECT w.id FROM workspaces w
WHERE w.archived_at IS NULL AND EXISTS (SELECT FROM agent_tasks t
  WHERE t.workspace_id = w.id AND t.completed_at > now() - make_interval(secs => $1::float8))`,
);

/**
 * Computes the calibrations of a workspace again, for each kind, and for each kind in each project:
 * the median of the tokens that the latest completed tasks used, and its ratio to the formula. The
 * kind of a task is its type, or its command (`commandKindOf`).
 * Kinds with too few tasks keep their calibration.
 *
 * It runs as the service role. Indexes: agent_tasks_history_idx (once a type, 500
 * entries), task_runs_task_idx. $1 workspace.
 */
export const calibrate = command<never>(
  'calibrate',
  `
WITH RECURSIVE type AS (
  (SELECT t.task_type FROM agent_tasks t WHERE ${COMPLETED} ORDER BY t.task_type LIMIT 1)
  UNION ALL
  SELECT next.task_type FROM type CROSS JOIN LATERAL (
    SELECT t.task_type FROM agent_tasks t WHERE ${COMPLETED} AND t.task_type > type.task_type
    ORDER BY t.task_type LIMIT 1) next
),
used AS MATERIALIZED (
  SELECT t.project_id, coalesce(t.command_kind, t.task_type) AS task_type, t.completed_at, u.used,
    u.used / (t.estimated_complexity * ${TOKENS_WITH_OVERHEADS}::float8) AS ratio
  FROM (SELECT task_type FROM type LIMIT ${TYPES}) type
  CROSS JOIN LATERAL (
    SELECT t.workspace_id, t.id, t.project_id, t.task_type, t.command_kind, t.completed_at,
      t.estimated_complexity
    FROM agent_tasks t
    WHERE ${COMPLETED} AND t.task_type = type.task_type
    ORDER BY t.completed_at DESC LIMIT ${TASKS_OF_TYPE}) t
  CROSS JOIN LATERAL (${USED}) u
  WHERE u.used > 0
),
sample AS (
  SELECT NULL::uuid AS project_id, task_type, used, ratio,
    row_number() OVER (PARTITION BY task_type ORDER BY completed_at DESC) AS number
  FROM used
  UNION ALL
  SELECT project_id, task_type, used, ratio,
    row_number() OVER (PARTITION BY project_id, task_type ORDER BY completed_at DESC)
  FROM used WHERE project_id IS NOT NULL
)
INSERT INTO estimate_calibrations AS c
  (workspace_id, project_id, task_type, factor, median_used, samples)
SELECT $1, project_id, task_type,
  CASE WHEN count(ratio) >= ${SAMPLES.least} THEN least(greatest(
    percentile_cont(0.5) WITHIN GROUP (ORDER BY ratio), ${FACTOR_BOUNDS.least}),
    ${FACTOR_BOUNDS.most}) END,
  least(ceil(percentile_cont(0.5) WITHIN GROUP (ORDER BY used)), ${MAX_ESTIMATE}), count(*)
FROM sample
WHERE number <= ${SAMPLES.most}
GROUP BY project_id, task_type
HAVING count(*) >= ${SAMPLES.least}
ON CONFLICT (workspace_id, scope_id, task_type) DO UPDATE
SET factor = excluded.factor, median_used = excluded.median_used, samples = excluded.samples,
  updated_at = now()`,
);
