import { command, query } from '#lib/database';
import { isLiveRun } from '#lib/transitions';
import type { Recommendation } from '../domain/projection.js';

/*
 * How many runs a workspace or a project may have at once while its budget would not last. While there is no throttle,
 * each of these conditions is one look at the primary key of an empty table: the runs are counted for a row alone.
 */

/** SQL: live runs of a whole workspace. */
const runsOfWorkspace = (workspace: string): string =>
  `(SELECT coalesce(sum(a.live_runs), 0) FROM agents a WHERE a.workspace_id = ${workspace})`;

/** SQL: live runs of a project. Index: task_runs_live_agent_idx. */
const runsOfProject = (workspace: string, project: string): string =>
  `(SELECT count(*) FROM task_runs lr JOIN agent_tasks lt ON lt.workspace_id = lr.workspace_id AND lt.id = lr.task_id
        WHERE lr.workspace_id = ${workspace} AND ${isLiveRun('lr')} AND lt.project_id = ${project})`;

/** SQL: how many more runs may go on at once under a throttle `h`. */
export function runsLeft(h: string): string {
  return `(${h}.max_runs - CASE WHEN ${h}.project_id IS NULL THEN ${runsOfWorkspace(`${h}.workspace_id`)}
      ELSE ${runsOfProject(`${h}.workspace_id`, `${h}.project_id`)} END)`;
}

/**
 * SQL: a workspace is throttled, and has as many live runs as it may. Indexes: primary keys.
 *
 * @param workspace an SQL expression
 */
export function isThrottled(workspace: string): string {
  return `EXISTS (SELECT FROM workspace_throttles h
      WHERE h.workspace_id = ${workspace} AND h.scope_id = ${workspace} AND h.max_runs <= ${runsOfWorkspace(workspace)})`;
}

/** The projects of a workspace that are throttled, and have as many live runs as they may: a uuid[]. */
export function throttledProjects(workspace: string): string {
  return `ARRAY(SELECT h.project_id FROM workspace_throttles h
      WHERE h.workspace_id = ${workspace} AND h.project_id IS NOT NULL
        AND h.max_runs <= ${runsOfProject(workspace, 'h.project_id')})`;
}

/** SQL: some project of a workspace is throttled. */
export function hasThrottledProjects(workspace: string): string {
  return `EXISTS (SELECT FROM workspace_throttles h WHERE h.workspace_id = ${workspace} AND h.project_id IS NOT NULL)`;
}

/**
 * SQL: the project of a task is none of those that are throttled. Of the column itself Postgres knows how often each
 * project occurs, and would take a queue of one project for a throttled one; of an expression it knows nothing.
 */
export function isInNoThrottledProject(t: string, workspace: string): string {
  return `coalesce(${t}.project_id, ${t}.workspace_id) <> ALL (${throttledProjects(workspace)})`;
}

/** A throttle that holds, as `explain` tells it. */
export interface Throttle {
  projectId: string | null;
  budgetId: string;
  maxRuns: number;
  since: Date;
}

/** Those of a workspace and of one of its projects. Index: primary key. $1 workspace, $2 project or NULL. */
export const throttlesOf = query<Throttle>(
  'throttles_of',
  `
SELECT h.project_id AS "projectId", h.budget_id AS "budgetId", h.max_runs AS "maxRuns", h.since
FROM workspace_throttles h
WHERE h.workspace_id = $1 AND h.scope_id IN ($1, $2)
ORDER BY h.project_id NULLS FIRST`,
);

/** A throttle as it shall be. */
export interface WantedThrottle {
  workspace_id: string;
  project_id: string | null;
  budget_id: string;
  max_runs: number;
  reason: Recommendation;
}

export interface ChangedThrottle {
  workspace_id: string;
  project_id: string | null;
  budget_id: string;
  /** NULL: it is over. */
  max_runs: number | null;
  /** NULL: it is new. */
  before: number | null;
}

/**
 * Makes these the throttles that hold, and ends all others. Rows that say the same stay as they are.
 *
 * As the service role, in a fenced transaction: one writes at a time. Index: primary key, and the table is read whole: it
 * has few rows. $1 workspace or NULL for all, $2 JSON array of WantedThrottle.
 */
export const writeThrottles = command<ChangedThrottle>(
  'write_throttles',
  `
WITH wanted AS MATERIALIZED (
  SELECT w.*, coalesce(w.project_id, w.workspace_id) AS scope_id FROM jsonb_to_recordset($2::jsonb) AS w
    (workspace_id uuid, project_id uuid, budget_id uuid, max_runs int, reason text)
),
ended AS (
  DELETE FROM workspace_throttles h
  WHERE ($1::uuid IS NULL OR h.workspace_id = $1)
    AND NOT EXISTS (SELECT FROM wanted w WHERE w.workspace_id = h.workspace_id AND w.scope_id = h.scope_id)
  RETURNING h.workspace_id, h.project_id, h.budget_id, NULL::int AS max_runs, h.max_runs AS before
),
written AS (
  INSERT INTO workspace_throttles AS h (workspace_id, project_id, budget_id, max_runs, reason)
  SELECT workspace_id, project_id, budget_id, max_runs, reason FROM wanted
  ON CONFLICT (workspace_id, scope_id) DO UPDATE
  SET budget_id = excluded.budget_id, max_runs = excluded.max_runs, reason = excluded.reason
  WHERE (h.budget_id, h.max_runs, h.reason) IS DISTINCT FROM (excluded.budget_id, excluded.max_runs, excluded.reason)
  RETURNING h.workspace_id, h.project_id, h.budget_id, h.max_runs, old.max_runs AS before
)
SELECT * FROM ended UNION ALL SELECT * FROM written`,
);
