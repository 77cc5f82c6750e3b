/** SQL that creates the rows that hold back the tasks of the workspace $1. */

export const THROTTLE = `
WITH budget AS (INSERT INTO usage_budgets (workspace_id, id, allocated, period_start, period_end)
  VALUES ($1, uuidv7(), 1000000, now(), now() + interval '1 day') RETURNING workspace_id, id),
busy AS (UPDATE agents SET live_runs = 1, max_concurrent_tasks = 2 WHERE workspace_id = $1)
INSERT INTO workspace_throttles (workspace_id, budget_id, max_runs, reason) SELECT *, 1, 'THROTTLE' FROM budget`;

export const USED_BUDGET = `
INSERT INTO usage_budgets (workspace_id, id, allocated, period_start, period_end)
VALUES ($1, uuidv7(), 1, now(), now() + interval '1 day')`;

/** Models that routing assigns to tasks. */
export const REFUSED_MODELS = `
WITH routing AS (INSERT INTO model_routing (workspace_id, enabled) VALUES ($1, true))
INSERT INTO provider_limits (workspace_id, id, provider, covers, kind, until, over_at, run_id, agent_id)
SELECT $1, uuidv7(), 'anthropic', '^claude-', 'quota_exhausted', u, u, uuidv7(), uuidv7()
FROM (SELECT now() + interval '1 hour') AS t (u)`;
