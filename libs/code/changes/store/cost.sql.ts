/** What a change has used. Tokens and USD are decimals as text. */
export interface CostRow {
  runs: number;
  tokens: string;
  cost_usd: string;
  work_seconds: number;
  review_seconds: number;
  review_rounds: number;
}

/** SQL: a verdict of a person or of an agent. */
const IS_VERDICT = `v.kind = 'review' AND v.verdict IN ('approved', 'changes_requested')`;

/**
 * SQL: joins the use of the change `c` as `u`, and its reviews as `w`. Tokens and USD include the
 * agents that reviewed it. A round of review lasts from the green proof of a submission to the last
 * verdict on it. Indexes: task_runs_task_idx, change_reviews_change_idx, for each change.
 */
export const COST_JOINS = `CROSS JOIN LATERAL (
  SELECT count(*) FILTER (WHERE r.task_id = c.task_id)::int AS runs,
    coalesce(sum(r.used_tokens), 0) AS tokens, coalesce(sum(r.used_cost_usd), 0) AS cost,
    coalesce(sum(extract(epoch FROM coalesce(r.ended_at, now()) - r.started_at))
      FILTER (WHERE r.task_id = c.task_id), 0)::int AS work_seconds
  FROM task_runs r
  WHERE r.workspace_id = c.workspace_id AND r.task_id = ANY (c.review_task_ids || c.task_id)) u
CROSS JOIN LATERAL (
  SELECT count(*)::int AS review_rounds, coalesce(sum(round.seconds), 0)::int AS review_seconds
  FROM (
    SELECT extract(epoch FROM max(v.created_at) FILTER (WHERE ${IS_VERDICT})
      - min(v.created_at) FILTER (WHERE v.verdict = 'green')) AS seconds
    FROM change_reviews v WHERE v.workspace_id = c.workspace_id AND v.task_id = c.task_id
    GROUP BY v.revision HAVING bool_or(${IS_VERDICT})) round) w`;

/** SQL: the columns of CostRow, from the joins. */
export const COST_COLUMNS = `u.runs, u.tokens::text AS tokens, trim_scale(u.cost)::text AS cost_usd,
  u.work_seconds, w.review_seconds, w.review_rounds`;

/**
 * SQL: the model with which the change `c` of the task `t` was made: the reported one with the most
 * tokens, else the chosen one. NULL if nobody named one. Indexes: agent_usage_logs_task_idx,
 * primary key of task_runs.
 */
export const MODEL_OF_CHANGE = `coalesce(
    (SELECT l.model FROM agent_usage_logs l
      WHERE l.workspace_id = c.workspace_id AND l.task_id = c.task_id
      GROUP BY l.model ORDER BY sum(l.total_tokens) DESC, l.model LIMIT 1),
    (SELECT r.model FROM task_runs r WHERE r.workspace_id = c.workspace_id AND r.id = c.run_id),
    t.agent ->> 'model')`;
