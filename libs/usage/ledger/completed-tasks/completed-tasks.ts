/*
 * The statements that read the usage of completed tasks begin with $1 workspace, and with $2 and
 * $3, the bounds of the time of completion. Indexes: agent_tasks_history_idx (from type to type),
 * task_runs_task_idx. For many tasks the tables are read whole.
 */

/** SQL: the task `t` completed within the bounds. */
export const IN_TIME = `t.workspace_id = $1 AND t.completed_at >= $2 AND t.completed_at < $3`;

/** SQL: the number of the runs `r`, and their sums. */
export const USE = `count(*)::int AS runs, sum(r.used_tokens) AS tokens,
    sum(r.used_cost_usd) AS cost`;
