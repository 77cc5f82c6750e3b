import { isLiveRun } from '#lib/transitions';

/*
 * A throttle limits the live runs of a workspace or a project whose budget would not last. Without
 * a throttle, each of these conditions is one look at the primary key of an empty table: runs are
 * counted only for a row.
 */

/** SQL: the number of live runs of a workspace. */
const runsOfWorkspace = (workspace: string): string =>
  `(SELECT coalesce(sum(a.live_runs), 0) FROM agents a WHERE a.workspace_id = ${workspace})`;

/** SQL: the number of live runs of a project. Index: task_runs_live_agent_idx. */
const runsOfProject = (workspace: string, project: string): string =>
  `(SELECT count(*) FROM task_runs lr
        JOIN agent_tasks lt ON lt.workspace_id = lr.workspace_id AND lt.id = lr.task_id
        WHERE lr.workspace_id = ${workspace} AND ${isLiveRun('lr')}
          AND lt.project_id = ${project})`;

/** SQL: the number of runs that can still start under a throttle `h`. */
export function runsLeft(h: string): string {
  const [workspace, project] = [`${h}.workspace_id`, `${h}.project_id`];
  return `(${h}.max_runs - CASE WHEN ${project} IS NULL THEN ${runsOfWorkspace(workspace)}
      ELSE ${runsOfProject(workspace, project)} END)`;
}

/**
 * SQL: a workspace is throttled, and has its maximum of live runs. Indexes: primary keys.
 *
 * @param workspace an SQL expression
 */
export function isThrottled(workspace: string): string {
  return `EXISTS (SELECT FROM workspace_throttles h
      WHERE h.workspace_id = ${workspace} AND h.scope_id = ${workspace}
        AND h.max_runs <= ${runsOfWorkspace(workspace)})`;
}

/** SQL: a uuid[] of the throttled projects of a workspace that have their maximum of live runs. */
export function throttledProjects(workspace: string): string {
  return `ARRAY(SELECT h.project_id FROM workspace_throttles h
      WHERE h.workspace_id = ${workspace} AND h.project_id IS NOT NULL
        AND h.max_runs <= ${runsOfProject(workspace, 'h.project_id')})`;
}

/** SQL: some project of a workspace is throttled. */
export function hasThrottledProjects(workspace: string): string {
  return `EXISTS (SELECT FROM workspace_throttles h
      WHERE h.workspace_id = ${workspace} AND h.project_id IS NOT NULL)`;
}

/**
 * SQL: the project of a task is not throttled. The column is wrapped in an expression on purpose.
 * Postgres knows how often each project occurs in the column, and would take the queue of one
 * project for a throttled queue.
 */
export function isInNoThrottledProject(t: string, workspace: string): string {
  return `coalesce(${t}.project_id, ${t}.workspace_id) <> ALL (${throttledProjects(workspace)})`;
}
