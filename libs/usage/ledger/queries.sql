-- The statements as they run. Made by `npm run generate`; change the modules that declare them.

-- close_ledger
SELECT pg_advisory_xact_lock(hashtextextended('usage of ' || $1::text, 0))

-- costs_of_projects
WITH chosen AS MATERIALIZED (
  SELECT t.id, coalesce(t.project_id, '00000000-0000-0000-0000-000000000000'::uuid) AS place, (t.status = 'COMPLETED' OR (t.status = 'ARCHIVED' AND t.completed_at IS NOT NULL)) AS completed
  FROM agent_tasks t
  WHERE t.workspace_id = $1 AND ((t.status = 'COMPLETED' OR (t.status = 'ARCHIVED' AND t.completed_at IS NOT NULL)) OR (t.status = 'FAILED' OR (t.status = 'ABORTED' AND t.retry_at IS NULL)
  OR (t.status = 'ARCHIVED' AND t.completed_at IS NULL)))
    AND (t.completed_at >= $2 AND t.completed_at < $3 OR t.completed_at IS NULL
      AND coalesce(t.failed_at, t.aborted_at) >= $2 AND coalesce(t.failed_at, t.aborted_at) < $3) AND ($5::uuid IS NULL OR t.project_id > $5)
),
page AS MATERIALIZED (
  SELECT DISTINCT place FROM chosen ORDER BY place LIMIT $4
),
used AS MATERIALIZED (
  SELECT c.place, c.completed, count(r.id)::int AS runs, sum(r.used_tokens) AS tokens,
    sum(r.used_cost_usd) AS cost, sum(r.used_tokens) FILTER (WHERE r.state = 'FAILED' OR NOT c.completed) AS failed_tokens,
    sum(r.used_cost_usd) FILTER (WHERE r.state = 'FAILED' OR NOT c.completed) AS failed_cost
  FROM page JOIN chosen c ON c.place = page.place
  LEFT JOIN task_runs r ON r.workspace_id = $1 AND r.task_id = c.id
  GROUP BY c.id, c.place, c.completed
),
summed AS (
  SELECT place, count(*) FILTER (WHERE completed)::int AS tasks,
    count(*) FILTER (WHERE NOT completed)::int AS failed_tasks, sum(runs) AS runs,
    sum(tokens) AS tokens, sum(cost) AS cost, sum(failed_tokens) AS failed_tokens,
    sum(failed_cost) AS failed_cost,
    percentile_disc(ARRAY[0.1, 0.5, 0.9]) WITHIN GROUP (ORDER BY coalesce(tokens, 0))
      FILTER (WHERE completed) AS token_quantiles,
    percentile_disc(ARRAY[0.1, 0.5, 0.9]) WITHIN GROUP (ORDER BY coalesce(cost, 0))
      FILTER (WHERE completed) AS cost_quantiles
  FROM used GROUP BY place
)
SELECT NULL AS task_id, NULL AS title, NULL AS task_type, NULL::timestamptz AS completed_at,
  NULL AS completed_us, nullif(u.place, '00000000-0000-0000-0000-000000000000'::uuid) AS project_id, p.name AS project_name,
  u.tasks, u.failed_tasks, coalesce(u.runs, 0)::int AS runs, coalesce(u.tokens, 0)::text AS used_tokens,
  trim_scale(coalesce(u.cost, 0))::text AS cost_usd,
  coalesce(u.failed_tokens, 0)::text AS failed_tokens,
  trim_scale(coalesce(u.failed_cost, 0))::text AS failed_cost_usd,
  round(coalesce(u.tokens, 0) / nullif(u.tasks, 0))::text AS tokens_per_outcome,
  trim_scale(round(coalesce(u.cost, 0) / nullif(u.tasks, 0), 12))::text AS cost_per_outcome,
  u.token_quantiles::text[], ARRAY(SELECT trim_scale(q)::text
    FROM unnest(u.cost_quantiles) WITH ORDINALITY AS c (q, n) ORDER BY n) AS cost_quantiles
FROM summed u
LEFT JOIN projects p ON p.workspace_id = $1 AND p.id = u.place
ORDER BY u.place

-- costs_of_tasks
WITH page AS MATERIALIZED (
  SELECT t.workspace_id, t.id, t.completed_at FROM agent_tasks t
  WHERE t.workspace_id = $1 AND t.completed_at >= $2 AND t.completed_at < $3
    AND ($5::bigint IS NULL OR (t.completed_at, t.id)
      < ('epoch'::timestamptz + $5::bigint * interval '1 microsecond', $6::uuid))
  ORDER BY t.completed_at DESC, t.id DESC
  LIMIT $4
)
SELECT t.id AS task_id, t.title, t.task_type, t.completed_at,
  (extract(epoch FROM t.completed_at) * 1000000)::bigint::text AS completed_us, t.project_id,
  p.name AS project_name, 1 AS tasks, 0 AS failed_tasks, coalesce(u.runs, 0)::int AS runs, coalesce(u.tokens, 0)::text AS used_tokens,
  trim_scale(coalesce(u.cost, 0))::text AS cost_usd,
  coalesce(u.failed_tokens, 0)::text AS failed_tokens,
  trim_scale(coalesce(u.failed_cost, 0))::text AS failed_cost_usd,
  coalesce(u.tokens, 0)::text AS tokens_per_outcome,
  trim_scale(coalesce(u.cost, 0))::text AS cost_per_outcome,
  NULL::text[] AS token_quantiles, NULL::text[] AS cost_quantiles
FROM page JOIN agent_tasks t ON t.workspace_id = page.workspace_id AND t.id = page.id
LEFT JOIN projects p ON p.workspace_id = t.workspace_id AND p.id = t.project_id
CROSS JOIN LATERAL (
  SELECT count(r.id)::int AS runs, sum(r.used_tokens) AS tokens,
    sum(r.used_cost_usd) AS cost, sum(r.used_tokens) FILTER (WHERE r.state = 'FAILED' OR NOT true) AS failed_tokens,
    sum(r.used_cost_usd) FILTER (WHERE r.state = 'FAILED' OR NOT true) AS failed_cost
  FROM task_runs r WHERE r.workspace_id = t.workspace_id AND r.task_id = t.id) u
ORDER BY page.completed_at DESC, page.id DESC

-- insert_usage
INSERT INTO agent_usage_logs (workspace_id, run_id, id, task_id, agent_id, project_id, milestone_id,
  model, operation, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost_usd,
  reported_cost_usd, reasoning_tokens, time_to_first_token_ms, estimated)
SELECT $1, u.run_id, u.id, u.task_id, u.agent_id, u.project_id, u.milestone_id, u.model,
  u.operation, u.input_tokens, u.output_tokens, u.cache_read_tokens, u.cache_write_tokens,
  u.cost_usd, u.reported_cost_usd, u.reasoning_tokens, u.time_to_first_token_ms, u.estimated
FROM jsonb_to_recordset($2::jsonb) AS u (run_id uuid, id text, task_id uuid, agent_id uuid,
  project_id uuid, milestone_id uuid, model text, operation text, input_tokens bigint,
  output_tokens bigint, cache_read_tokens bigint, cache_write_tokens bigint, cost_usd numeric,
  reported_cost_usd numeric, reasoning_tokens bigint, time_to_first_token_ms int,
  estimated boolean)

-- known_reports
SELECT l.run_id, l.id, l.model, l.operation, l.input_tokens, l.output_tokens, l.cache_read_tokens,
  l.cache_write_tokens, trim_scale(l.reported_cost_usd) AS reported_cost_usd, l.reasoning_tokens,
  l.time_to_first_token_ms, l.estimated
FROM unnest($2::uuid[], $3::text[]) AS k (run_id, id)
JOIN agent_usage_logs l ON l.workspace_id = $1 AND l.run_id = k.run_id AND l.id = k.id

-- open_ledger
SELECT pg_advisory_xact_lock_shared(hashtextextended('usage of ' || $1::text, 0))

-- read_usage_by_day
WITH part AS (
  SELECT r.day, r.input_tokens, r.output_tokens, r.cache_read_tokens, r.cache_write_tokens, r.cost_usd, r.reports, r.reports_without_price, r.reasoning_tokens, r.estimated_tokens, r.estimated_reports FROM usage_rollups r
  WHERE r.workspace_id = $1 AND r.scope_id = $2 AND r.dimension = $3 AND r.key = $6 AND r.grain = 'day'
    AND r.day >= $4::date AND r.day <= $5::date
  UNION ALL
  SELECT (l.logged_at AT TIME ZONE 'UTC')::date AS day, l.input_tokens, l.output_tokens, l.cache_read_tokens, l.cache_write_tokens, coalesce(l.cost_usd, 0) AS cost_usd,
    1 AS reports, (l.cost_usd IS NULL)::int AS reports_without_price,
    l.reasoning_tokens, CASE WHEN l.estimated THEN l.total_tokens ELSE 0 END
      AS estimated_tokens, l.estimated::int AS estimated_reports FROM agent_usage_logs l
  WHERE l.workspace_id = $1 AND l.seq > (SELECT position FROM usage_rollup_progress)
    AND l.seq <= (SELECT last_value FROM agent_usage_logs_seq)
    AND ($2 = $1 OR l.project_id = $2) AND (l.logged_at AT TIME ZONE 'UTC')::date >= $4::date AND (l.logged_at AT TIME ZONE 'UTC')::date <= $5::date AND CASE $3 WHEN 'total' THEN '-' WHEN 'agent' THEN l.agent_id::text WHEN 'task' THEN l.task_id::text WHEN 'project' THEN coalesce(l.project_id::text, '-') WHEN 'model' THEN l.model END = $6
)
SELECT u.day::text AS key, NULL AS name, u.input_tokens::text, u.output_tokens::text, u.cache_read_tokens::text,
  u.cache_write_tokens::text, (input_tokens + output_tokens + cache_read_tokens + cache_write_tokens)::text AS total_tokens,
  trim_scale(u.cost_usd)::text AS cost_usd, u.reports::text, u.reports_without_price::text,
  u.reasoning_tokens::text, u.estimated_tokens::text, u.estimated_reports::text
FROM (SELECT p.day, sum(p.input_tokens) AS input_tokens, sum(p.output_tokens) AS output_tokens, sum(p.cache_read_tokens) AS cache_read_tokens, sum(p.cache_write_tokens) AS cache_write_tokens, sum(p.cost_usd) AS cost_usd, sum(p.reports) AS reports, sum(p.reports_without_price) AS reports_without_price, sum(p.reasoning_tokens) AS reasoning_tokens, sum(p.estimated_tokens) AS estimated_tokens, sum(p.estimated_reports) AS estimated_reports FROM part p GROUP BY p.day ORDER BY p.day LIMIT $7) u
ORDER BY u.day

-- read_usage_by_key
WITH tail AS MATERIALIZED (
  SELECT CASE $3 WHEN 'total' THEN '-' WHEN 'agent' THEN l.agent_id::text WHEN 'task' THEN l.task_id::text WHEN 'project' THEN coalesce(l.project_id::text, '-') WHEN 'model' THEN l.model END COLLATE "C" AS key, l.input_tokens, l.output_tokens, l.cache_read_tokens, l.cache_write_tokens, coalesce(l.cost_usd, 0) AS cost_usd,
    1 AS reports, (l.cost_usd IS NULL)::int AS reports_without_price,
    l.reasoning_tokens, CASE WHEN l.estimated THEN l.total_tokens ELSE 0 END
      AS estimated_tokens, l.estimated::int AS estimated_reports FROM agent_usage_logs l
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
  WHEN 'agent' THEN (SELECT a.name::text FROM agents a
    WHERE a.workspace_id = $1 AND a.id = u.key::uuid)
  WHEN 'task' THEN (SELECT t.title::text FROM agent_tasks t
    WHERE t.workspace_id = $1 AND t.id = u.key::uuid)
  WHEN 'project' THEN (SELECT p.name::text FROM projects p
    WHERE p.workspace_id = $1 AND p.id = nullif(u.key, '-')::uuid)
  END AS name, u.input_tokens::text, u.output_tokens::text, u.cache_read_tokens::text,
  u.cache_write_tokens::text, (input_tokens + output_tokens + cache_read_tokens + cache_write_tokens)::text AS total_tokens,
  trim_scale(u.cost_usd)::text AS cost_usd, u.reports::text, u.reports_without_price::text,
  u.reasoning_tokens::text, u.estimated_tokens::text, u.estimated_reports::text
FROM (
  SELECT k.key, sum(p.input_tokens) AS input_tokens, sum(p.output_tokens) AS output_tokens, sum(p.cache_read_tokens) AS cache_read_tokens, sum(p.cache_write_tokens) AS cache_write_tokens, sum(p.cost_usd) AS cost_usd, sum(p.reports) AS reports, sum(p.reports_without_price) AS reports_without_price, sum(p.reasoning_tokens) AS reasoning_tokens, sum(p.estimated_tokens) AS estimated_tokens, sum(p.estimated_reports) AS estimated_reports
  FROM page k CROSS JOIN LATERAL (
    SELECT r.input_tokens, r.output_tokens, r.cache_read_tokens, r.cache_write_tokens, r.cost_usd, r.reports, r.reports_without_price, r.reasoning_tokens, r.estimated_tokens, r.estimated_reports FROM usage_rollups r
    WHERE r.workspace_id = $1 AND r.scope_id = $2 AND r.dimension = $3 AND r.key = k.key AND r.grain = 'day' AND r.day >= $4::date AND r.day < $8::date AND $4::date < $8::date
    UNION ALL
    SELECT r.input_tokens, r.output_tokens, r.cache_read_tokens, r.cache_write_tokens, r.cost_usd, r.reports, r.reports_without_price, r.reasoning_tokens, r.estimated_tokens, r.estimated_reports FROM usage_rollups r
    WHERE r.workspace_id = $1 AND r.scope_id = $2 AND r.dimension = $3 AND r.key = k.key AND r.grain = 'month' AND r.day >= $8::date AND r.day < $9::date AND $8::date < $9::date
    UNION ALL
    SELECT r.input_tokens, r.output_tokens, r.cache_read_tokens, r.cache_write_tokens, r.cost_usd, r.reports, r.reports_without_price, r.reasoning_tokens, r.estimated_tokens, r.estimated_reports FROM usage_rollups r
    WHERE r.workspace_id = $1 AND r.scope_id = $2 AND r.dimension = $3 AND r.key = k.key AND r.grain = 'day' AND r.day >= $9::date AND r.day <= $5::date AND $9::date <= $5::date
    UNION ALL
    SELECT t.input_tokens, t.output_tokens, t.cache_read_tokens, t.cache_write_tokens, t.cost_usd, t.reports, t.reports_without_price, t.reasoning_tokens, t.estimated_tokens, t.estimated_reports FROM tail t WHERE t.key = k.key) p
  GROUP BY k.key) u
ORDER BY u.key ASC

-- read_usage_by_local_day
SELECT u.day::text AS key, NULL AS name, u.input_tokens::text, u.output_tokens::text, u.cache_read_tokens::text,
  u.cache_write_tokens::text, (input_tokens + output_tokens + cache_read_tokens + cache_write_tokens)::text AS total_tokens,
  trim_scale(u.cost_usd)::text AS cost_usd, u.reports::text, u.reports_without_price::text,
  u.reasoning_tokens::text, u.estimated_tokens::text, u.estimated_reports::text
FROM (
  SELECT p.day, sum(p.input_tokens) AS input_tokens, sum(p.output_tokens) AS output_tokens, sum(p.cache_read_tokens) AS cache_read_tokens, sum(p.cache_write_tokens) AS cache_write_tokens, sum(p.cost_usd) AS cost_usd, sum(p.reports) AS reports, sum(p.reports_without_price) AS reports_without_price, sum(p.reasoning_tokens) AS reasoning_tokens, sum(p.estimated_tokens) AS estimated_tokens, sum(p.estimated_reports) AS estimated_reports FROM (
    SELECT (l.logged_at AT TIME ZONE $8::text)::date AS day, l.input_tokens, l.output_tokens, l.cache_read_tokens, l.cache_write_tokens, coalesce(l.cost_usd, 0) AS cost_usd,
    1 AS reports, (l.cost_usd IS NULL)::int AS reports_without_price,
    l.reasoning_tokens, CASE WHEN l.estimated THEN l.total_tokens ELSE 0 END
      AS estimated_tokens, l.estimated::int AS estimated_reports
    FROM agent_usage_logs l
    WHERE l.workspace_id = $1 AND ($2 = $1 OR l.project_id = $2) AND CASE $3 WHEN 'total' THEN '-' WHEN 'agent' THEN l.agent_id::text WHEN 'task' THEN l.task_id::text WHEN 'project' THEN coalesce(l.project_id::text, '-') WHEN 'model' THEN l.model END = $6
      AND l.logged_at >= $4::date::timestamp AT TIME ZONE $8::text
      AND l.logged_at < ($5::date + 1)::timestamp AT TIME ZONE $8::text) p
  GROUP BY p.day ORDER BY p.day LIMIT $7) u
ORDER BY u.day

-- read_usage_by_task
WITH tail AS MATERIALIZED (
  SELECT CASE $3 WHEN 'total' THEN '-' WHEN 'agent' THEN l.agent_id::text WHEN 'task' THEN l.task_id::text WHEN 'project' THEN coalesce(l.project_id::text, '-') WHEN 'model' THEN l.model END COLLATE "C" AS key, l.input_tokens, l.output_tokens, l.cache_read_tokens, l.cache_write_tokens, coalesce(l.cost_usd, 0) AS cost_usd,
    1 AS reports, (l.cost_usd IS NULL)::int AS reports_without_price,
    l.reasoning_tokens, CASE WHEN l.estimated THEN l.total_tokens ELSE 0 END
      AS estimated_tokens, l.estimated::int AS estimated_reports FROM agent_usage_logs l
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
  WHEN 'agent' THEN (SELECT a.name::text FROM agents a
    WHERE a.workspace_id = $1 AND a.id = u.key::uuid)
  WHEN 'task' THEN (SELECT t.title::text FROM agent_tasks t
    WHERE t.workspace_id = $1 AND t.id = u.key::uuid)
  WHEN 'project' THEN (SELECT p.name::text FROM projects p
    WHERE p.workspace_id = $1 AND p.id = nullif(u.key, '-')::uuid)
  END AS name, u.input_tokens::text, u.output_tokens::text, u.cache_read_tokens::text,
  u.cache_write_tokens::text, (input_tokens + output_tokens + cache_read_tokens + cache_write_tokens)::text AS total_tokens,
  trim_scale(u.cost_usd)::text AS cost_usd, u.reports::text, u.reports_without_price::text,
  u.reasoning_tokens::text, u.estimated_tokens::text, u.estimated_reports::text
FROM (
  SELECT k.key, sum(p.input_tokens) AS input_tokens, sum(p.output_tokens) AS output_tokens, sum(p.cache_read_tokens) AS cache_read_tokens, sum(p.cache_write_tokens) AS cache_write_tokens, sum(p.cost_usd) AS cost_usd, sum(p.reports) AS reports, sum(p.reports_without_price) AS reports_without_price, sum(p.reasoning_tokens) AS reasoning_tokens, sum(p.estimated_tokens) AS estimated_tokens, sum(p.estimated_reports) AS estimated_reports
  FROM page k CROSS JOIN LATERAL (
    SELECT r.input_tokens, r.output_tokens, r.cache_read_tokens, r.cache_write_tokens, r.cost_usd, r.reports, r.reports_without_price, r.reasoning_tokens, r.estimated_tokens, r.estimated_reports FROM usage_rollups r
    WHERE r.workspace_id = $1 AND r.scope_id = $2 AND r.dimension = $3 AND r.key = k.key AND r.grain = 'day' AND r.day >= $4::date AND r.day <= $5::date
    UNION ALL
    SELECT t.input_tokens, t.output_tokens, t.cache_read_tokens, t.cache_write_tokens, t.cost_usd, t.reports, t.reports_without_price, t.reasoning_tokens, t.estimated_tokens, t.estimated_reports FROM tail t WHERE t.key = k.key) p
  GROUP BY k.key) u
ORDER BY u.key DESC

-- report_estimates
WITH chosen AS MATERIALIZED (
  SELECT t.id, t.task_type, t.project_id, t.estimated_tokens, t.generation
  FROM agent_tasks t WHERE t.workspace_id = $1 AND t.completed_at >= $2 AND t.completed_at < $3
),
used AS (
  SELECT r.task_id, count(r.id)::int AS runs, sum(r.used_tokens) AS tokens,
    sum(r.used_cost_usd) AS cost,
    max(r.estimated_tokens) FILTER (WHERE r.generation = c.generation) AS estimated
  FROM chosen c JOIN task_runs r ON r.workspace_id = $1 AND r.task_id = c.id
  GROUP BY r.task_id
),
task AS (
  SELECT c.task_type, c.project_id, coalesce(u.estimated, c.estimated_tokens) AS estimated,
    u.tokens, coalesce(u.tokens, 0) > 0 AS known
  FROM chosen c LEFT JOIN used u ON u.task_id = c.id
)
SELECT grouping(task_type) = 1 AS is_total, task_type, project_id, count(*)::int AS tasks,
  count(*) FILTER (WHERE NOT known)::int AS unreported,
  coalesce(sum(estimated) FILTER (WHERE known), 0)::text AS estimated_tokens,
  coalesce(sum(tokens) FILTER (WHERE known), 0)::text AS used_tokens,
  round((percentile_cont(0.5) WITHIN GROUP (ORDER BY (tokens / nullif(estimated, 0))::float8)
    FILTER (WHERE known))::numeric, 4)::float8 AS median_ratio,
  round(avg((abs(tokens - estimated) <= 0.2 * estimated)::int) FILTER (WHERE known), 4)::float8
    AS within_20_percent
FROM task
GROUP BY GROUPING SETS ((), (task_type, project_id))
ORDER BY is_total DESC, tasks DESC, task_type, project_id
LIMIT $4

-- usage_draw_horizon
SELECT pg_current_xact_id()::text AS xid

-- usage_first_kept_day
SELECT f.day::text FROM usage_logs_kept k CROSS JOIN LATERAL (
  SELECT (k.since::timestamp AT TIME ZONE 'UTC' AT TIME ZONE $3::text
    + interval '1 day' - interval '1 microsecond')::date AS day) f
WHERE k.workspace_id = $1 AND f.day > $2::date

-- usage_forget_rollups
DELETE FROM usage_rollups
WHERE workspace_id = $1
  AND (grain = 'month' AND day = $2::date OR grain = 'day' AND day >= $2::date AND day < $2::date + interval '1 month' AND day >= coalesce(
    (SELECT since FROM usage_logs_kept WHERE workspace_id = $1), '-infinity'))

-- usage_lock_rollups
SELECT position FROM usage_rollup_progress FOR NO KEY UPDATE

-- usage_of_task
SELECT $3::uuid IS NULL OR r.id IS NOT NULL AS has_run, l.*
FROM agent_tasks t
LEFT JOIN task_runs r ON r.workspace_id = t.workspace_id AND r.id = $3::uuid
LEFT JOIN LATERAL (
  SELECT u.id, u.run_id, u.agent_id, u.model, u.operation, u.input_tokens, u.output_tokens,
    u.cache_read_tokens, u.cache_write_tokens, u.total_tokens, u.reasoning_tokens,
    trim_scale(u.cost_usd)::text AS cost_usd,
    trim_scale(u.reported_cost_usd)::text AS reported_cost_usd, u.time_to_first_token_ms,
    u.estimated, u.logged_at,
    (extract(epoch FROM u.logged_at) * 1000000)::bigint::text AS logged_us, u.seq::text AS seq
  FROM agent_usage_logs u
  WHERE u.workspace_id = t.workspace_id AND u.task_id = t.id
    AND ($3::uuid IS NULL OR u.run_id = $3)
    AND ($4::bigint IS NULL OR (u.logged_at, u.seq)
      < ('epoch'::timestamptz + $4::bigint * interval '1 microsecond', $5::bigint))
  ORDER BY u.logged_at DESC, u.seq DESC
  LIMIT $6) l ON true
WHERE t.workspace_id = $1 AND t.id = $2
ORDER BY l.logged_at DESC, l.seq::bigint DESC

-- usage_prune_reports
WITH bound AS MATERIALIZED (
  SELECT w.id AS workspace_id, (date_trunc('day', least(now() - make_interval(days => $1),
    (SELECT min(b.period_start) FROM usage_budgets b
      WHERE b.workspace_id = w.id AND b.covers_until > now())) AT TIME ZONE 'UTC'))::date AS since
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

-- usage_read_rollup_months
SELECT w.id AS workspace_id, m::date::text AS month
FROM workspaces w
LEFT JOIN usage_logs_kept k ON k.workspace_id = w.id
CROSS JOIN LATERAL (
  SELECT greatest(k.since, least(
    (SELECT min(l.logged_at AT TIME ZONE 'UTC')::date FROM agent_usage_logs l
      WHERE l.workspace_id = w.id),
    (SELECT min(r.day) FROM usage_rollups r
      WHERE r.workspace_id = w.id AND r.scope_id = w.id))) AS day) f
CROSS JOIN LATERAL generate_series(
  date_trunc('month', f.day::timestamp), now() AT TIME ZONE 'UTC', '1 month') m
WHERE f.day IS NOT NULL
ORDER BY 1, 2

-- usage_read_rollup_progress
SELECT coalesce(pg_sequence_last_value('agent_usage_logs_seq'), 0) AS last, p.position FROM usage_rollup_progress p

-- usage_rebuild_days
INSERT INTO usage_rollups (workspace_id, scope_id, dimension, key, grain, day,
  input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost_usd, reports, reports_without_price, reasoning_tokens, estimated_tokens, estimated_reports)
SELECT workspace_id, scope_id, dimension, key, grain, day,
  input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost_usd, reports, reports_without_price, reasoning_tokens, estimated_tokens, estimated_reports FROM (SELECT c.workspace_id, c.scope_id, c.dimension, c.key, 'day' AS grain, c.day, sum(c.input_tokens) AS input_tokens, sum(c.output_tokens) AS output_tokens, sum(c.cache_read_tokens) AS cache_read_tokens, sum(c.cache_write_tokens) AS cache_write_tokens, sum(c.cost_usd) AS cost_usd, sum(c.reports) AS reports, sum(c.reports_without_price) AS reports_without_price, sum(c.reasoning_tokens) AS reasoning_tokens, sum(c.estimated_tokens) AS estimated_tokens, sum(c.estimated_reports) AS estimated_reports
  FROM (
    SELECT l.workspace_id, s.scope_id, d.dimension, d.key, (l.logged_at AT TIME ZONE 'UTC')::date AS day,
      l.input_tokens, l.output_tokens, l.cache_read_tokens, l.cache_write_tokens, coalesce(l.cost_usd, 0) AS cost_usd,
    1 AS reports, (l.cost_usd IS NULL)::int AS reports_without_price,
    l.reasoning_tokens, CASE WHEN l.estimated THEN l.total_tokens ELSE 0 END
      AS estimated_tokens, l.estimated::int AS estimated_reports
    FROM agent_usage_logs l
    CROSS JOIN LATERAL (VALUES ('total', '-'),
      ('agent', l.agent_id::text),
      ('task', l.task_id::text),
      ('project', coalesce(l.project_id::text, '-')),
      ('model', l.model)) AS d (dimension, key)
    CROSS JOIN LATERAL (
      SELECT l.workspace_id AS scope_id
      UNION ALL SELECT l.project_id WHERE l.project_id IS NOT NULL) s
    WHERE l.workspace_id = $1 AND l.seq <= $3
      AND l.logged_at >= $2::timestamp AT TIME ZONE 'UTC'
      AND l.logged_at < ($2::timestamp + interval '1 month') AT TIME ZONE 'UTC') c
  GROUP BY 1, 2, 3, 4, 6) d
WHERE day >= coalesce(
    (SELECT since FROM usage_logs_kept WHERE workspace_id = $1), '-infinity')

-- usage_rebuild_month
INSERT INTO usage_rollups (workspace_id, scope_id, dimension, key, grain, day,
  input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost_usd, reports, reports_without_price, reasoning_tokens, estimated_tokens, estimated_reports)
SELECT m.workspace_id, m.scope_id, m.dimension, m.key, 'month' AS grain,
    date_trunc('month', m.day)::date AS day, sum(m.input_tokens) AS input_tokens, sum(m.output_tokens) AS output_tokens, sum(m.cache_read_tokens) AS cache_read_tokens, sum(m.cache_write_tokens) AS cache_write_tokens, sum(m.cost_usd) AS cost_usd, sum(m.reports) AS reports, sum(m.reports_without_price) AS reports_without_price, sum(m.reasoning_tokens) AS reasoning_tokens, sum(m.estimated_tokens) AS estimated_tokens, sum(m.estimated_reports) AS estimated_reports
  FROM usage_rollups m
  WHERE m.dimension <> 'task' AND m.workspace_id = $1 AND m.grain = 'day'
    AND m.day >= $2::date AND m.day < $2::date + interval '1 month'
  GROUP BY 1, 2, 3, 4, 6

-- usage_roll_up_reports
WITH follower AS MATERIALIZED (
  SELECT p.id, p.position FROM usage_rollup_progress p
  WHERE pg_snapshot_xmin(pg_current_snapshot()) >= $2::xid8 AND p.position < $1
  FOR NO KEY UPDATE SKIP LOCKED
),
report AS MATERIALIZED (
  SELECT l.* FROM follower f CROSS JOIN LATERAL (
    SELECT n.* FROM agent_usage_logs n WHERE n.seq > f.position AND n.seq <= $1
    ORDER BY n.seq LIMIT $3) l
),
daily AS MATERIALIZED (
  SELECT c.workspace_id, c.scope_id, c.dimension, c.key, 'day' AS grain, c.day, sum(c.input_tokens) AS input_tokens, sum(c.output_tokens) AS output_tokens, sum(c.cache_read_tokens) AS cache_read_tokens, sum(c.cache_write_tokens) AS cache_write_tokens, sum(c.cost_usd) AS cost_usd, sum(c.reports) AS reports, sum(c.reports_without_price) AS reports_without_price, sum(c.reasoning_tokens) AS reasoning_tokens, sum(c.estimated_tokens) AS estimated_tokens, sum(c.estimated_reports) AS estimated_reports
  FROM (
    SELECT l.workspace_id, s.scope_id, d.dimension, d.key, (l.logged_at AT TIME ZONE 'UTC')::date AS day,
      l.input_tokens, l.output_tokens, l.cache_read_tokens, l.cache_write_tokens, coalesce(l.cost_usd, 0) AS cost_usd,
    1 AS reports, (l.cost_usd IS NULL)::int AS reports_without_price,
    l.reasoning_tokens, CASE WHEN l.estimated THEN l.total_tokens ELSE 0 END
      AS estimated_tokens, l.estimated::int AS estimated_reports
    FROM report l
    CROSS JOIN LATERAL (VALUES ('total', '-'),
      ('agent', l.agent_id::text),
      ('task', l.task_id::text),
      ('project', coalesce(l.project_id::text, '-')),
      ('model', l.model)) AS d (dimension, key)
    CROSS JOIN LATERAL (
      SELECT l.workspace_id AS scope_id
      UNION ALL SELECT l.project_id WHERE l.project_id IS NOT NULL) s
    WHERE true) c
  GROUP BY 1, 2, 3, 4, 6
),
added AS (
  INSERT INTO usage_rollups AS r (workspace_id, scope_id, dimension, key, grain, day,
  input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost_usd, reports, reports_without_price, reasoning_tokens, estimated_tokens, estimated_reports)
  SELECT workspace_id, scope_id, dimension, key, grain, day,
  input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost_usd, reports, reports_without_price, reasoning_tokens, estimated_tokens, estimated_reports FROM daily
  UNION ALL
  SELECT m.workspace_id, m.scope_id, m.dimension, m.key, 'month' AS grain,
    date_trunc('month', m.day)::date AS day, sum(m.input_tokens) AS input_tokens, sum(m.output_tokens) AS output_tokens, sum(m.cache_read_tokens) AS cache_read_tokens, sum(m.cache_write_tokens) AS cache_write_tokens, sum(m.cost_usd) AS cost_usd, sum(m.reports) AS reports, sum(m.reports_without_price) AS reports_without_price, sum(m.reasoning_tokens) AS reasoning_tokens, sum(m.estimated_tokens) AS estimated_tokens, sum(m.estimated_reports) AS estimated_reports
  FROM daily m
  WHERE m.dimension <> 'task' AND true
  GROUP BY 1, 2, 3, 4, 6
  ON CONFLICT (workspace_id, scope_id, dimension, key, grain, day) DO UPDATE SET
    input_tokens = r.input_tokens + excluded.input_tokens,
    output_tokens = r.output_tokens + excluded.output_tokens,
    cache_read_tokens = r.cache_read_tokens + excluded.cache_read_tokens,
    cache_write_tokens = r.cache_write_tokens + excluded.cache_write_tokens,
    cost_usd = r.cost_usd + excluded.cost_usd,
    reports = r.reports + excluded.reports,
    reports_without_price = r.reports_without_price + excluded.reports_without_price,
    reasoning_tokens = r.reasoning_tokens + excluded.reasoning_tokens,
    estimated_tokens = r.estimated_tokens + excluded.estimated_tokens,
    estimated_reports = r.estimated_reports + excluded.estimated_reports
),
counted AS (
  SELECT count(*)::int AS reports, max(seq) AS last FROM report
)
UPDATE usage_rollup_progress p SET position = CASE WHEN c.reports < $3 THEN $1 ELSE c.last END
FROM follower f, counted c
WHERE p.id = f.id
RETURNING p.position, c.reports AS added
