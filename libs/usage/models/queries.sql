-- The statements as they run. Made by `npm run generate`; change the modules that declare them.

-- all_model_prices
SELECT model, tier, effective_from, trim_scale(input_usd)::text AS input_usd,
  trim_scale(output_usd)::text AS output_usd, trim_scale(cache_read_usd)::text AS cache_read_usd,
  trim_scale(cache_write_usd)::text AS cache_write_usd, created_by, created_at FROM model_prices ORDER BY model, effective_from DESC

-- calibrate
WITH RECURSIVE type AS (
  SELECT coalesce((SELECT t.task_type FROM agent_tasks t
    WHERE t.workspace_id = $1 AND t.completed_at > now() - interval '90 days' AND t.task_type >= (SELECT '') ORDER BY t.task_type LIMIT 1),
    (SELECT t.task_type FROM agent_tasks t
    WHERE t.workspace_id = $1 AND t.completed_at > now() - interval '90 days' AND t.task_type IS NOT NULL ORDER BY t.task_type LIMIT 1)) AS task_type
  UNION
  SELECT coalesce((SELECT t.task_type FROM agent_tasks t
    WHERE t.workspace_id = $1 AND t.completed_at > now() - interval '90 days' AND t.task_type > type.task_type ORDER BY t.task_type LIMIT 1),
    (SELECT t.task_type FROM agent_tasks t
    WHERE t.workspace_id = $1 AND t.completed_at > now() - interval '90 days' AND t.task_type IS NOT NULL ORDER BY t.task_type LIMIT 1)) FROM type
),
command AS (
  SELECT coalesce((SELECT t.command_kind FROM agent_tasks t
    WHERE t.workspace_id = $1 AND t.completed_at > now() - interval '90 days' AND t.command_kind >= (SELECT 'command ' || md5(random()::text)) ORDER BY t.command_kind LIMIT 1),
    (SELECT t.command_kind FROM agent_tasks t
    WHERE t.workspace_id = $1 AND t.completed_at > now() - interval '90 days' AND t.command_kind IS NOT NULL ORDER BY t.command_kind LIMIT 1)) AS command_kind
  UNION
  SELECT coalesce((SELECT t.command_kind FROM agent_tasks t
    WHERE t.workspace_id = $1 AND t.completed_at > now() - interval '90 days' AND t.command_kind > command.command_kind ORDER BY t.command_kind LIMIT 1),
    (SELECT t.command_kind FROM agent_tasks t
    WHERE t.workspace_id = $1 AND t.completed_at > now() - interval '90 days' AND t.command_kind IS NOT NULL ORDER BY t.command_kind LIMIT 1)) FROM command
),
used AS MATERIALIZED (
  SELECT t.project_id, coalesce(t.command_kind, t.task_type) AS task_type, t.completed_at, u.used,
    u.used / (t.estimated_complexity * 1794::float8) AS ratio
  FROM (
    SELECT t.*
  FROM (SELECT task_type FROM type LIMIT 1000) type
  CROSS JOIN LATERAL (
    SELECT t.workspace_id, t.id, t.project_id, t.task_type, t.command_kind, t.completed_at,
      t.estimated_complexity
    FROM agent_tasks t
    WHERE t.workspace_id = $1 AND t.completed_at > now() - interval '90 days' AND t.task_type = type.task_type
    ORDER BY t.completed_at DESC LIMIT 500) t
    WHERE t.command_kind IS NULL
    UNION ALL
    SELECT t.*
  FROM (SELECT command_kind FROM command LIMIT 1000) command
  CROSS JOIN LATERAL (
    SELECT t.workspace_id, t.id, t.project_id, t.task_type, t.command_kind, t.completed_at,
      t.estimated_complexity
    FROM agent_tasks t
    WHERE t.workspace_id = $1 AND t.completed_at > now() - interval '90 days' AND t.command_kind = command.command_kind
    ORDER BY t.completed_at DESC LIMIT 100) t) t
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
INSERT INTO estimate_calibrations AS c
  (workspace_id, project_id, task_type, factor, median_used, samples)
SELECT $1, project_id, task_type,
  CASE WHEN count(ratio) >= 5 THEN least(greatest(
    percentile_cont(0.5) WITHIN GROUP (ORDER BY ratio), 0.1),
    10) END,
  least(ceil(percentile_cont(0.5) WITHIN GROUP (ORDER BY used)), 1000000000000000), count(*)
FROM sample
WHERE number <= 50
GROUP BY project_id, task_type
HAVING count(*) >= 5
ON CONFLICT (workspace_id, scope_id, task_type) DO UPDATE
SET factor = excluded.factor, median_used = excluded.median_used, samples = excluded.samples,
  updated_at = now()

-- find_model_price
SELECT model, tier, effective_from, trim_scale(input_usd)::text AS input_usd,
  trim_scale(output_usd)::text AS output_usd, trim_scale(cache_read_usd)::text AS cache_read_usd,
  trim_scale(cache_write_usd)::text AS cache_write_usd, created_by, created_at FROM model_prices
WHERE model = $1 AND effective_from = date_trunc('milliseconds', $2::timestamptz)

-- insert_model_price
INSERT INTO model_prices (model, tier, effective_from, input_usd, output_usd, cache_read_usd,
  cache_write_usd, created_by)
SELECT $1, $2, date_trunc('milliseconds', coalesce($3, now())), $4::numeric, $5::numeric,
  $6::numeric, $7::numeric, $8
WHERE coalesce($3::timestamptz >= now(), true)
ON CONFLICT DO NOTHING
RETURNING model, tier, effective_from, trim_scale(input_usd)::text AS input_usd,
  trim_scale(output_usd)::text AS output_usd, trim_scale(cache_read_usd)::text AS cache_read_usd,
  trim_scale(cache_write_usd)::text AS cache_write_usd, created_by, created_at

-- known_projects
SELECT id FROM projects WHERE workspace_id = $1 AND id = ANY($2::uuid[])

-- list_model_prices
SELECT model, tier, effective_from, trim_scale(input_usd)::text AS input_usd,
  trim_scale(output_usd)::text AS output_usd, trim_scale(cache_read_usd)::text AS cache_read_usd,
  trim_scale(cache_write_usd)::text AS cache_write_usd, created_by, created_at FROM model_prices p
WHERE ($1::text[] IS NULL OR p.model = ANY($1))
  AND ($2::timestamptz IS NULL OR p.effective_from = (
    SELECT max(n.effective_from) FROM model_prices n
    WHERE n.model = p.model AND n.effective_from <= $2))
  AND ($3::text IS NULL OR p.model > $3
    OR (p.model = $3 AND p.effective_from < $4::timestamptz))
ORDER BY p.model, p.effective_from DESC
LIMIT $5

-- prune_old_calibrations
DELETE FROM estimate_calibrations c
USING (
  SELECT workspace_id, scope_id, task_type FROM estimate_calibrations
  WHERE updated_at < now() - make_interval(days => $1::int) LIMIT $2
) old
WHERE c.workspace_id = old.workspace_id AND c.scope_id = old.scope_id AND c.task_type = old.task_type
  AND c.updated_at < now() - make_interval(days => $1::int)
RETURNING c.task_type

-- read_calibrations
SELECT project_id, task_type, factor, median_used FROM estimate_calibrations
WHERE workspace_id = $1
ORDER BY samples DESC, updated_at DESC
LIMIT 10000

-- read_model_routing
SELECT enabled, rules, tiers, fallbacks, version FROM model_routing WHERE workspace_id = $1

-- routing_savings
WITH price AS MATERIALIZED (
  SELECT model, input_usd, output_usd, cache_read_usd, cache_write_usd, effective_from,
    lead(effective_from, 1, 'infinity') OVER (PARTITION BY model ORDER BY effective_from) AS effective_to
  FROM model_prices
),
span AS (
  SELECT effective_from, lead(effective_from, 1, 'infinity') OVER (ORDER BY effective_from) AS effective_to
  FROM (SELECT DISTINCT effective_from FROM model_prices) t
),
dearest AS MATERIALIZED (
  SELECT DISTINCT ON (s.effective_from) s.effective_from, s.effective_to, p.model, p.input_usd,
    p.output_usd, p.cache_read_usd, p.cache_write_usd
  FROM span s JOIN price p
    ON p.effective_from <= s.effective_from AND p.effective_to > s.effective_from
  WHERE s.effective_to > $2 AND s.effective_from < $3
  ORDER BY s.effective_from, p.output_usd DESC, p.input_usd DESC, p.model
),
used AS (
  SELECT l.model, d.effective_from,
    l.cost_usd IS NOT NULL AND d.effective_from IS NOT NULL AS compared,
    sum(l.total_tokens) AS tokens, sum(l.cost_usd) AS actual_usd, sum(l.input_tokens) AS input,
    sum(l.output_tokens) AS output, sum(l.cache_read_tokens) AS cache_read,
    sum(l.cache_write_tokens) AS cache_write
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
    coalesce(sum(0.000001 * (u.input * d.input_usd + u.output * d.output_usd
      + u.cache_read * d.cache_read_usd + u.cache_write * d.cache_write_usd))
      FILTER (WHERE u.compared), 0) AS dearest_usd
  FROM used u LEFT JOIN dearest d USING (effective_from)
  GROUP BY GROUPING SETS ((u.model), ())
)
SELECT model, tokens::text, unpriced_tokens::text, trim_scale(actual_usd)::text AS actual_usd,
  trim_scale(dearest_usd)::text AS dearest_usd,
  trim_scale(dearest_usd - actual_usd)::text AS saved_usd,
  ARRAY(SELECT d.model FROM dearest d GROUP BY d.model ORDER BY min(d.effective_from)) AS dearest_models,
  round(100 * (dearest_usd - actual_usd) / nullif(dearest_usd, 0), 1)::float8 AS saved_percent
FROM summed
ORDER BY is_all, dearest_usd - actual_usd DESC, model

-- workspaces_with_completions
SELECT w.id FROM workspaces w
WHERE w.archived_at IS NULL AND EXISTS (SELECT FROM agent_tasks t
  WHERE t.workspace_id = w.id AND t.completed_at > now() - make_interval(secs => $1::float8))

-- write_model_routing
INSERT INTO model_routing AS r (workspace_id, enabled, rules, tiers, fallbacks)
SELECT $1, $2, $3, $4, $5
WHERE coalesce($6::int, 0) IN (0, (SELECT version FROM model_routing WHERE workspace_id = $1))
ON CONFLICT (workspace_id) DO UPDATE SET enabled = excluded.enabled, rules = excluded.rules,
  tiers = excluded.tiers, fallbacks = excluded.fallbacks, version = r.version + 1, updated_at = now()
WHERE $6::int IS NULL OR r.version = $6
RETURNING enabled, rules, tiers, fallbacks, version
