import { isOver } from '#lib/transitions';

/*
 * The statements that read the usage of completed tasks begin with $1 workspace, and with $2 and
 * $3, the bounds of the time of completion. Indexes: agent_tasks_history_idx (from type to type),
 * task_runs_task_idx. For many tasks the tables are read whole.
 */

/** SQL: the task `t` completed within the bounds. */
export const IN_TIME = `t.workspace_id = $1 AND t.completed_at >= $2 AND t.completed_at < $3`;

/**
 * SQL: the task `t` ended within the bounds, with success or without. Tried: one comparison of
 * coalesce(completed_at, failed_at, aborted_at). The planner then expects few tasks, and looks up
 * the runs of each.
 */
export const ENDED_IN_TIME = `t.workspace_id = $1 AND ${isOver('t')}
    AND (t.completed_at >= $2 AND t.completed_at < $3 OR t.completed_at IS NULL
      AND coalesce(t.failed_at, t.aborted_at) >= $2 AND coalesce(t.failed_at, t.aborted_at) < $3)`;

/** SQL: the number of the runs `r`, and their sums. */
export const USE = `count(r.id)::int AS runs, sum(r.used_tokens) AS tokens,
    sum(r.used_cost_usd) AS cost`;

/**
 * SQL: the sums of the runs `r` that brought no success.
 *
 * @param completed an SQL expression: the task has completed
 */
export function failedUse(completed: string): string {
  const failed = `FILTER (WHERE r.state = 'FAILED' OR NOT ${completed})`;
  return `sum(r.used_tokens) ${failed} AS failed_tokens,
    sum(r.used_cost_usd) ${failed} AS failed_cost`;
}
