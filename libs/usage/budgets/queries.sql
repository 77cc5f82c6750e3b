-- The statements as they run. Made by `npm run generate`; change the modules that declare them.

-- apply_settlement
WITH run_charged AS (
  UPDATE task_runs r SET used_tokens = r.used_tokens + u.tokens,
    used_cost_usd = r.used_cost_usd + u.cost, held_tokens = u.held,
    request_holds = coalesce(u.requests, r.request_holds)
  FROM jsonb_to_recordset($2::jsonb) AS u ("runId" uuid, tokens bigint, cost numeric, held bigint,
    requests jsonb)
  WHERE r.workspace_id = $1 AND r.id = u."runId"
)
UPDATE usage_budgets b SET consumed = b.consumed + u.consumed,
  reserved = greatest(b.reserved + u.reserved, 0), updated_at = now()
FROM jsonb_to_recordset($3::jsonb) AS u (id uuid, consumed bigint, reserved bigint)
WHERE b.workspace_id = $1 AND b.id = u.id

-- burn_of_budget
SELECT b.workspace_id, b.id, b.project_id, b.version, now() AS now, b.period_start,
  b.period_end, b.consumed, b.remaining, b.available, h.max_runs, h.since AS throttled_since, (
  SELECT coalesce(jsonb_object_agg(h.ago, u.tokens::text), '{}') FROM generate_series(0, 47) AS h (ago) CROSS JOIN LATERAL (
    SELECT sum(l.total_tokens) AS tokens FROM agent_usage_logs l
    WHERE l.workspace_id = b.workspace_id AND l.logged_at > now() - (h.ago + 1) * interval '1 hour'
      AND l.logged_at <= now() - h.ago * interval '1 hour'
      AND (b.project_id IS NULL OR l.project_id = b.project_id)
      AND (b.milestone_id IS NULL OR l.milestone_id = b.milestone_id)
      AND (b.task_id IS NULL OR l.task_id = b.task_id)) u
  WHERE u.tokens > 0) AS hourly
FROM usage_budgets b
LEFT JOIN workspace_throttles h
  ON h.workspace_id = b.workspace_id AND h.scope_id = b.scope_id AND h.budget_id = b.id
WHERE b.workspace_id = $1 AND b.id = $2

-- burn_of_wide_budgets
WITH budget AS MATERIALIZED (
  SELECT b.workspace_id, b.id, b.project_id, b.version, now() AS now, b.period_start,
  b.period_end, b.consumed, b.remaining, b.available
  FROM usage_budgets b JOIN workspaces w ON w.id = b.workspace_id AND w.archived_at IS NULL
  WHERE b.milestone_id IS NULL AND b.task_id IS NULL AND (b.period_start <= now() AND b.covers_until > now())
    AND ($1::uuid IS NULL OR b.workspace_id = $1)
),
used AS MATERIALIZED (
  SELECT w.workspace_id, h.ago, u.*
  FROM (SELECT DISTINCT workspace_id FROM budget) w CROSS JOIN generate_series(0, 47) AS h (ago)
  CROSS JOIN LATERAL (
    SELECT l.project_id, sum(l.total_tokens) AS tokens FROM agent_usage_logs l
    WHERE l.workspace_id = w.workspace_id AND l.logged_at > now() - (h.ago + 1) * interval '1 hour'
      AND l.logged_at <= now() - h.ago * interval '1 hour'
    GROUP BY 1) u
)
SELECT b.*, (
  SELECT coalesce(jsonb_object_agg(u.ago, u.tokens::text), '{}') FROM (
    SELECT u.ago, sum(u.tokens) AS tokens FROM used u
    WHERE u.workspace_id = b.workspace_id
      AND (b.project_id IS NULL OR u.project_id = b.project_id)
    GROUP BY 1) u) AS hourly
FROM budget b

-- change_budget
WITH wanted AS MATERIALIZED (
  SELECT c.workspace_id, c.id, c.project_id, c.milestone_id, c.task_id,
    coalesce(p.period_start, $4, c.period_start) AS period_start,
    coalesce(p.period_end, $5, c.period_end) AS period_end,
    CASE WHEN NOT $10::boolean THEN coalesce($8, c.every) END AS every,
    CASE WHEN NOT $10::boolean THEN coalesce($9, c.time_zone) END AS time_zone,
    CASE WHEN NOT $10::boolean THEN coalesce(a.first_start, c.first_start) END AS first_start,
    num_nonnulls($4::timestamptz, $5::timestamptz, $8::text) > 0
      OR $10::boolean AND c.every IS NOT NULL AS is_moved
  FROM usage_budgets c CROSS JOIN LATERAL (
    SELECT coalesce($4::timestamptz AT TIME ZONE $9::text,
      date_trunc($8::text, now() AT TIME ZONE $9::text)) AS first_start) a
  CROSS JOIN LATERAL budget_period(a.first_start, $8::text, $9::text,
    greatest(now(), a.first_start AT TIME ZONE $9::text)) p
  WHERE c.workspace_id = $1 AND c.id = $2
),
changed AS (
  UPDATE usage_budgets b SET allocated = coalesce($3, b.allocated), period_start = n.period_start,
    period_end = n.period_end, policy = coalesce($6, b.policy), version = b.version + 1,
    updated_at = now(), every = n.every, time_zone = n.time_zone, first_start = n.first_start,
    renewed_allocation = CASE WHEN n.every IS NOT NULL
      THEN coalesce($3, b.renewed_allocation, b.allocated) END,
    due_at = CASE WHEN n.is_moved THEN CASE WHEN n.every IS NULL THEN n.period_end
    - least((n.period_end - n.period_start) / 10, interval '3 days') ELSE n.period_end END ELSE b.due_at END,
    consumed = CASE WHEN n.is_moved THEN (SELECT coalesce(sum(l.total_tokens), 0) FROM agent_usage_logs l
    WHERE l.workspace_id = n.workspace_id
      AND l.logged_at >= n.period_start AND l.logged_at < n.period_end
      AND (n.project_id IS NULL OR l.project_id = n.project_id)
      AND (n.milestone_id IS NULL OR l.milestone_id = n.milestone_id)
      AND (n.task_id IS NULL OR l.task_id = n.task_id)) ELSE b.consumed END
  FROM wanted n
  WHERE b.workspace_id = n.workspace_id AND b.id = n.id AND ($7::int IS NULL OR b.version = $7)
  RETURNING b.*
)
SELECT b.id, b.scope, b.scope_id, CASE b.scope
    WHEN 'project' THEN (SELECT p.name FROM projects p
      WHERE p.workspace_id = b.workspace_id AND p.id = b.project_id)
    WHEN 'milestone' THEN (SELECT m.name FROM milestones m
      WHERE m.workspace_id = b.workspace_id AND m.id = b.milestone_id)
    WHEN 'task' THEN (SELECT t.title FROM agent_tasks t
      WHERE t.workspace_id = b.workspace_id AND t.id = b.task_id)
  END AS scope_name, b.allocated, b.reserved, b.consumed, b.remaining, b.available, b.period_start,
  b.period_end, b.every, b.time_zone, b.renewed_allocation, b.policy, (b.period_start <= now() AND b.covers_until > now()) AS is_active, b.version, b.created_at,
  b.updated_at FROM changed b

-- find_budget
SELECT b.id, b.scope, b.scope_id, CASE b.scope
    WHEN 'project' THEN (SELECT p.name FROM projects p
      WHERE p.workspace_id = b.workspace_id AND p.id = b.project_id)
    WHEN 'milestone' THEN (SELECT m.name FROM milestones m
      WHERE m.workspace_id = b.workspace_id AND m.id = b.milestone_id)
    WHEN 'task' THEN (SELECT t.title FROM agent_tasks t
      WHERE t.workspace_id = b.workspace_id AND t.id = b.task_id)
  END AS scope_name, b.allocated, b.reserved, b.consumed, b.remaining, b.available, b.period_start,
  b.period_end, b.every, b.time_zone, b.renewed_allocation, b.policy, (b.period_start <= now() AND b.covers_until > now()) AS is_active, b.version, b.created_at,
  b.updated_at FROM usage_budgets b WHERE b.workspace_id = $1 AND b.id = $2

-- find_scope
SELECT $2::uuid AS id
WHERE $1 = $2 OR EXISTS (SELECT FROM projects WHERE workspace_id = $1 AND id = $2)
  OR EXISTS (SELECT FROM milestones WHERE workspace_id = $1 AND id = $2)
  OR EXISTS (SELECT FROM agent_tasks WHERE workspace_id = $1 AND id = $2)

-- insert_budget
INSERT INTO usage_budgets AS b (workspace_id, id, project_id, milestone_id, task_id, allocated,
  period_start, period_end, policy, every, time_zone, first_start, renewed_allocation, consumed,
  due_at)
SELECT n.*, (SELECT coalesce(sum(l.total_tokens), 0) FROM agent_usage_logs l
    WHERE l.workspace_id = n.workspace_id
      AND l.logged_at >= n.period_start AND l.logged_at < n.period_end
      AND (n.project_id IS NULL OR l.project_id = n.project_id)
      AND (n.milestone_id IS NULL OR l.milestone_id = n.milestone_id)
      AND (n.task_id IS NULL OR l.task_id = n.task_id)), CASE WHEN n.every IS NULL THEN n.period_end
    - least((n.period_end - n.period_start) / 10, interval '3 days') ELSE n.period_end END
FROM (SELECT $1::uuid AS workspace_id, $2::uuid AS id, $3::uuid AS project_id,
  $4::uuid AS milestone_id, $5::uuid AS task_id, $6::bigint AS allocated,
  coalesce(p.period_start, $7::timestamptz) AS period_start,
  coalesce(p.period_end, $8::timestamptz) AS period_end, $9::text AS policy, $10::text AS every,
  $11::text AS time_zone, a.first_start,
  CASE WHEN $10::text IS NOT NULL THEN $6::bigint END AS renewed_allocation
  FROM LATERAL (
    SELECT coalesce($7::timestamptz AT TIME ZONE $11::text,
      date_trunc($10::text, now() AT TIME ZONE $11::text)) AS first_start) a
  CROSS JOIN LATERAL budget_period(a.first_start, $10::text, $11::text,
    greatest(now(), a.first_start AT TIME ZONE $11::text)) p) n
RETURNING b.id, b.scope, b.scope_id, CASE b.scope
    WHEN 'project' THEN (SELECT p.name FROM projects p
      WHERE p.workspace_id = b.workspace_id AND p.id = b.project_id)
    WHEN 'milestone' THEN (SELECT m.name FROM milestones m
      WHERE m.workspace_id = b.workspace_id AND m.id = b.milestone_id)
    WHEN 'task' THEN (SELECT t.title FROM agent_tasks t
      WHERE t.workspace_id = b.workspace_id AND t.id = b.task_id)
  END AS scope_name, b.allocated, b.reserved, b.consumed, b.remaining, b.available, b.period_start,
  b.period_end, b.every, b.time_zone, b.renewed_allocation, b.policy, (b.period_start <= now() AND b.covers_until > now()) AS is_active, b.version, b.created_at,
  b.updated_at

-- list_budgets
SELECT b.id, b.scope, b.scope_id, CASE b.scope
    WHEN 'project' THEN (SELECT p.name FROM projects p
      WHERE p.workspace_id = b.workspace_id AND p.id = b.project_id)
    WHEN 'milestone' THEN (SELECT m.name FROM milestones m
      WHERE m.workspace_id = b.workspace_id AND m.id = b.milestone_id)
    WHEN 'task' THEN (SELECT t.title FROM agent_tasks t
      WHERE t.workspace_id = b.workspace_id AND t.id = b.task_id)
  END AS scope_name, b.allocated, b.reserved, b.consumed, b.remaining, b.available, b.period_start,
  b.period_end, b.every, b.time_zone, b.renewed_allocation, b.policy, (b.period_start <= now() AND b.covers_until > now()) AS is_active, b.version, b.created_at,
  b.updated_at FROM usage_budgets b
WHERE b.workspace_id = $1 AND ($2::text IS NULL OR b.scope = $2)
  AND ($3::uuid IS NULL OR b.scope_id = $3)
  AND (NOT $4::boolean OR (b.period_start <= now() AND b.covers_until > now())) AND ($5::uuid IS NULL OR b.id < $5)
ORDER BY b.id DESC
LIMIT $6

-- lock_agents_of_runs
SELECT FROM agents a WHERE a.workspace_id = $1 AND a.id = ANY ($2::uuid[])
ORDER BY a.id FOR NO KEY UPDATE

-- lock_asking_runs
WITH task AS MATERIALIZED (
  SELECT t.id, t.project_id, t.milestone_id, t.estimated_tokens, t.run_id FROM agent_tasks t
  WHERE t.workspace_id = $1 AND t.id IN (
    SELECT r.task_id FROM task_runs r WHERE r.workspace_id = $1 AND r.id = ANY ($2::uuid[]))
  ORDER BY t.id
  FOR NO KEY UPDATE
)
SELECT r.id AS run_id, r.task_id, r.agent_id, t.project_id, t.milestone_id, t.estimated_tokens,
  r.held_tokens, r.budget_ids, r.state IN ('ASSIGNED', 'WORKING', 'STALE') AS is_live,
  r.state IN ('ASSIGNED', 'WORKING', 'STALE') AND t.run_id IS NOT DISTINCT FROM r.id AS is_current, r.used_tokens,
  coalesce(r.estimated_tokens, 0) AS first_held, r.request_holds, r.wanted_tokens,
  (SELECT w.allowed_models FROM workspaces w WHERE w.id = $1) AS workspace_models,
  (SELECT p.allowed_models FROM projects p
    WHERE p.workspace_id = $1 AND p.id = t.project_id) AS project_models
FROM task_runs r JOIN task t ON t.id = r.task_id
WHERE r.workspace_id = $1 AND r.id = ANY ($2::uuid[])
ORDER BY r.id
FOR NO KEY UPDATE OF r

-- lock_budgets
SELECT b.id, b.scope, b.scope_id, CASE b.scope
    WHEN 'project' THEN (SELECT p.name FROM projects p
      WHERE p.workspace_id = b.workspace_id AND p.id = b.project_id)
    WHEN 'milestone' THEN (SELECT m.name FROM milestones m
      WHERE m.workspace_id = b.workspace_id AND m.id = b.milestone_id)
    WHEN 'task' THEN (SELECT t.title FROM agent_tasks t
      WHERE t.workspace_id = b.workspace_id AND t.id = b.task_id)
  END AS scope_name, b.allocated, b.reserved, b.consumed, b.remaining, b.available, b.period_start,
  b.period_end, b.every, b.time_zone, b.renewed_allocation, b.policy, (b.period_start <= now() AND b.covers_until > now()) AS is_active, b.version, b.created_at,
  b.updated_at FROM usage_budgets b
WHERE b.workspace_id = $1 AND b.id = ANY ($2::uuid[]) ORDER BY b.id FOR NO KEY UPDATE

-- lock_charged_budgets
SELECT b.id, b.scope, b.scope_id, b.allocated, b.consumed, b.reserved, b.policy,
  (b.period_start <= now() AND b.covers_until > now()) AS is_active
FROM usage_budgets b
WHERE b.workspace_id = $1 AND b.id IN (
  SELECT c.id FROM usage_budgets c
  WHERE c.workspace_id = $1 AND c.scope_id = ANY ($2::uuid[]) AND (c.period_start <= now() AND c.covers_until > now())
  UNION ALL
  SELECT unnest($3::uuid[]))
ORDER BY b.id
FOR NO KEY UPDATE

-- lock_used_runs
WITH task AS MATERIALIZED (
  SELECT t.id, t.project_id, t.milestone_id, t.estimated_tokens, t.run_id FROM agent_tasks t
  WHERE t.workspace_id = $1 AND t.id IN (
    SELECT r.task_id FROM task_runs r WHERE r.workspace_id = $1 AND r.id = ANY ($2::uuid[]))
  ORDER BY t.id
  FOR NO KEY UPDATE
)
SELECT r.id AS run_id, r.task_id, r.agent_id, t.project_id, t.milestone_id, t.estimated_tokens,
  r.held_tokens, r.budget_ids, r.state IN ('ASSIGNED', 'WORKING', 'STALE') AS is_live,
  r.state IN ('ASSIGNED', 'WORKING', 'STALE') AND t.run_id IS NOT DISTINCT FROM r.id AS is_current, r.used_tokens,
  coalesce(r.estimated_tokens, 0) AS first_held, r.request_holds, r.wanted_tokens
FROM task_runs r JOIN task t ON t.id = r.task_id
WHERE r.workspace_id = $1 AND r.id = ANY ($2::uuid[])
ORDER BY r.id
FOR NO KEY UPDATE OF r

-- move_allocation
UPDATE usage_budgets b
SET allocated = b.allocated + CASE WHEN b.id = $2 THEN -$4::bigint ELSE $4::bigint END,
  version = b.version + 1, updated_at = now()
WHERE b.workspace_id = $1 AND b.id IN ($2, $3)
RETURNING b.id, b.scope, b.scope_id, CASE b.scope
    WHEN 'project' THEN (SELECT p.name FROM projects p
      WHERE p.workspace_id = b.workspace_id AND p.id = b.project_id)
    WHEN 'milestone' THEN (SELECT m.name FROM milestones m
      WHERE m.workspace_id = b.workspace_id AND m.id = b.milestone_id)
    WHEN 'task' THEN (SELECT t.title FROM agent_tasks t
      WHERE t.workspace_id = b.workspace_id AND t.id = b.task_id)
  END AS scope_name, b.allocated, b.reserved, b.consumed, b.remaining, b.available, b.period_start,
  b.period_end, b.every, b.time_zone, b.renewed_allocation, b.policy, (b.period_start <= now() AND b.covers_until > now()) AS is_active, b.version, b.created_at,
  b.updated_at

-- outdated_throttles
SELECT DISTINCT h.workspace_id FROM workspace_throttles h
JOIN usage_budgets b ON b.workspace_id = h.workspace_id AND b.id = h.budget_id
WHERE b.version <> h.budget_version AND ($2::uuid IS NULL OR h.workspace_id = $2)
LIMIT $1

-- read_run_budgets
SELECT b.id, b.scope, b.scope_id, b.allocated, b.consumed, b.reserved, b.policy, true AS is_active
FROM task_runs r JOIN agent_tasks t ON t.workspace_id = r.workspace_id AND t.id = r.task_id
JOIN usage_budgets b ON b.workspace_id = t.workspace_id AND b.scope_id = ANY (ARRAY[t.workspace_id, t.project_id, t.milestone_id, t.id])
  AND (b.period_start <= now() AND b.covers_until > now())
WHERE r.workspace_id = $1 AND r.id = $2
ORDER BY b.id

-- read_run_use
SELECT r.id AS run_id, r.task_id, r.state IN ('ASSIGNED', 'WORKING', 'STALE') AS is_live, t.estimated_tokens, r.held_tokens,
  r.used_tokens, trim_scale(r.used_cost_usd) AS used_cost_usd,
  (SELECT sum(o.used_tokens) FROM task_runs o
    WHERE o.workspace_id = t.workspace_id AND o.task_id = t.id) AS task_used_tokens
FROM task_runs r JOIN agent_tasks t ON t.workspace_id = r.workspace_id AND t.id = r.task_id
WHERE r.workspace_id = $1 AND r.id = $2 AND r.agent_id = $3

-- run_hours
SELECT coalesce(sum(u.tokens), 0)::text AS tokens,
  coalesce(sum(greatest(0, extract(epoch FROM least(coalesce(r.ended_at, now()), now())
    - greatest(r.assigned_at, now() - interval '1 day')))), 0)::float8 / 3600 AS run_hours
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

-- usage_due_periods
SELECT b.workspace_id, b.id FROM usage_budgets b
WHERE b.due_at <= now() AND ($2::uuid IS NULL OR b.workspace_id = $2)
ORDER BY b.due_at
LIMIT $1

-- usage_end_periods
WITH due AS MATERIALIZED (
  SELECT b.*, now() >= b.period_end AS has_ended,
    b.every IS NOT NULL AND now() >= b.period_end AS is_renewed,
    b.every IS NOT NULL OR EXISTS (SELECT FROM usage_budgets f
    WHERE f.workspace_id = b.workspace_id AND f.scope_id = b.scope_id AND f.id <> b.id
      AND tstzrange(f.period_start, f.covers_until)
        && tstzrange(b.period_end, b.period_end + interval '1 minute', '[]')) AS is_followed,
    now() >= b.period_end
    - least((b.period_end - b.period_start) / 10, interval '3 days') AS is_near, EXISTS (SELECT FROM agent_tasks t
    WHERE t.workspace_id = b.workspace_id AND t.id = b.task_id AND t.status IN ('COMPLETED', 'ARCHIVED')) AS is_needless
  FROM usage_budgets b
  WHERE b.workspace_id = $1 AND b.id = ANY ($2::uuid[]) AND b.due_at <= now()
  ORDER BY b.id
  FOR NO KEY UPDATE
),
ending AS MATERIALIZED (
  SELECT d.workspace_id, d.id, d.scope, d.scope_id, d.task_id, d.every, d.has_ended, d.is_renewed,
    d.is_followed, d.is_needless, d.has_ended OR (d.is_near AND NOT d.is_followed AND NOT d.is_needless) AS is_told,
    d.allocated, d.consumed - u.late AS consumed, u.next, d.period_start, d.period_end,
    d.renewed_allocation, p.period_start AS next_start, p.period_end AS next_end,
    CASE WHEN d.is_renewed THEN p.period_end WHEN d.has_ended THEN NULL
      WHEN d.every IS NOT NULL OR d.is_near THEN d.period_end ELSE d.period_end
    - least((d.period_end - d.period_start) / 10, interval '3 days') END AS due_at
  FROM due d
  CROSS JOIN LATERAL budget_period(d.first_start, d.every, d.time_zone, now()) p
  CROSS JOIN LATERAL (SELECT coalesce(sum(l.total_tokens), 0)::bigint AS late,
    coalesce(sum(l.total_tokens) FILTER (WHERE l.logged_at >= p.period_start), 0)::bigint AS next
  FROM agent_usage_logs l
  WHERE d.is_renewed AND l.workspace_id = d.workspace_id AND l.logged_at >= d.period_end
    AND (d.project_id IS NULL OR l.project_id = d.project_id)
    AND (d.milestone_id IS NULL OR l.milestone_id = d.milestone_id)
    AND (d.task_id IS NULL OR l.task_id = d.task_id)) u
),
moved AS (
  UPDATE usage_budgets b SET due_at = e.due_at,
    period_start = CASE WHEN e.is_renewed THEN e.next_start ELSE b.period_start END,
    period_end = CASE WHEN e.is_renewed THEN e.next_end ELSE b.period_end END,
    allocated = CASE WHEN e.is_renewed THEN e.renewed_allocation ELSE b.allocated END,
    consumed = CASE WHEN e.is_renewed THEN e.next ELSE b.consumed END,
    version = b.version + e.is_renewed::int,
    updated_at = CASE WHEN e.is_renewed THEN now() ELSE b.updated_at END
  FROM ending e WHERE b.workspace_id = e.workspace_id AND b.id = e.id
),
told AS (
  INSERT INTO journal (workspace_id, event, task_id, level, message, details, actor_kind)
  SELECT e.workspace_id, CASE WHEN e.has_ended THEN 'budget.ended' ELSE 'budget.ending' END,
    e.task_id, CASE WHEN e.is_followed OR e.is_needless THEN 'INFO' ELSE 'WARN' END, 'The budget of the ' || CASE e.scope WHEN 'global' THEN 'workspace' ELSE e.scope END
    || CASE WHEN e.is_renewed THEN ' began its next period'
      WHEN NOT e.has_ended THEN ' ends soon, and no budget follows'
      WHEN e.is_followed THEN ' ended, and another one follows'
      WHEN e.is_needless THEN ' ended after its task'
      ELSE ' ended, and no budget follows: usage has no limit' END,
    jsonb_build_object('scope', e.scope, 'scopeId', e.scope_id, 'budgetId', e.id,
      'allocated', e.allocated::text, 'consumed', e.consumed::text,
      'periodStart', to_char(e.period_start AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'periodEnd', to_char(e.period_end AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
      'followedBy',
      CASE WHEN e.is_renewed THEN 'renewal' WHEN e.is_followed THEN 'budget' ELSE 'nothing' END),
    'coordinator'
  FROM ending e WHERE e.is_told
  ORDER BY e.id
)
SELECT workspace_id, task_id, has_ended FROM ending WHERE is_told

-- usage_list_budget_alerts
SELECT id, created_at, details ->> 'level' AS level, (details ->> 'threshold')::int AS threshold,
  (details ->> 'percentUsed')::bigint AS percent_used, details ->> 'allocated' AS allocated,
  details ->> 'consumed' AS consumed, message
FROM journal
WHERE workspace_id = $1 AND event = 'budget.alert' AND details ->> 'budgetId' = $2
  AND ($3::bigint IS NULL OR id < $3)
ORDER BY id DESC
LIMIT $4

-- usage_list_past_periods
SELECT id, details ->> 'periodStart' AS period_start, details ->> 'periodEnd' AS period_end,
  details ->> 'allocated' AS allocated, details ->> 'consumed' AS consumed
FROM journal
WHERE workspace_id = $1 AND event = 'budget.ended' AND details ->> 'budgetId' = $2
  AND ($3::bigint IS NULL OR id < $3)
ORDER BY id DESC
LIMIT $4

-- usage_lost_after
SELECT k.since::timestamp AT TIME ZONE 'UTC' AS since FROM usage_logs_kept k
WHERE k.workspace_id = $1 AND k.since::timestamp AT TIME ZONE 'UTC' > $2::timestamptz

-- usage_read_reported_tasks
WITH report AS MATERIALIZED (
  SELECT workspace_id, task_id, seq, logged_at FROM agent_usage_logs
  WHERE seq > $1 AND seq <= (SELECT position FROM usage_rollup_progress) ORDER BY seq LIMIT $2
),
bound AS (
  SELECT CASE WHEN count(*) < $2 THEN (SELECT position FROM usage_rollup_progress)
    ELSE max(seq) END AS position
  FROM report
)
SELECT b.position, t.workspace_id, t.task_id, t.seconds
FROM bound b LEFT JOIN (
  SELECT workspace_id, task_id,
    ceil(3600 - extract(epoch FROM now() - max(logged_at)))::int AS seconds
  FROM report GROUP BY 1, 2) t ON true

-- usage_read_task_views
SELECT t.id AS task_id, b.allocated::text AS allocated,
  coalesce(b.consumed::numeric, u.tokens, 0)::text AS consumed,
  b.remaining::text AS remaining, a.agents
FROM unnest($1::uuid[], $2::uuid[]) AS t (workspace_id, id)
LEFT JOIN LATERAL (
  SELECT n.allocated, n.consumed, n.remaining FROM usage_budgets n
  WHERE n.workspace_id = t.workspace_id AND n.scope_id = t.id
    AND (n.period_start <= now() AND n.covers_until > now())) b ON true
CROSS JOIN LATERAL (
  SELECT sum(r.input_tokens + r.output_tokens + r.cache_read_tokens + r.cache_write_tokens) AS tokens FROM usage_rollups r
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
SELECT w.id AS workspace_id, coalesce(u.tokens, 0)::text AS total_tokens,
  coalesce(u.cost, 0)::text AS total_cost_usd,
  to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS last_updated,
  coalesce(a.alerts, '[]') AS alerts
FROM unnest($1::uuid[]) AS w (id)
CROSS JOIN LATERAL (
  SELECT sum(r.input_tokens + r.output_tokens + r.cache_read_tokens + r.cache_write_tokens) AS tokens, trim_scale(sum(r.cost_usd)) AS cost
  FROM usage_rollups r
  WHERE r.workspace_id = w.id AND r.scope_id = w.id AND r.dimension = 'total'
    AND r.grain = 'month') u
CROSS JOIN LATERAL (
  SELECT jsonb_agg(jsonb_build_object('task_id', b.task_id, 'scope', b.scope,
    'scope_id', b.scope_id, 'budget_id', b.id, 'level', CASE b.reached_percent WHEN 100 THEN 'critical' ELSE 'warning' END,
    'percent_used', b.percent, 'message', CASE b.reached_percent WHEN 100 THEN 'The budget of the ' || CASE b.scope WHEN 'global' THEN 'workspace' ELSE b.scope END || ' is used up'
      ELSE b.reached_percent || ' % of the budget of the ' || CASE b.scope WHEN 'global' THEN 'workspace' ELSE b.scope END || ' is used' END)
    ORDER BY b.percent DESC, b.id) AS alerts
  FROM (
    SELECT n.*, CASE WHEN n.allocated = 0 THEN 100
    ELSE trunc(n.consumed * 100.0 / n.allocated) END AS percent
    FROM usage_budgets n
    WHERE n.workspace_id = w.id AND n.reached_percent > 0 AND (n.period_start <= now() AND n.covers_until > now())
    ORDER BY percent DESC, n.id LIMIT 100) b) a

-- usage_tell_budget_alerts
WITH untold AS MATERIALIZED (
  SELECT b.workspace_id, b.id, b.scope, b.scope_id, b.task_id, b.allocated, b.consumed,
    b.reached_percent, b.alerted_percent, CASE WHEN b.allocated = 0 THEN 100
    ELSE trunc(b.consumed * 100.0 / b.allocated) END AS percent
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
  SELECT u.workspace_id, 'budget.alert',
    CASE WHEN u.task_id IS NOT NULL THEN 'budget_alert' END, u.task_id,
    CASE s.step WHEN 100 THEN 'ERROR' ELSE 'WARN' END, CASE s.step WHEN 100 THEN 'The budget of the ' || CASE u.scope WHEN 'global' THEN 'workspace' ELSE u.scope END || ' is used up'
      ELSE s.step || ' % of the budget of the ' || CASE u.scope WHEN 'global' THEN 'workspace' ELSE u.scope END || ' is used' END,
    jsonb_build_object('level', CASE s.step WHEN 100 THEN 'critical' ELSE 'warning' END, 'threshold', s.step,
      'percentUsed', u.percent, 'scope', u.scope, 'scopeId', u.scope_id, 'budgetId', u.id,
      'allocated', u.allocated::text, 'consumed', u.consumed::text), 'system'
  FROM untold u
  JOIN (VALUES (50::smallint), (75::smallint), (90::smallint), (100::smallint)) AS s (step)
    ON s.step > u.alerted_percent AND s.step <= u.reached_percent
  ORDER BY u.workspace_id, u.id, s.step
  RETURNING (details ->> 'budgetId')::uuid AS budget_id
)
SELECT u.workspace_id, u.task_id, u.id AS budget_id, count(t.budget_id)::int AS told
FROM untold u LEFT JOIN told t ON t.budget_id = u.id
GROUP BY 1, 2, 3

-- write_request_holds
WITH run_holding AS (
  UPDATE task_runs r SET request_holds = u.requests, held_tokens = u.held, budget_ids = u."heldOf",
    wanted_tokens = u.wanted
  FROM jsonb_to_recordset($2::jsonb)
    AS u ("runId" uuid, requests jsonb, held bigint, "heldOf" uuid[], wanted bigint)
  WHERE r.workspace_id = $1 AND r.id = u."runId"
)
UPDATE usage_budgets b SET reserved = greatest(b.reserved + u.reserved, 0), updated_at = now()
FROM jsonb_to_recordset($3::jsonb) AS u (id uuid, reserved bigint)
WHERE b.workspace_id = $1 AND b.id = u.id AND u.reserved <> 0

-- write_throttles
WITH wanted AS MATERIALIZED (
  SELECT w.*, coalesce(w.project_id, w.workspace_id) AS scope_id
  FROM jsonb_to_recordset($2::jsonb) AS w
    (workspace_id uuid, project_id uuid, budget_id uuid, budget_version int, max_runs int,
    reason text)
),
ended AS (
  DELETE FROM workspace_throttles h
  WHERE ($1::uuid IS NULL OR h.workspace_id = $1)
    AND NOT EXISTS (SELECT FROM wanted w
      WHERE w.workspace_id = h.workspace_id AND w.scope_id = h.scope_id)
  RETURNING h.workspace_id, h.project_id, h.budget_id, NULL::int AS max_runs, h.max_runs AS before
),
written AS (
  INSERT INTO workspace_throttles AS h
    (workspace_id, project_id, budget_id, budget_version, max_runs, reason)
  SELECT workspace_id, project_id, budget_id, budget_version, max_runs, reason FROM wanted
  ON CONFLICT (workspace_id, scope_id) DO UPDATE
  SET budget_id = excluded.budget_id, budget_version = excluded.budget_version,
    max_runs = excluded.max_runs, reason = excluded.reason
  WHERE (h.budget_id, h.budget_version, h.max_runs, h.reason) IS DISTINCT FROM
    (excluded.budget_id, excluded.budget_version, excluded.max_runs, excluded.reason)
  RETURNING h.workspace_id, h.project_id, h.budget_id, h.max_runs, old.max_runs AS before,
    (old.budget_id, old.max_runs, old.reason)
      IS DISTINCT FROM (h.budget_id, h.max_runs, h.reason) AS differs
)
SELECT * FROM ended UNION ALL
SELECT workspace_id, project_id, budget_id, max_runs, before FROM written WHERE differs
