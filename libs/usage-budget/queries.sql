-- The statements as they run. Made by `npm run sql`; change the modules that declare them.

-- apply_settlement
WITH run_charged AS (
  UPDATE task_runs r SET used_tokens = r.used_tokens + u.tokens, used_cost_usd = r.used_cost_usd + u.cost, held_tokens = u.held
  FROM jsonb_to_recordset($2::jsonb) AS u ("runId" uuid, tokens bigint, cost numeric, held bigint)
  WHERE r.workspace_id = $1 AND r.id = u."runId"
)
UPDATE usage_budgets b SET consumed = b.consumed + u.consumed, reserved = greatest(b.reserved + u.reserved, 0),
  updated_at = now()
FROM jsonb_to_recordset($3::jsonb) AS u (id uuid, consumed bigint, reserved bigint)
WHERE b.workspace_id = $1 AND b.id = u.id

-- change_budget
WITH changed AS (
  UPDATE usage_budgets b SET allocated = coalesce($3, b.allocated), period_start = coalesce($4, b.period_start),
    period_end = coalesce($5, b.period_end), policy = coalesce($6, b.policy), version = b.version + 1, updated_at = now(),
    consumed = CASE WHEN $4::timestamptz IS NULL AND $5::timestamptz IS NULL THEN b.consumed ELSE (
      SELECT used.tokens FROM (SELECT b.workspace_id, b.project_id, b.milestone_id, b.task_id,
        coalesce($4, b.period_start) AS period_start, coalesce($5, b.period_end) AS period_end) n
      CROSS JOIN LATERAL (SELECT (SELECT coalesce(sum(l.total_tokens), 0) FROM agent_usage_logs l
    WHERE l.workspace_id = n.workspace_id AND l.logged_at >= n.period_start AND l.logged_at < n.period_end
      AND (n.project_id IS NULL OR l.project_id = n.project_id)
      AND (n.milestone_id IS NULL OR l.milestone_id = n.milestone_id)
      AND (n.task_id IS NULL OR l.task_id = n.task_id)) AS tokens) used) END
  WHERE b.workspace_id = $1 AND b.id = $2 AND ($7::int IS NULL OR b.version = $7)
  RETURNING b.*
)
SELECT b.id, b.scope, b.scope_id, b.allocated, b.reserved, b.consumed, b.remaining, b.available, b.period_start,
  b.period_end, b.policy, (b.period_start <= now() AND b.period_end > now()) AS is_active, b.version, b.created_at, b.updated_at FROM changed b

-- close_ledger
SELECT pg_advisory_xact_lock(hashtextextended('usage of ' || $1::text, 0))

-- find_budget
SELECT b.id, b.scope, b.scope_id, b.allocated, b.reserved, b.consumed, b.remaining, b.available, b.period_start,
  b.period_end, b.policy, (b.period_start <= now() AND b.period_end > now()) AS is_active, b.version, b.created_at, b.updated_at FROM usage_budgets b WHERE b.workspace_id = $1 AND b.id = $2

-- insert_budget
INSERT INTO usage_budgets AS b (workspace_id, id, project_id, milestone_id, task_id, allocated, period_start, period_end,
  policy, consumed)
SELECT n.*, (SELECT coalesce(sum(l.total_tokens), 0) FROM agent_usage_logs l
    WHERE l.workspace_id = n.workspace_id AND l.logged_at >= n.period_start AND l.logged_at < n.period_end
      AND (n.project_id IS NULL OR l.project_id = n.project_id)
      AND (n.milestone_id IS NULL OR l.milestone_id = n.milestone_id)
      AND (n.task_id IS NULL OR l.task_id = n.task_id))
FROM (SELECT $1::uuid AS workspace_id, $2::uuid AS id, $3::uuid AS project_id, $4::uuid AS milestone_id, $5::uuid AS task_id,
  $6::bigint AS allocated, $7::timestamptz AS period_start, $8::timestamptz AS period_end, $9::text AS policy) n
RETURNING b.id, b.scope, b.scope_id, b.allocated, b.reserved, b.consumed, b.remaining, b.available, b.period_start,
  b.period_end, b.policy, (b.period_start <= now() AND b.period_end > now()) AS is_active, b.version, b.created_at, b.updated_at

-- insert_usage
INSERT INTO agent_usage_logs (workspace_id, run_id, id, task_id, agent_id, project_id, milestone_id, model, operation,
  input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost_usd, reported_cost_usd)
SELECT $1, u.run_id, u.id, u.task_id, u.agent_id, u.project_id, u.milestone_id, u.model, u.operation, u.input_tokens,
  u.output_tokens, u.cache_read_tokens, u.cache_write_tokens, u.cost_usd, u.reported_cost_usd
FROM jsonb_to_recordset($2::jsonb) AS u (run_id uuid, id text, task_id uuid, agent_id uuid, project_id uuid,
  milestone_id uuid, model text, operation text, input_tokens bigint, output_tokens bigint, cache_read_tokens bigint,
  cache_write_tokens bigint, cost_usd numeric, reported_cost_usd numeric)

-- known_usage_reports
SELECT l.run_id, l.id, l.model, l.operation, l.input_tokens, l.output_tokens, l.cache_read_tokens,
  l.cache_write_tokens, trim_scale(l.reported_cost_usd) AS reported_cost_usd
FROM unnest($2::uuid[], $3::text[]) AS k (run_id, id)
JOIN agent_usage_logs l ON l.workspace_id = $1 AND l.run_id = k.run_id AND l.id = k.id

-- list_budgets
SELECT b.id, b.scope, b.scope_id, b.allocated, b.reserved, b.consumed, b.remaining, b.available, b.period_start,
  b.period_end, b.policy, (b.period_start <= now() AND b.period_end > now()) AS is_active, b.version, b.created_at, b.updated_at FROM usage_budgets b
WHERE b.workspace_id = $1 AND ($2::text IS NULL OR b.scope = $2) AND ($3::uuid IS NULL OR b.scope_id = $3)
  AND (NOT $4::boolean OR (b.period_start <= now() AND b.period_end > now())) AND ($5::uuid IS NULL OR b.id < $5)
ORDER BY b.id DESC
LIMIT $6

-- lock_budgets
SELECT b.id, b.scope, b.scope_id, b.allocated, b.reserved, b.consumed, b.remaining, b.available, b.period_start,
  b.period_end, b.policy, (b.period_start <= now() AND b.period_end > now()) AS is_active, b.version, b.created_at, b.updated_at FROM usage_budgets b WHERE b.workspace_id = $1 AND b.id = ANY ($2::uuid[]) ORDER BY b.id FOR NO KEY UPDATE

-- lock_charged_budgets
SELECT b.id, b.scope, b.scope_id, b.allocated, b.consumed, b.reserved, b.policy, (b.period_start <= now() AND b.period_end > now()) AS is_active
FROM usage_budgets b
WHERE b.workspace_id = $1 AND b.id IN (
  SELECT c.id FROM usage_budgets c
  WHERE c.workspace_id = $1 AND c.scope_id = ANY ($2::uuid[]) AND (c.period_start <= now() AND c.period_end > now())
  UNION ALL
  SELECT unnest($3::uuid[]))
ORDER BY b.id
FOR NO KEY UPDATE

-- lock_used_runs
WITH task AS MATERIALIZED (
  SELECT t.id, t.project_id, t.milestone_id, t.estimated_tokens FROM agent_tasks t
  WHERE t.workspace_id = $1 AND t.id IN (
    SELECT r.task_id FROM task_runs r WHERE r.workspace_id = $1 AND r.id = ANY ($2::uuid[]))
  ORDER BY t.id
  FOR NO KEY UPDATE
)
SELECT r.id AS run_id, r.task_id, r.agent_id, t.project_id, t.milestone_id, t.estimated_tokens, r.held_tokens,
  r.budget_ids, r.state IN ('ASSIGNED', 'WORKING', 'IN_REVIEW', 'APPROVED', 'STALE') AS is_live
FROM task_runs r JOIN task t ON t.id = r.task_id
WHERE r.workspace_id = $1 AND r.id = ANY ($2::uuid[])
ORDER BY r.id
FOR NO KEY UPDATE OF r

-- move_allocation
UPDATE usage_budgets b SET allocated = b.allocated + CASE WHEN b.id = $2 THEN -$4::bigint ELSE $4::bigint END,
  version = b.version + 1, updated_at = now()
WHERE b.workspace_id = $1 AND b.id IN ($2, $3)
RETURNING b.id, b.scope, b.scope_id, b.allocated, b.reserved, b.consumed, b.remaining, b.available, b.period_start,
  b.period_end, b.policy, (b.period_start <= now() AND b.period_end > now()) AS is_active, b.version, b.created_at, b.updated_at

-- open_ledger
SELECT pg_advisory_xact_lock_shared(hashtextextended('usage of ' || $1::text, 0))
