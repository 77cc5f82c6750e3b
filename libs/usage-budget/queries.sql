-- The statements as they run. Made by `npm run sql`; change the modules that declare them.

-- all_model_prices
SELECT model, tier, effective_from, trim_scale(input_usd)::text AS input_usd,
  trim_scale(output_usd)::text AS output_usd, trim_scale(cache_read_usd)::text AS cache_read_usd,
  trim_scale(cache_write_usd)::text AS cache_write_usd, created_by, created_at FROM model_prices ORDER BY model, effective_from DESC

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

-- find_model_price
SELECT model, tier, effective_from, trim_scale(input_usd)::text AS input_usd,
  trim_scale(output_usd)::text AS output_usd, trim_scale(cache_read_usd)::text AS cache_read_usd,
  trim_scale(cache_write_usd)::text AS cache_write_usd, created_by, created_at FROM model_prices WHERE model = $1 AND effective_from = date_trunc('milliseconds', $2::timestamptz)

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

-- insert_model_price
INSERT INTO model_prices (model, tier, effective_from, input_usd, output_usd, cache_read_usd, cache_write_usd, created_by)
SELECT $1, $2, date_trunc('milliseconds', coalesce($3, now())), $4::numeric, $5::numeric, $6::numeric, $7::numeric, $8
WHERE coalesce($3::timestamptz >= now(), true)
ON CONFLICT DO NOTHING
RETURNING model, tier, effective_from, trim_scale(input_usd)::text AS input_usd,
  trim_scale(output_usd)::text AS output_usd, trim_scale(cache_read_usd)::text AS cache_read_usd,
  trim_scale(cache_write_usd)::text AS cache_write_usd, created_by, created_at

-- insert_usage
INSERT INTO agent_usage_logs (workspace_id, run_id, id, task_id, agent_id, project_id, milestone_id, model, operation,
  input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost_usd, reported_cost_usd)
SELECT $1, u.run_id, u.id, u.task_id, u.agent_id, u.project_id, u.milestone_id, u.model, u.operation, u.input_tokens,
  u.output_tokens, u.cache_read_tokens, u.cache_write_tokens, u.cost_usd, u.reported_cost_usd
FROM jsonb_to_recordset($2::jsonb) AS u (run_id uuid, id text, task_id uuid, agent_id uuid, project_id uuid,
  milestone_id uuid, model text, operation text, input_tokens bigint, output_tokens bigint, cache_read_tokens bigint,
  cache_write_tokens bigint, cost_usd numeric, reported_cost_usd numeric)

-- known_projects
SELECT id FROM projects WHERE workspace_id = $1 AND id = ANY($2::uuid[])

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

-- list_model_prices
SELECT model, tier, effective_from, trim_scale(input_usd)::text AS input_usd,
  trim_scale(output_usd)::text AS output_usd, trim_scale(cache_read_usd)::text AS cache_read_usd,
  trim_scale(cache_write_usd)::text AS cache_write_usd, created_by, created_at FROM model_prices p
WHERE ($1::text[] IS NULL OR p.model = ANY($1))
  AND ($2::timestamptz IS NULL OR p.effective_from = (
    SELECT max(n.effective_from) FROM model_prices n WHERE n.model = p.model AND n.effective_from <= $2))
  AND ($3::text IS NULL OR p.model > $3 OR (p.model = $3 AND p.effective_from < $4::timestamptz))
ORDER BY p.model, p.effective_from DESC
LIMIT $5

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

-- read_model_routing
SELECT enabled, rules, tiers, version FROM model_routing WHERE workspace_id = $1

-- routing_savings
WITH dearest AS MATERIALIZED (
  SELECT input_usd, output_usd, cache_read_usd, cache_write_usd, effective_from,
    lead(effective_from, 1, 'infinity') OVER (ORDER BY effective_from) AS effective_to
  FROM model_prices
  WHERE model = (SELECT n.name FROM unnest($4::text[]) WITH ORDINALITY AS n (name, position)
    WHERE EXISTS (SELECT FROM model_prices p WHERE p.model = n.name) ORDER BY n.position LIMIT 1)
),
used AS (
  SELECT l.model, d.effective_from, l.cost_usd IS NOT NULL AND d.effective_from IS NOT NULL AS compared,
    sum(l.total_tokens) AS tokens, sum(l.cost_usd) AS actual_usd, sum(l.input_tokens) AS input, sum(l.output_tokens) AS output,
    sum(l.cache_read_tokens) AS cache_read, sum(l.cache_write_tokens) AS cache_write
  FROM agent_usage_logs l
  LEFT JOIN dearest d ON l.logged_at >= d.effective_from AND l.logged_at < d.effective_to
  WHERE l.workspace_id = $1 AND l.logged_at >= $2 AND l.logged_at < $3
  GROUP BY 1, 2, 3
),
summed AS (
  SELECT u.model, GROUPING(u.model) AS is_all,
    coalesce(sum(u.tokens) FILTER (WHERE u.compared), 0) AS tokens,
    coalesce(sum(u.tokens) FILTER (WHERE NOT u.compared), 0) AS unpriced_tokens,
    coalesce(sum(u.actual_usd) FILTER (WHERE u.compared), 0) AS actual_usd,
    coalesce(sum(0.000001 * (u.input * d.input_usd + u.output * d.output_usd + u.cache_read * d.cache_read_usd
      + u.cache_write * d.cache_write_usd)) FILTER (WHERE u.compared), 0) AS dearest_usd
  FROM used u LEFT JOIN dearest d USING (effective_from)
  GROUP BY GROUPING SETS ((u.model), ())
)
SELECT model, tokens::text, unpriced_tokens::text, trim_scale(actual_usd)::text AS actual_usd,
  trim_scale(dearest_usd)::text AS dearest_usd, trim_scale(dearest_usd - actual_usd)::text AS saved_usd,
  round(100 * (dearest_usd - actual_usd) / nullif(dearest_usd, 0), 1)::float8 AS saved_percent
FROM summed
ORDER BY is_all, dearest_usd - actual_usd DESC, model

-- write_model_routing
INSERT INTO model_routing AS r (workspace_id, enabled, rules, tiers)
SELECT $1, $2, $3, $4
WHERE coalesce($5::int, 0) IN (0, (SELECT version FROM model_routing WHERE workspace_id = $1))
ON CONFLICT (workspace_id) DO UPDATE SET enabled = excluded.enabled, rules = excluded.rules,
  tiers = excluded.tiers, version = r.version + 1, updated_at = now()
WHERE $5::int IS NULL OR r.version = $5
RETURNING enabled, rules, tiers, version
