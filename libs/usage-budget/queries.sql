-- The statements as they run. Made by `npm run sql`; change the modules that declare them.

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
  CROSS JOIN LATERAL (SELECT sum(r.used_tokens)::bigint AS used FROM task_runs r
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
  ceil(percentile_cont(0.5) WITHIN GROUP (ORDER BY used)), count(*)
FROM sample
WHERE number <= 50
GROUP BY project_id, task_type
HAVING count(*) >= 5
ON CONFLICT (workspace_id, scope_id, task_type) DO UPDATE
SET factor = excluded.factor, median_used = excluded.median_used, samples = excluded.samples, updated_at = now()

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

-- read_calibrations
SELECT project_id, task_type, factor, median_used FROM estimate_calibrations
WHERE workspace_id = $1
ORDER BY samples DESC, updated_at DESC
LIMIT 10000

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

-- workspaces_with_completions
SELECT w.id FROM workspaces w
WHERE w.archived_at IS NULL AND EXISTS (SELECT FROM agent_tasks t
  WHERE t.workspace_id = w.id AND t.completed_at > now() - make_interval(secs => $1::float8))

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
