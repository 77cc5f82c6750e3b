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

-- burn_of_budget
SELECT b.workspace_id, b.id, b.project_id, now() AS now, b.period_start, b.period_end, b.consumed, b.remaining,
  b.available, h.max_runs, h.since AS throttled_since, (
  SELECT coalesce(jsonb_object_agg(h.ago, u.tokens::text), '{}') FROM generate_series(0, 47) AS h (ago) CROSS JOIN LATERAL (
    SELECT sum(l.total_tokens) AS tokens FROM agent_usage_logs l
    WHERE l.workspace_id = b.workspace_id AND l.logged_at > now() - (h.ago + 1) * interval '1 hour' AND l.logged_at <= now() - h.ago * interval '1 hour'
      AND (b.project_id IS NULL OR l.project_id = b.project_id)
      AND (b.milestone_id IS NULL OR l.milestone_id = b.milestone_id) AND (b.task_id IS NULL OR l.task_id = b.task_id)) u
  WHERE u.tokens > 0) AS hourly
FROM usage_budgets b
LEFT JOIN workspace_throttles h ON h.workspace_id = b.workspace_id AND h.scope_id = b.scope_id AND h.budget_id = b.id
WHERE b.workspace_id = $1 AND b.id = $2

-- burn_of_wide_budgets
WITH budget AS MATERIALIZED (
  SELECT b.workspace_id, b.id, b.project_id, now() AS now, b.period_start, b.period_end, b.consumed, b.remaining,
  b.available FROM usage_budgets b JOIN workspaces w ON w.id = b.workspace_id AND w.archived_at IS NULL
  WHERE b.milestone_id IS NULL AND b.task_id IS NULL AND b.period_start <= now() AND b.period_end > now()
    AND ($1::uuid IS NULL OR b.workspace_id = $1)
),
used AS MATERIALIZED (
  SELECT w.workspace_id, h.ago, u.* FROM (SELECT DISTINCT workspace_id FROM budget) w CROSS JOIN generate_series(0, 47) AS h (ago)
  CROSS JOIN LATERAL (
    SELECT l.project_id, sum(l.total_tokens) AS tokens FROM agent_usage_logs l
    WHERE l.workspace_id = w.workspace_id AND l.logged_at > now() - (h.ago + 1) * interval '1 hour' AND l.logged_at <= now() - h.ago * interval '1 hour'
    GROUP BY 1) u
)
SELECT b.*, (
  SELECT coalesce(jsonb_object_agg(u.ago, u.tokens::text), '{}') FROM (
    SELECT u.ago, sum(u.tokens) AS tokens FROM used u
    WHERE u.workspace_id = b.workspace_id AND (b.project_id IS NULL OR u.project_id = b.project_id)
    GROUP BY 1) u) AS hourly
FROM budget b

-- calibrate
WITH RECURSIVE type AS (
  (SELECT t.task_type FROM agent_tasks t WHERE t.workspace_id = $1 AND t.completed_at > now() - interval '90 days' ORDER BY t.task_type LIMIT 1)
  UNION ALL
  SELECT next.task_type FROM type CROSS JOIN LATERAL (
    SELECT t.task_type FROM agent_tasks t WHERE t.workspace_id = $1 AND t.completed_at > now() - interval '90 days' AND t.task_type > type.task_type
    ORDER BY t.task_type LIMIT 1) next
),
used AS MATERIALIZED (
  SELECT t.project_id, t.task_type, t.completed_at, u.used,
    u.used / (t.estimated_complexity * 1794::float8) AS ratio
  FROM (SELECT task_type FROM type LIMIT 1000) type
  CROSS JOIN LATERAL (
    SELECT t.workspace_id, t.id, t.project_id, t.task_type, t.completed_at, t.estimated_complexity FROM agent_tasks t
    WHERE t.workspace_id = $1 AND t.completed_at > now() - interval '90 days' AND t.task_type = type.task_type
    ORDER BY t.completed_at DESC LIMIT 500) t
  CROSS JOIN LATERAL (SELECT sum(r.used_tokens) AS used FROM task_runs r
    WHERE r.workspace_id = t.workspace_id AND r.task_id = t.id) u
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
INSERT INTO estimate_calibrations AS c (workspace_id, project_id, task_type, factor, median_used, samples)
SELECT $1, project_id, task_type,
  CASE WHEN count(ratio) >= 5 THEN least(greatest(
    percentile_cont(0.5) WITHIN GROUP (ORDER BY ratio), 0.1), 10) END,
  least(ceil(percentile_cont(0.5) WITHIN GROUP (ORDER BY used)), 1000000000000000), count(*)
FROM sample
WHERE number <= 50
GROUP BY project_id, task_type
HAVING count(*) >= 5
ON CONFLICT (workspace_id, scope_id, task_type) DO UPDATE
SET factor = excluded.factor, median_used = excluded.median_used, samples = excluded.samples, updated_at = now()

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
SELECT b.id, b.scope, b.scope_id, CASE b.scope
    WHEN 'project' THEN (SELECT p.name FROM projects p WHERE p.workspace_id = b.workspace_id AND p.id = b.project_id)
    WHEN 'milestone' THEN (SELECT m.name FROM milestones m WHERE m.workspace_id = b.workspace_id AND m.id = b.milestone_id)
    WHEN 'task' THEN (SELECT t.title FROM agent_tasks t WHERE t.workspace_id = b.workspace_id AND t.id = b.task_id)
  END AS scope_name, b.allocated, b.reserved, b.consumed, b.remaining, b.available, b.period_start,
  b.period_end, b.policy, (b.period_start <= now() AND b.period_end > now()) AS is_active, b.version, b.created_at, b.updated_at FROM changed b

-- close_ledger
SELECT pg_advisory_xact_lock(hashtextextended('usage of ' || $1::text, 0))

-- costs_of_projects
WITH chosen AS MATERIALIZED (
  SELECT t.id, t.project_id FROM agent_tasks t WHERE t.workspace_id = $1 AND t.completed_at >= $2 AND t.completed_at < $3 AND ($5::uuid IS NULL OR t.project_id > $5)
),
page AS (
  SELECT project_id, coalesce(project_id, '00000000-0000-0000-0000-000000000000'::uuid) AS place, count(*)::int AS tasks FROM chosen
  GROUP BY project_id ORDER BY place LIMIT $4
),
used AS (
  SELECT coalesce(c.project_id, '00000000-0000-0000-0000-000000000000'::uuid) AS place, count(*)::int AS runs, sum(r.used_tokens) AS tokens, sum(r.used_cost_usd) AS cost
  FROM chosen c JOIN task_runs r ON r.workspace_id = $1 AND r.task_id = c.id
  GROUP BY 1
)
SELECT NULL AS task_id, NULL AS title, NULL AS task_type, NULL::timestamptz AS completed_at, NULL AS completed_us,
  page.project_id, p.name AS project_name, page.tasks, coalesce(u.runs, 0) AS runs,
  coalesce(u.tokens, 0)::text AS used_tokens, trim_scale(coalesce(u.cost, 0))::text AS cost_usd
FROM page LEFT JOIN used u ON u.place = page.place
LEFT JOIN projects p ON p.workspace_id = $1 AND p.id = page.project_id
ORDER BY page.place

-- costs_of_tasks
WITH page AS MATERIALIZED (
  SELECT t.workspace_id, t.id, t.completed_at FROM agent_tasks t
  WHERE t.workspace_id = $1 AND t.completed_at >= $2 AND t.completed_at < $3
    AND ($5::bigint IS NULL OR (t.completed_at, t.id) < ('epoch'::timestamptz + $5::bigint * interval '1 microsecond', $6::uuid))
  ORDER BY t.completed_at DESC, t.id DESC
  LIMIT $4
)
SELECT t.id AS task_id, t.title, t.task_type, t.completed_at,
  (extract(epoch FROM t.completed_at) * 1000000)::bigint::text AS completed_us, t.project_id, p.name AS project_name,
  1 AS tasks, u.runs, coalesce(u.tokens, 0)::text AS used_tokens, trim_scale(coalesce(u.cost, 0))::text AS cost_usd
FROM page JOIN agent_tasks t ON t.workspace_id = page.workspace_id AND t.id = page.id
LEFT JOIN projects p ON p.workspace_id = t.workspace_id AND p.id = t.project_id
CROSS JOIN LATERAL (
  SELECT count(*)::int AS runs, sum(r.used_tokens) AS tokens, sum(r.used_cost_usd) AS cost FROM task_runs r WHERE r.workspace_id = t.workspace_id AND r.task_id = t.id) u
ORDER BY page.completed_at DESC, page.id DESC

-- find_budget
SELECT b.id, b.scope, b.scope_id, CASE b.scope
    WHEN 'project' THEN (SELECT p.name FROM projects p WHERE p.workspace_id = b.workspace_id AND p.id = b.project_id)
    WHEN 'milestone' THEN (SELECT m.name FROM milestones m WHERE m.workspace_id = b.workspace_id AND m.id = b.milestone_id)
    WHEN 'task' THEN (SELECT t.title FROM agent_tasks t WHERE t.workspace_id = b.workspace_id AND t.id = b.task_id)
  END AS scope_name, b.allocated, b.reserved, b.consumed, b.remaining, b.available, b.period_start,
  b.period_end, b.policy, (b.period_start <= now() AND b.period_end > now()) AS is_active, b.version, b.created_at, b.updated_at FROM usage_budgets b WHERE b.workspace_id = $1 AND b.id = $2

-- find_model_price
SELECT model, tier, effective_from, trim_scale(input_usd)::text AS input_usd,
  trim_scale(output_usd)::text AS output_usd, trim_scale(cache_read_usd)::text AS cache_read_usd,
  trim_scale(cache_write_usd)::text AS cache_write_usd, created_by, created_at FROM model_prices WHERE model = $1 AND effective_from = date_trunc('milliseconds', $2::timestamptz)

-- find_scope
SELECT $2::uuid AS id WHERE $1 = $2 OR EXISTS (SELECT FROM projects WHERE workspace_id = $1 AND id = $2)
  OR EXISTS (SELECT FROM milestones WHERE workspace_id = $1 AND id = $2)
  OR EXISTS (SELECT FROM agent_tasks WHERE workspace_id = $1 AND id = $2)

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
RETURNING b.id, b.scope, b.scope_id, CASE b.scope
    WHEN 'project' THEN (SELECT p.name FROM projects p WHERE p.workspace_id = b.workspace_id AND p.id = b.project_id)
    WHEN 'milestone' THEN (SELECT m.name FROM milestones m WHERE m.workspace_id = b.workspace_id AND m.id = b.milestone_id)
    WHEN 'task' THEN (SELECT t.title FROM agent_tasks t WHERE t.workspace_id = b.workspace_id AND t.id = b.task_id)
  END AS scope_name, b.allocated, b.reserved, b.consumed, b.remaining, b.available, b.period_start,
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

-- known_reports
SELECT l.run_id, l.id, l.model, l.operation, l.input_tokens, l.output_tokens, l.cache_read_tokens,
  l.cache_write_tokens, trim_scale(l.reported_cost_usd) AS reported_cost_usd
FROM unnest($2::uuid[], $3::text[]) AS k (run_id, id)
JOIN agent_usage_logs l ON l.workspace_id = $1 AND l.run_id = k.run_id AND l.id = k.id

-- list_budgets
SELECT b.id, b.scope, b.scope_id, CASE b.scope
    WHEN 'project' THEN (SELECT p.name FROM projects p WHERE p.workspace_id = b.workspace_id AND p.id = b.project_id)
    WHEN 'milestone' THEN (SELECT m.name FROM milestones m WHERE m.workspace_id = b.workspace_id AND m.id = b.milestone_id)
    WHEN 'task' THEN (SELECT t.title FROM agent_tasks t WHERE t.workspace_id = b.workspace_id AND t.id = b.task_id)
  END AS scope_name, b.allocated, b.reserved, b.consumed, b.remaining, b.available, b.period_start,
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

-- lock_agents_of_runs
SELECT FROM agents a WHERE a.workspace_id = $1 AND a.id = ANY ($2::uuid[]) ORDER BY a.id FOR NO KEY UPDATE

-- lock_budgets
SELECT b.id, b.scope, b.scope_id, CASE b.scope
    WHEN 'project' THEN (SELECT p.name FROM projects p WHERE p.workspace_id = b.workspace_id AND p.id = b.project_id)
    WHEN 'milestone' THEN (SELECT m.name FROM milestones m WHERE m.workspace_id = b.workspace_id AND m.id = b.milestone_id)
    WHEN 'task' THEN (SELECT t.title FROM agent_tasks t WHERE t.workspace_id = b.workspace_id AND t.id = b.task_id)
  END AS scope_name, b.allocated, b.reserved, b.consumed, b.remaining, b.available, b.period_start,
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

-- model_of_run
SELECT model FROM task_runs WHERE workspace_id = $1 AND id = $2 AND agent_id = $3

-- move_allocation
UPDATE usage_budgets b SET allocated = b.allocated + CASE WHEN b.id = $2 THEN -$4::bigint ELSE $4::bigint END,
  version = b.version + 1, updated_at = now()
WHERE b.workspace_id = $1 AND b.id IN ($2, $3)
RETURNING b.id, b.scope, b.scope_id, CASE b.scope
    WHEN 'project' THEN (SELECT p.name FROM projects p WHERE p.workspace_id = b.workspace_id AND p.id = b.project_id)
    WHEN 'milestone' THEN (SELECT m.name FROM milestones m WHERE m.workspace_id = b.workspace_id AND m.id = b.milestone_id)
    WHEN 'task' THEN (SELECT t.title FROM agent_tasks t WHERE t.workspace_id = b.workspace_id AND t.id = b.task_id)
  END AS scope_name, b.allocated, b.reserved, b.consumed, b.remaining, b.available, b.period_start,
  b.period_end, b.policy, (b.period_start <= now() AND b.period_end > now()) AS is_active, b.version, b.created_at, b.updated_at

-- note_provider_limit
INSERT INTO provider_limits AS l (workspace_id, id, provider, model, covers, kind, until, over_at, run_id, agent_id)
SELECT $1, $2, $3::text, $4::text, $5, $6, u.until,
  u.until + make_interval(secs => greatest(least($7::float8 * 0.1, 60), 2)), $8, $9
FROM task_runs r
CROSS JOIN LATERAL (SELECT CASE WHEN $10::boolean THEN now() ELSE coalesce(r.ended_at, now()) END + make_interval(secs => $7::float8)) AS u (until)
WHERE r.workspace_id = $1 AND r.id = $8 AND u.until > now()
  AND (SELECT count(*) FILTER (WHERE o.provider <> $3::text OR o.model IS DISTINCT FROM $4::text) FROM provider_limits o
    WHERE o.workspace_id = $1 AND o.over_at > now()) < 50
ON CONFLICT (workspace_id, provider, model) DO UPDATE SET
  covers = CASE WHEN l.over_at <= now() THEN excluded.covers
    WHEN $11::text ~ l.covers OR length(l.covers) > 10000 THEN l.covers
    ELSE l.covers || '|' || $12::text END,
  since = CASE WHEN l.over_at <= now() THEN excluded.since ELSE l.since END,
  over_at = CASE WHEN (excluded.until > l.until AND ($10::boolean OR l.run_id <> excluded.run_id OR l.over_at <= now())) THEN greatest(l.over_at, excluded.over_at) ELSE l.over_at END,
  kind = CASE WHEN (excluded.until > l.until AND ($10::boolean OR l.run_id <> excluded.run_id OR l.over_at <= now())) THEN excluded.kind ELSE l.kind END,
  until = CASE WHEN (excluded.until > l.until AND ($10::boolean OR l.run_id <> excluded.run_id OR l.over_at <= now())) THEN excluded.until ELSE l.until END,
  run_id = CASE WHEN (excluded.until > l.until AND ($10::boolean OR l.run_id <> excluded.run_id OR l.over_at <= now())) THEN excluded.run_id ELSE l.run_id END,
  agent_id = CASE WHEN (excluded.until > l.until AND ($10::boolean OR l.run_id <> excluded.run_id OR l.over_at <= now())) THEN excluded.agent_id ELSE l.agent_id END,
  reported_at = CASE WHEN (excluded.until > l.until AND ($10::boolean OR l.run_id <> excluded.run_id OR l.over_at <= now())) THEN excluded.reported_at ELSE l.reported_at END
WHERE l.over_at <= now() OR l.run_id = excluded.run_id OR EXISTS (
  SELECT FROM task_runs r WHERE r.workspace_id = l.workspace_id AND r.id = excluded.run_id AND r.ended_at IS NULL)
RETURNING l.id, l.until

-- open_ledger
SELECT pg_advisory_xact_lock_shared(hashtextextended('usage of ' || $1::text, 0))

-- open_provider_limits
SELECT l.id, l.provider, l.model, l.kind, l.since, l.until, l.run_id, l.agent_id, a.name AS agent_name, l.reported_at FROM provider_limits l JOIN agents a ON a.workspace_id = l.workspace_id AND a.id = l.agent_id
WHERE l.workspace_id = $1 AND ($2::uuid IS NULL OR l.id = $2) AND l.until > now()
ORDER BY l.until DESC, l.id

-- read_calibrations
SELECT project_id, task_type, factor, median_used FROM estimate_calibrations
WHERE workspace_id = $1
ORDER BY samples DESC, updated_at DESC
LIMIT 10000

-- read_model_routing
SELECT enabled, rules, tiers, version FROM model_routing WHERE workspace_id = $1

-- read_run_budgets
SELECT b.id, b.scope, b.scope_id, b.allocated, b.consumed, b.reserved, b.policy, true AS is_active
FROM task_runs r JOIN agent_tasks t ON t.workspace_id = r.workspace_id AND t.id = r.task_id
JOIN usage_budgets b ON b.workspace_id = t.workspace_id AND b.scope_id = ANY (ARRAY[t.workspace_id, t.project_id, t.milestone_id, t.id]) AND (b.period_start <= now() AND b.period_end > now())
WHERE r.workspace_id = $1 AND r.id = $2
ORDER BY b.id

-- read_run_use
SELECT r.id AS run_id, r.task_id, r.state IN ('ASSIGNED', 'WORKING', 'IN_REVIEW', 'APPROVED', 'STALE') AS is_live, t.estimated_tokens, r.held_tokens, r.used_tokens,
  trim_scale(r.used_cost_usd) AS used_cost_usd,
  (SELECT sum(o.used_tokens) FROM task_runs o WHERE o.workspace_id = t.workspace_id AND o.task_id = t.id) AS task_used_tokens
FROM task_runs r JOIN agent_tasks t ON t.workspace_id = r.workspace_id AND t.id = r.task_id
WHERE r.workspace_id = $1 AND r.id = $2 AND r.agent_id = $3

-- read_usage_by_day
WITH part AS (
  SELECT r.day, r.input_tokens, r.output_tokens, r.cache_read_tokens, r.cache_write_tokens, r.cost_usd, r.reports, r.reports_without_price FROM usage_rollups r
  WHERE r.workspace_id = $1 AND r.scope_id = $2 AND r.dimension = $3 AND r.key = $6 AND r.grain = 'day'
    AND r.day >= $4::date AND r.day <= $5::date
  UNION ALL
  SELECT (l.logged_at AT TIME ZONE 'UTC')::date AS day, l.input_tokens, l.output_tokens, l.cache_read_tokens, l.cache_write_tokens, coalesce(l.cost_usd, 0) AS cost_usd,
    1 AS reports, (l.cost_usd IS NULL)::int AS reports_without_price FROM agent_usage_logs l
  WHERE l.workspace_id = $1 AND l.seq > (SELECT position FROM usage_rollup_progress)
    AND l.seq <= (SELECT last_value FROM agent_usage_logs_seq)
    AND ($2 = $1 OR l.project_id = $2) AND (l.logged_at AT TIME ZONE 'UTC')::date >= $4::date AND (l.logged_at AT TIME ZONE 'UTC')::date <= $5::date AND CASE $3 WHEN 'total' THEN '-' WHEN 'agent' THEN l.agent_id::text WHEN 'task' THEN l.task_id::text WHEN 'project' THEN coalesce(l.project_id::text, '-') WHEN 'model' THEN l.model END = $6
)
SELECT u.day::text AS key, NULL AS name, u.input_tokens::text, u.output_tokens::text, u.cache_read_tokens::text, u.cache_write_tokens::text,
  (input_tokens + output_tokens + cache_read_tokens + cache_write_tokens)::text AS total_tokens, trim_scale(u.cost_usd)::text AS cost_usd, u.reports::text,
  u.reports_without_price::text
FROM (SELECT p.day, sum(p.input_tokens) AS input_tokens, sum(p.output_tokens) AS output_tokens, sum(p.cache_read_tokens) AS cache_read_tokens, sum(p.cache_write_tokens) AS cache_write_tokens, sum(p.cost_usd) AS cost_usd, sum(p.reports) AS reports, sum(p.reports_without_price) AS reports_without_price FROM part p GROUP BY p.day ORDER BY p.day LIMIT $7) u
ORDER BY u.day

-- read_usage_by_key
WITH tail AS MATERIALIZED (
  SELECT CASE $3 WHEN 'total' THEN '-' WHEN 'agent' THEN l.agent_id::text WHEN 'task' THEN l.task_id::text WHEN 'project' THEN coalesce(l.project_id::text, '-') WHEN 'model' THEN l.model END COLLATE "C" AS key, l.input_tokens, l.output_tokens, l.cache_read_tokens, l.cache_write_tokens, coalesce(l.cost_usd, 0) AS cost_usd,
    1 AS reports, (l.cost_usd IS NULL)::int AS reports_without_price FROM agent_usage_logs l
  WHERE l.workspace_id = $1 AND l.seq > (SELECT position FROM usage_rollup_progress)
    AND l.seq <= (SELECT last_value FROM agent_usage_logs_seq)
    AND ($2 = $1 OR l.project_id = $2) AND (l.logged_at AT TIME ZONE 'UTC')::date >= $4::date AND (l.logged_at AT TIME ZONE 'UTC')::date <= $5::date
),
page AS MATERIALIZED (
  SELECT key FROM (
    (SELECT DISTINCT r.key FROM usage_rollups r
      WHERE r.workspace_id = $1 AND r.scope_id = $2 AND r.dimension = $3 AND r.grain = 'day' AND r.day >= $4::date AND r.day < $8::date AND $4::date < $8::date AND r.key > $6 ORDER BY r.key ASC LIMIT $7)
    UNION
    (SELECT DISTINCT r.key FROM usage_rollups r
      WHERE r.workspace_id = $1 AND r.scope_id = $2 AND r.dimension = $3 AND r.grain = 'month' AND r.day >= $8::date AND r.day < $9::date AND $8::date < $9::date AND r.key > $6 ORDER BY r.key ASC LIMIT $7)
    UNION
    (SELECT DISTINCT r.key FROM usage_rollups r
      WHERE r.workspace_id = $1 AND r.scope_id = $2 AND r.dimension = $3 AND r.grain = 'day' AND r.day >= $9::date AND r.day <= $5::date AND $9::date <= $5::date AND r.key > $6 ORDER BY r.key ASC LIMIT $7)
    UNION
    SELECT t.key FROM tail t WHERE t.key > $6) k
  ORDER BY key ASC LIMIT $7
)
SELECT u.key, CASE $3
  WHEN 'agent' THEN (SELECT a.name::text FROM agents a WHERE a.workspace_id = $1 AND a.id = u.key::uuid)
  WHEN 'task' THEN (SELECT t.title::text FROM agent_tasks t WHERE t.workspace_id = $1 AND t.id = u.key::uuid)
  WHEN 'project' THEN (SELECT p.name::text FROM projects p WHERE p.workspace_id = $1 AND p.id = nullif(u.key, '-')::uuid)
  END AS name, u.input_tokens::text, u.output_tokens::text, u.cache_read_tokens::text, u.cache_write_tokens::text,
  (input_tokens + output_tokens + cache_read_tokens + cache_write_tokens)::text AS total_tokens, trim_scale(u.cost_usd)::text AS cost_usd, u.reports::text,
  u.reports_without_price::text
FROM (
  SELECT k.key, sum(p.input_tokens) AS input_tokens, sum(p.output_tokens) AS output_tokens, sum(p.cache_read_tokens) AS cache_read_tokens, sum(p.cache_write_tokens) AS cache_write_tokens, sum(p.cost_usd) AS cost_usd, sum(p.reports) AS reports, sum(p.reports_without_price) AS reports_without_price
  FROM page k CROSS JOIN LATERAL (
    SELECT r.input_tokens, r.output_tokens, r.cache_read_tokens, r.cache_write_tokens, r.cost_usd, r.reports, r.reports_without_price FROM usage_rollups r
    WHERE r.workspace_id = $1 AND r.scope_id = $2 AND r.dimension = $3 AND r.key = k.key AND r.grain = 'day' AND r.day >= $4::date AND r.day < $8::date AND $4::date < $8::date
    UNION ALL
    SELECT r.input_tokens, r.output_tokens, r.cache_read_tokens, r.cache_write_tokens, r.cost_usd, r.reports, r.reports_without_price FROM usage_rollups r
    WHERE r.workspace_id = $1 AND r.scope_id = $2 AND r.dimension = $3 AND r.key = k.key AND r.grain = 'month' AND r.day >= $8::date AND r.day < $9::date AND $8::date < $9::date
    UNION ALL
    SELECT r.input_tokens, r.output_tokens, r.cache_read_tokens, r.cache_write_tokens, r.cost_usd, r.reports, r.reports_without_price FROM usage_rollups r
    WHERE r.workspace_id = $1 AND r.scope_id = $2 AND r.dimension = $3 AND r.key = k.key AND r.grain = 'day' AND r.day >= $9::date AND r.day <= $5::date AND $9::date <= $5::date
    UNION ALL
    SELECT t.input_tokens, t.output_tokens, t.cache_read_tokens, t.cache_write_tokens, t.cost_usd, t.reports, t.reports_without_price FROM tail t WHERE t.key = k.key) p
  GROUP BY k.key) u
ORDER BY u.key ASC

-- read_usage_by_task
WITH tail AS MATERIALIZED (
  SELECT CASE $3 WHEN 'total' THEN '-' WHEN 'agent' THEN l.agent_id::text WHEN 'task' THEN l.task_id::text WHEN 'project' THEN coalesce(l.project_id::text, '-') WHEN 'model' THEN l.model END COLLATE "C" AS key, l.input_tokens, l.output_tokens, l.cache_read_tokens, l.cache_write_tokens, coalesce(l.cost_usd, 0) AS cost_usd,
    1 AS reports, (l.cost_usd IS NULL)::int AS reports_without_price FROM agent_usage_logs l
  WHERE l.workspace_id = $1 AND l.seq > (SELECT position FROM usage_rollup_progress)
    AND l.seq <= (SELECT last_value FROM agent_usage_logs_seq)
    AND ($2 = $1 OR l.project_id = $2) AND (l.logged_at AT TIME ZONE 'UTC')::date >= $4::date AND (l.logged_at AT TIME ZONE 'UTC')::date <= $5::date
),
page AS MATERIALIZED (
  SELECT key FROM (
    (SELECT DISTINCT r.key FROM usage_rollups r
      WHERE r.workspace_id = $1 AND r.scope_id = $2 AND r.dimension = $3 AND r.grain = 'day' AND r.day >= $4::date AND r.day <= $5::date AND r.key < $6 ORDER BY r.key DESC LIMIT $7)
    UNION
    SELECT t.key FROM tail t WHERE t.key < $6) k
  ORDER BY key DESC LIMIT $7
)
SELECT u.key, CASE $3
  WHEN 'agent' THEN (SELECT a.name::text FROM agents a WHERE a.workspace_id = $1 AND a.id = u.key::uuid)
  WHEN 'task' THEN (SELECT t.title::text FROM agent_tasks t WHERE t.workspace_id = $1 AND t.id = u.key::uuid)
  WHEN 'project' THEN (SELECT p.name::text FROM projects p WHERE p.workspace_id = $1 AND p.id = nullif(u.key, '-')::uuid)
  END AS name, u.input_tokens::text, u.output_tokens::text, u.cache_read_tokens::text, u.cache_write_tokens::text,
  (input_tokens + output_tokens + cache_read_tokens + cache_write_tokens)::text AS total_tokens, trim_scale(u.cost_usd)::text AS cost_usd, u.reports::text,
  u.reports_without_price::text
FROM (
  SELECT k.key, sum(p.input_tokens) AS input_tokens, sum(p.output_tokens) AS output_tokens, sum(p.cache_read_tokens) AS cache_read_tokens, sum(p.cache_write_tokens) AS cache_write_tokens, sum(p.cost_usd) AS cost_usd, sum(p.reports) AS reports, sum(p.reports_without_price) AS reports_without_price
  FROM page k CROSS JOIN LATERAL (
    SELECT r.input_tokens, r.output_tokens, r.cache_read_tokens, r.cache_write_tokens, r.cost_usd, r.reports, r.reports_without_price FROM usage_rollups r
    WHERE r.workspace_id = $1 AND r.scope_id = $2 AND r.dimension = $3 AND r.key = k.key AND r.grain = 'day' AND r.day >= $4::date AND r.day <= $5::date
    UNION ALL
    SELECT t.input_tokens, t.output_tokens, t.cache_read_tokens, t.cache_write_tokens, t.cost_usd, t.reports, t.reports_without_price FROM tail t WHERE t.key = k.key) p
  GROUP BY k.key) u
ORDER BY u.key DESC

-- remove_past_provider_limits
DELETE FROM provider_limits l USING (
  SELECT workspace_id, id FROM provider_limits
  WHERE over_at <= now() AND ($2::uuid IS NULL OR workspace_id = $2)
  ORDER BY over_at LIMIT $1 FOR UPDATE SKIP LOCKED) p
WHERE l.workspace_id = p.workspace_id AND l.id = p.id
RETURNING l.workspace_id

-- remove_provider_limit
DELETE FROM provider_limits WHERE workspace_id = $1 AND id = $2 AND until > now() RETURNING id

-- report_estimates
WITH chosen AS MATERIALIZED (
  SELECT t.id, t.task_type, t.project_id, t.estimated_tokens, t.generation FROM agent_tasks t WHERE t.workspace_id = $1 AND t.completed_at >= $2 AND t.completed_at < $3
),
used AS (
  SELECT r.task_id, count(*)::int AS runs, sum(r.used_tokens) AS tokens, sum(r.used_cost_usd) AS cost, max(r.estimated_tokens) FILTER (WHERE r.generation = c.generation) AS estimated
  FROM chosen c JOIN task_runs r ON r.workspace_id = $1 AND r.task_id = c.id
  GROUP BY r.task_id
),
task AS (
  SELECT c.task_type, c.project_id, coalesce(u.estimated, c.estimated_tokens) AS estimated, u.tokens,
    coalesce(u.tokens, 0) > 0 AS known
  FROM chosen c LEFT JOIN used u ON u.task_id = c.id
)
SELECT grouping(task_type) = 1 AS is_total, task_type, project_id, count(*)::int AS tasks,
  count(*) FILTER (WHERE NOT known)::int AS unreported,
  coalesce(sum(estimated) FILTER (WHERE known), 0)::text AS estimated_tokens,
  coalesce(sum(tokens) FILTER (WHERE known), 0)::text AS used_tokens,
  round((percentile_cont(0.5) WITHIN GROUP (ORDER BY (tokens / nullif(estimated, 0))::float8)
    FILTER (WHERE known))::numeric, 4)::float8 AS median_ratio,
  round(avg((abs(tokens - estimated) <= 0.2 * estimated)::int) FILTER (WHERE known), 4)::float8 AS within_20_percent
FROM task
GROUP BY GROUPING SETS ((), (task_type, project_id))
ORDER BY is_total DESC, tasks DESC, task_type, project_id
LIMIT $4

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

-- run_hours
SELECT coalesce(sum(u.tokens), 0)::text AS tokens, coalesce(sum(greatest(0, extract(epoch FROM
  least(coalesce(r.ended_at, now()), now()) - greatest(r.assigned_at, now() - interval '1 day')))), 0)::float8 / 3600 AS run_hours
FROM (
  SELECT l.run_id, sum(l.total_tokens) AS tokens FROM agent_usage_logs l
  WHERE l.workspace_id = $1 AND l.logged_at > now() - interval '1 day' AND l.logged_at <= now()
    AND ($2::uuid IS NULL OR l.project_id = $2)
  GROUP BY 1) u
JOIN task_runs r ON r.workspace_id = $1 AND r.id = u.run_id

-- throttles_of
SELECT h.project_id AS "projectId", h.budget_id AS "budgetId", h.max_runs AS "maxRuns", h.since
FROM workspace_throttles h
WHERE h.workspace_id = $1 AND h.scope_id IN ($1, $2)
ORDER BY h.project_id NULLS FIRST

-- usage_draw_horizon
SELECT pg_current_xact_id()::text AS xid

-- usage_forget_rollups
DELETE FROM usage_rollups
WHERE workspace_id = $1 AND (grain = 'month' AND day = $2::date OR grain = 'day' AND day >= $2::date AND day < $2::date + interval '1 month' AND day >= coalesce((SELECT since FROM usage_logs_kept WHERE workspace_id = $1), '-infinity'))

-- usage_list_budget_alerts
SELECT id, created_at, details ->> 'level' AS level, (details ->> 'threshold')::int AS threshold,
  (details ->> 'percentUsed')::bigint AS percent_used, details ->> 'allocated' AS allocated,
  details ->> 'consumed' AS consumed, message
FROM journal
WHERE workspace_id = $1 AND event = 'budget.alert' AND details ->> 'budgetId' = $2 AND ($3::bigint IS NULL OR id < $3)
ORDER BY id DESC
LIMIT $4

-- usage_lock_rollups
SELECT position FROM usage_rollup_progress FOR NO KEY UPDATE

-- usage_lost_after
SELECT k.since::timestamp AT TIME ZONE 'UTC' AS since FROM usage_logs_kept k
WHERE k.workspace_id = $1 AND k.since::timestamp AT TIME ZONE 'UTC' > $2::timestamptz

-- usage_prune_reports
WITH bound AS MATERIALIZED (
  SELECT w.id AS workspace_id, (date_trunc('day', least(now() - make_interval(days => $1),
    (SELECT min(b.period_start) FROM usage_budgets b WHERE b.workspace_id = w.id AND b.period_end > now()))
    AT TIME ZONE 'UTC'))::date AS since
  FROM workspaces w
),
doomed AS MATERIALIZED (
  SELECT l.* FROM bound b CROSS JOIN LATERAL (
    SELECT n.workspace_id, n.run_id, n.id, b.since FROM agent_usage_logs n
    WHERE n.workspace_id = b.workspace_id AND n.logged_at < b.since::timestamp AT TIME ZONE 'UTC'
      AND n.seq <= (SELECT position FROM usage_rollup_progress)
    ORDER BY n.logged_at LIMIT $2) l
),
noted AS (
  INSERT INTO usage_logs_kept AS k (workspace_id, since)
  SELECT DISTINCT workspace_id, since FROM doomed
  ON CONFLICT (workspace_id) DO UPDATE SET since = greatest(k.since, excluded.since)
),
removed AS (
  DELETE FROM agent_usage_logs l USING doomed d
  WHERE l.workspace_id = d.workspace_id AND l.run_id = d.run_id AND l.id = d.id
  RETURNING l.workspace_id
),
counted AS (
  SELECT count(*)::int AS removed FROM removed GROUP BY workspace_id
)
SELECT coalesce(sum(removed), 0)::int AS removed, coalesce(max(removed), 0) AS most FROM counted

-- usage_read_reported_tasks
WITH report AS MATERIALIZED (
  SELECT workspace_id, task_id, seq FROM agent_usage_logs
  WHERE seq > $1 AND seq <= (SELECT position FROM usage_rollup_progress) ORDER BY seq LIMIT $2
),
bound AS (
  SELECT CASE WHEN count(*) < $2 THEN (SELECT position FROM usage_rollup_progress) ELSE max(seq) END AS position
  FROM report
)
SELECT b.position, t.workspace_id, t.task_id
FROM bound b LEFT JOIN (SELECT DISTINCT workspace_id, task_id FROM report) t ON true

-- usage_read_rollup_months
SELECT w.id AS workspace_id, m::date::text AS month
FROM workspaces w
LEFT JOIN usage_logs_kept k ON k.workspace_id = w.id
CROSS JOIN LATERAL (
  SELECT greatest(k.since, least(
    (SELECT min(l.logged_at AT TIME ZONE 'UTC')::date FROM agent_usage_logs l WHERE l.workspace_id = w.id),
    (SELECT min(r.day) FROM usage_rollups r WHERE r.workspace_id = w.id AND r.scope_id = w.id))) AS day) f
CROSS JOIN LATERAL generate_series(date_trunc('month', f.day::timestamp), now() AT TIME ZONE 'UTC', '1 month') m
WHERE f.day IS NOT NULL
ORDER BY 1, 2

-- usage_read_rollup_progress
SELECT CASE WHEN s.is_called THEN s.last_value ELSE 0 END AS last, p.position
FROM usage_rollup_progress p, agent_usage_logs_seq s

-- usage_read_task_views
SELECT t.id AS task_id, b.allocated::text AS allocated, coalesce(b.consumed::numeric, u.tokens, 0)::text AS consumed,
  b.remaining::text AS remaining, a.agents
FROM unnest($1::uuid[], $2::uuid[]) AS t (workspace_id, id)
LEFT JOIN LATERAL (
  SELECT n.allocated, n.consumed, n.remaining FROM usage_budgets n
  WHERE n.workspace_id = t.workspace_id AND n.scope_id = t.id AND n.period_end > now() AND n.period_start <= now()) b ON true
CROSS JOIN LATERAL (
  SELECT sum(r.input_tokens + r.output_tokens + r.cache_read_tokens + r.cache_write_tokens) AS tokens
  FROM usage_rollups r
  WHERE r.workspace_id = t.workspace_id AND r.scope_id = t.workspace_id AND r.dimension = 'task'
    AND r.key = t.id::text AND r.grain = 'day') u
CROSS JOIN LATERAL (
  SELECT ARRAY(SELECT DISTINCT n.agent_id::text FROM task_runs n
    WHERE n.workspace_id = t.workspace_id AND n.task_id = t.id ORDER BY 1) AS agents) a

-- usage_read_view_begin
SELECT coalesce(min(l.seq) - 1, (SELECT position FROM usage_rollup_progress)) AS position
FROM workspaces w CROSS JOIN LATERAL (
  SELECT n.seq FROM agent_usage_logs n
  WHERE n.workspace_id = w.id AND n.logged_at >= now() - interval '1 day'
  ORDER BY n.logged_at LIMIT 1) l

-- usage_read_workspace_views
SELECT w.id AS workspace_id, coalesce(u.tokens, 0)::text AS total_tokens, coalesce(u.cost, 0)::text AS total_cost_usd,
  to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS last_updated,
  coalesce(a.alerts, '[]') AS alerts
FROM unnest($1::uuid[]) AS w (id)
CROSS JOIN LATERAL (
  SELECT sum(r.input_tokens + r.output_tokens + r.cache_read_tokens + r.cache_write_tokens) AS tokens,
    trim_scale(sum(r.cost_usd)) AS cost
  FROM usage_rollups r
  WHERE r.workspace_id = w.id AND r.scope_id = w.id AND r.dimension = 'total' AND r.grain = 'month') u
CROSS JOIN LATERAL (
  SELECT jsonb_agg(jsonb_build_object('task_id', b.task_id, 'scope', b.scope, 'scope_id', b.scope_id, 'budget_id', b.id,
    'level', CASE b.reached_percent WHEN 100 THEN 'critical' ELSE 'warning' END, 'percent_used', b.percent,
    'message', CASE b.reached_percent WHEN 100 THEN 'The budget of the ' || CASE b.scope WHEN 'global' THEN 'workspace' ELSE b.scope END || ' is used up'
      ELSE b.reached_percent || ' % of the budget of the ' || CASE b.scope WHEN 'global' THEN 'workspace' ELSE b.scope END || ' is used' END) ORDER BY b.percent DESC, b.id) AS alerts
  FROM (
    SELECT n.*, CASE WHEN n.allocated = 0 THEN 100 ELSE trunc(n.consumed * 100.0 / n.allocated) END AS percent
    FROM usage_budgets n
    WHERE n.workspace_id = w.id AND n.reached_percent > 0 AND n.period_start <= now() AND now() < n.period_end
    ORDER BY percent DESC, n.id LIMIT 100) b) a

-- usage_rebuild_days
INSERT INTO usage_rollups (workspace_id, scope_id, dimension, key, grain, day, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost_usd, reports, reports_without_price)
SELECT workspace_id, scope_id, dimension, key, grain, day, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost_usd, reports, reports_without_price FROM (SELECT c.workspace_id, c.scope_id, c.dimension, c.key, 'day' AS grain, c.day, sum(c.input_tokens) AS input_tokens, sum(c.output_tokens) AS output_tokens, sum(c.cache_read_tokens) AS cache_read_tokens, sum(c.cache_write_tokens) AS cache_write_tokens, sum(c.cost_usd) AS cost_usd, sum(c.reports) AS reports, sum(c.reports_without_price) AS reports_without_price
  FROM (
    SELECT l.workspace_id, s.scope_id, d.dimension, d.key, (l.logged_at AT TIME ZONE 'UTC')::date AS day, l.input_tokens, l.output_tokens, l.cache_read_tokens, l.cache_write_tokens, coalesce(l.cost_usd, 0) AS cost_usd,
    1 AS reports, (l.cost_usd IS NULL)::int AS reports_without_price
    FROM agent_usage_logs l
    CROSS JOIN LATERAL (VALUES ('total', '-'), ('agent', l.agent_id::text), ('task', l.task_id::text), ('project', coalesce(l.project_id::text, '-')), ('model', l.model)) AS d (dimension, key)
    CROSS JOIN LATERAL (
      SELECT l.workspace_id AS scope_id UNION ALL SELECT l.project_id WHERE l.project_id IS NOT NULL) s
    WHERE l.workspace_id = $1 AND l.seq <= $3
      AND l.logged_at >= $2::timestamp AT TIME ZONE 'UTC'
      AND l.logged_at < ($2::timestamp + interval '1 month') AT TIME ZONE 'UTC') c
  GROUP BY 1, 2, 3, 4, 6) d
WHERE day >= coalesce((SELECT since FROM usage_logs_kept WHERE workspace_id = $1), '-infinity')

-- usage_rebuild_month
INSERT INTO usage_rollups (workspace_id, scope_id, dimension, key, grain, day, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost_usd, reports, reports_without_price)
SELECT m.workspace_id, m.scope_id, m.dimension, m.key, 'month' AS grain,
    date_trunc('month', m.day)::date AS day, sum(m.input_tokens) AS input_tokens, sum(m.output_tokens) AS output_tokens, sum(m.cache_read_tokens) AS cache_read_tokens, sum(m.cache_write_tokens) AS cache_write_tokens, sum(m.cost_usd) AS cost_usd, sum(m.reports) AS reports, sum(m.reports_without_price) AS reports_without_price
  FROM usage_rollups m
  WHERE m.dimension <> 'task' AND m.workspace_id = $1 AND m.grain = 'day' AND m.day >= $2::date AND m.day < $2::date + interval '1 month'
  GROUP BY 1, 2, 3, 4, 6

-- usage_roll_up_reports
WITH follower AS MATERIALIZED (
  SELECT p.id, p.position FROM usage_rollup_progress p
  WHERE pg_snapshot_xmin(pg_current_snapshot()) >= $2::xid8 AND p.position < $1
  FOR NO KEY UPDATE SKIP LOCKED
),
report AS MATERIALIZED (
  SELECT l.* FROM follower f CROSS JOIN LATERAL (
    SELECT n.* FROM agent_usage_logs n WHERE n.seq > f.position AND n.seq <= $1 ORDER BY n.seq LIMIT $3) l
),
daily AS MATERIALIZED (
  SELECT c.workspace_id, c.scope_id, c.dimension, c.key, 'day' AS grain, c.day, sum(c.input_tokens) AS input_tokens, sum(c.output_tokens) AS output_tokens, sum(c.cache_read_tokens) AS cache_read_tokens, sum(c.cache_write_tokens) AS cache_write_tokens, sum(c.cost_usd) AS cost_usd, sum(c.reports) AS reports, sum(c.reports_without_price) AS reports_without_price
  FROM (
    SELECT l.workspace_id, s.scope_id, d.dimension, d.key, (l.logged_at AT TIME ZONE 'UTC')::date AS day, l.input_tokens, l.output_tokens, l.cache_read_tokens, l.cache_write_tokens, coalesce(l.cost_usd, 0) AS cost_usd,
    1 AS reports, (l.cost_usd IS NULL)::int AS reports_without_price
    FROM report l
    CROSS JOIN LATERAL (VALUES ('total', '-'), ('agent', l.agent_id::text), ('task', l.task_id::text), ('project', coalesce(l.project_id::text, '-')), ('model', l.model)) AS d (dimension, key)
    CROSS JOIN LATERAL (
      SELECT l.workspace_id AS scope_id UNION ALL SELECT l.project_id WHERE l.project_id IS NOT NULL) s
    WHERE true) c
  GROUP BY 1, 2, 3, 4, 6
),
added AS (
  INSERT INTO usage_rollups AS r (workspace_id, scope_id, dimension, key, grain, day, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost_usd, reports, reports_without_price)
  SELECT workspace_id, scope_id, dimension, key, grain, day, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost_usd, reports, reports_without_price FROM daily
  UNION ALL
  SELECT m.workspace_id, m.scope_id, m.dimension, m.key, 'month' AS grain,
    date_trunc('month', m.day)::date AS day, sum(m.input_tokens) AS input_tokens, sum(m.output_tokens) AS output_tokens, sum(m.cache_read_tokens) AS cache_read_tokens, sum(m.cache_write_tokens) AS cache_write_tokens, sum(m.cost_usd) AS cost_usd, sum(m.reports) AS reports, sum(m.reports_without_price) AS reports_without_price
  FROM daily m
  WHERE m.dimension <> 'task' AND true
  GROUP BY 1, 2, 3, 4, 6
  ON CONFLICT (workspace_id, scope_id, dimension, key, grain, day) DO UPDATE SET
    input_tokens = r.input_tokens + excluded.input_tokens, output_tokens = r.output_tokens + excluded.output_tokens, cache_read_tokens = r.cache_read_tokens + excluded.cache_read_tokens, cache_write_tokens = r.cache_write_tokens + excluded.cache_write_tokens, cost_usd = r.cost_usd + excluded.cost_usd, reports = r.reports + excluded.reports, reports_without_price = r.reports_without_price + excluded.reports_without_price
),
counted AS (
  SELECT count(*)::int AS reports, max(seq) AS last FROM report
)
UPDATE usage_rollup_progress p SET position = CASE WHEN c.reports < $3 THEN $1 ELSE c.last END
FROM follower f, counted c
WHERE p.id = f.id
RETURNING p.position, c.reports AS added

-- usage_tell_budget_alerts
WITH untold AS MATERIALIZED (
  SELECT b.workspace_id, b.id, b.scope, b.scope_id, b.task_id, b.allocated, b.consumed, b.reached_percent,
    b.alerted_percent, CASE WHEN b.allocated = 0 THEN 100 ELSE trunc(b.consumed * 100.0 / b.allocated) END AS percent
  FROM usage_budgets b
  WHERE b.reached_percent <> b.alerted_percent AND ($2::uuid IS NULL OR b.workspace_id = $2)
  ORDER BY b.workspace_id, b.id
  LIMIT $1
  FOR NO KEY UPDATE SKIP LOCKED
),
noted AS (
  UPDATE usage_budgets b SET alerted_percent = u.reached_percent FROM untold u
  WHERE b.workspace_id = u.workspace_id AND b.id = u.id
),
told AS (
  INSERT INTO journal (workspace_id, event, log_event, task_id, level, message, details, actor_kind)
  SELECT u.workspace_id, 'budget.alert', CASE WHEN u.task_id IS NOT NULL THEN 'budget_alert' END, u.task_id,
    CASE s.step WHEN 100 THEN 'ERROR' ELSE 'WARN' END, CASE s.step WHEN 100 THEN 'The budget of the ' || CASE u.scope WHEN 'global' THEN 'workspace' ELSE u.scope END || ' is used up'
      ELSE s.step || ' % of the budget of the ' || CASE u.scope WHEN 'global' THEN 'workspace' ELSE u.scope END || ' is used' END,
    jsonb_build_object('level', CASE s.step WHEN 100 THEN 'critical' ELSE 'warning' END, 'threshold', s.step, 'percentUsed', u.percent,
      'scope', u.scope, 'scopeId', u.scope_id, 'budgetId', u.id, 'allocated', u.allocated::text,
      'consumed', u.consumed::text), 'system'
  FROM untold u
  JOIN (VALUES (50::smallint), (75::smallint), (90::smallint), (100::smallint)) AS s (step) ON s.step > u.alerted_percent AND s.step <= u.reached_percent
  ORDER BY u.workspace_id, u.id, s.step
  RETURNING (details ->> 'budgetId')::uuid AS budget_id
)
SELECT u.workspace_id, u.task_id, u.id AS budget_id, count(t.budget_id)::int AS told
FROM untold u LEFT JOIN told t ON t.budget_id = u.id
GROUP BY 1, 2, 3

-- workspaces_with_completions
SELECT w.id FROM workspaces w
WHERE w.archived_at IS NULL AND EXISTS (SELECT FROM agent_tasks t
  WHERE t.workspace_id = w.id AND t.completed_at > now() - make_interval(secs => $1::float8))

-- write_model_routing
INSERT INTO model_routing AS r (workspace_id, enabled, rules, tiers)
SELECT $1, $2, $3, $4
WHERE coalesce($5::int, 0) IN (0, (SELECT version FROM model_routing WHERE workspace_id = $1))
ON CONFLICT (workspace_id) DO UPDATE SET enabled = excluded.enabled, rules = excluded.rules,
  tiers = excluded.tiers, version = r.version + 1, updated_at = now()
WHERE $5::int IS NULL OR r.version = $5
RETURNING enabled, rules, tiers, version

-- write_throttles
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
SELECT * FROM ended UNION ALL SELECT * FROM written
