import { command, query } from '#lib/database';
import { FACTOR_BOUNDS, MAX_ESTIMATE, TOKENS_WITH_OVERHEADS } from '../domain/estimates.js';

/** A kind needs the least number of completed tasks, and learns from the latest ones. */
const SAMPLES = { most: 50, least: 5 } as const;
const DAYS = 90;
/** The number of a type's latest tasks that are read, in all projects. */
const TASKS_OF_TYPE = 500;
/** The number of a command's latest tasks that are read, in all projects. */
const TASKS_OF_COMMAND = 100;
/** The number of a workspace's types that are read, and of its commands. */
const KINDS = 1_000;

const COMPLETED = `t.workspace_id = $1 AND t.completed_at > now() - interval '${DAYS} days'`;

/** SQL: the next value of an indexed column of completed tasks, for a condition. */
const nextOf = (column: string, condition: string) => `(SELECT t.${column} FROM agent_tasks t
    WHERE ${COMPLETED} AND t.${column} ${condition} ORDER BY t.${column} LIMIT 1)`;

/**
 * SQL: the recursive part of WITH that reads each value once, from a start on and then from the
 * first one. UNION ends it when it returns to the start.
 */
const valuesOf = (name: string, column: string, start: string) => `${name} AS (
  SELECT coalesce(${nextOf(column, `>= (SELECT ${start})`)},
    ${nextOf(column, 'IS NOT NULL')}) AS ${column}
  UNION
  SELECT coalesce(${nextOf(column, `> ${name}.${column}`)},
    ${nextOf(column, 'IS NOT NULL')}) FROM ${name}
)`;

/** SQL: the latest completed tasks of each value. */
const latestOf = (name: string, column: string, count: number) => `SELECT t.*
  FROM (SELECT ${column} FROM ${name} LIMIT ${KINDS}) ${name}
  CROSS JOIN LATERAL (
    SELECT t.workspace_id, t.id, t.project_id, t.task_type, t.command_kind, t.completed_at,
      t.estimated_complexity
    FROM agent_tasks t
    WHERE ${COMPLETED} AND t.${column} = ${name}.${column}
    ORDER BY t.completed_at DESC LIMIT ${count}) t`;

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
 * Kinds with too few tasks keep their calibration. If a workspace has more commands than are read,
 * each calibration begins at another one.
 *
 * It runs as the service role. Indexes: agent_tasks_history_idx (once a type, 500 entries),
 * agent_tasks_command_history_idx (once a command, 100 entries), task_runs_task_idx. Measured with
 * 100,000 tasks of 2,500 commands, of which 1,000 are read: 1.1 s. $1 workspace.
 */
export const calibrate = command<never>(
  'calibrate',
  `
WITH RECURSIVE ${valuesOf('type', 'task_type', `''`)},
${valuesOf('command', 'command_kind', `'command ' || md5(random()::text)`)},
used AS MATERIALIZED (
  SELECT t.project_id, coalesce(t.command_kind, t.task_type) AS task_type, t.completed_at, u.used,
    u.used / (t.estimated_complexity * ${TOKENS_WITH_OVERHEADS}::float8) AS ratio
  FROM (
    ${latestOf('type', 'task_type', TASKS_OF_TYPE)}
    WHERE t.command_kind IS NULL
    UNION ALL
    ${latestOf('command', 'command_kind', TASKS_OF_COMMAND)}) t
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
