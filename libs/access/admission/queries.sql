-- The statements as they run. Made by `npm run generate`; change the modules that declare them.

-- end_installation_pause
UPDATE installation_pauses SET ended_at = now(), ended_by = $2 WHERE id = $1 AND ended_at IS NULL
RETURNING id, 'everything' AS scope, NULL::text AS task_type, reason, paused_by, created_at,
  until, ended_at, ended_by, ends_runs, NULL::uuid AS paused_by_key, NULL::uuid AS ended_by_key

-- end_overdue_pauses
WITH own AS (
  UPDATE pauses SET ended_at = until WHERE ended_at IS NULL AND until <= now() RETURNING workspace_id),
installation AS (
  UPDATE installation_pauses SET ended_at = until WHERE ended_at IS NULL AND until <= now() RETURNING id)
SELECT workspace_id FROM own UNION SELECT NULL FROM installation

-- end_pause
UPDATE pauses SET ended_at = now(), ended_by = $3, ended_by_key = $4
WHERE workspace_id = $1 AND id = $2 AND ended_at IS NULL
RETURNING id, CASE WHEN task_type IS NULL THEN 'workspace' ELSE 'task_type' END AS scope,
  task_type::text, reason, paused_by, created_at, until, ended_at, ended_by, ends_runs, paused_by_key, ended_by_key

-- fill_allowances
WITH own AS (
  INSERT INTO spawn_allowances AS s (workspace_id, tokens)
  SELECT l.workspace_id, l.spawns_per_minute FROM workspace_limits l
  WHERE l.workspace_id = ANY($1::uuid[]) AND l.spawns_per_minute IS NOT NULL
  ORDER BY l.workspace_id
  ON CONFLICT (workspace_id) DO UPDATE SET tokens = least(excluded.tokens, s.tokens + greatest(0, extract(epoch FROM now() - s.filled_at)) * excluded.tokens / 60.0), filled_at = now()
  RETURNING workspace_id, tokens),
installation AS (
  INSERT INTO installation_spawn_allowance AS s (id, tokens) SELECT 1, $2::float8 WHERE $2::float8 > 0
  ON CONFLICT (id) DO UPDATE SET tokens = least(excluded.tokens, s.tokens + greatest(0, extract(epoch FROM now() - s.filled_at)) * excluded.tokens / 60.0), filled_at = now()
  RETURNING tokens)
SELECT workspace_id, tokens FROM own UNION ALL SELECT NULL, tokens FROM installation

-- find_pause
SELECT id, CASE WHEN task_type IS NULL THEN 'workspace' ELSE 'task_type' END AS scope,
  task_type::text, reason, paused_by, created_at, until, ended_at, ended_by, ends_runs, paused_by_key, ended_by_key FROM pauses WHERE workspace_id = $1 AND id = $2
UNION ALL
SELECT id, 'everything' AS scope, NULL::text AS task_type, reason, paused_by, created_at,
  until, ended_at, ended_by, ends_runs, NULL::uuid AS paused_by_key, NULL::uuid AS ended_by_key FROM installation_pauses WHERE id = $2

-- insert_installation_pause
INSERT INTO installation_pauses (id, reason, paused_by, until, ends_runs)
SELECT $1, $2, $3, $4, $5 WHERE coalesce($4::timestamptz > now(), true)
RETURNING id, 'everything' AS scope, NULL::text AS task_type, reason, paused_by, created_at,
  until, ended_at, ended_by, ends_runs, NULL::uuid AS paused_by_key, NULL::uuid AS ended_by_key

-- insert_pause
INSERT INTO pauses (workspace_id, id, task_type, reason, paused_by, until, paused_by_key, ends_runs)
SELECT $1, $2, $3, $4, $5, $6, $7, $8 WHERE coalesce($6::timestamptz > now(), true)
RETURNING id, CASE WHEN task_type IS NULL THEN 'workspace' ELSE 'task_type' END AS scope,
  task_type::text, reason, paused_by, created_at, until, ended_at, ended_by, ends_runs, paused_by_key, ended_by_key

-- list_pauses
SELECT * FROM (
  SELECT id, CASE WHEN task_type IS NULL THEN 'workspace' ELSE 'task_type' END AS scope,
  task_type::text, reason, paused_by, created_at, until, ended_at, ended_by, ends_runs, paused_by_key, ended_by_key FROM pauses WHERE workspace_id = $1
  UNION ALL
  SELECT id, 'everything' AS scope, NULL::text AS task_type, reason, paused_by, created_at,
  until, ended_at, ended_by, ends_runs, NULL::uuid AS paused_by_key, NULL::uuid AS ended_by_key FROM installation_pauses) p
WHERE ($2::boolean OR (ended_at IS NULL AND (until IS NULL OR until > now())))
  AND ($3::uuid IS NULL OR id < $3)
ORDER BY id DESC
LIMIT $4

-- other_pauses
SELECT id FROM pauses
WHERE workspace_id = $1 AND id <> $2 AND ended_at IS NULL AND (until IS NULL OR until > now())
  AND ($3::text IS NULL OR task_type IS NULL OR task_type = $3)
UNION ALL
SELECT id FROM installation_pauses
WHERE id <> $2 AND ended_at IS NULL AND (until IS NULL OR until > now())
ORDER BY id DESC

-- queue_depth
WITH bound AS MATERIALIZED (
  SELECT coalesce((SELECT l.max_queue_depth FROM workspace_limits l WHERE l.workspace_id = $1), $2::int) AS depth
)
SELECT b.depth AS limit, (SELECT count(*) FROM (
    SELECT FROM agent_tasks t WHERE t.workspace_id = $1 AND t.status = 'PENDING' AND b.depth > 0
    LIMIT b.depth + 1) waiting)::int AS counted
FROM bound b

-- read_limits
SELECT w.id AS workspace_id, l.max_queue_depth, l.spawns_per_minute, l.max_artifact_mb,
  coalesce(l.version, 0) AS version
FROM workspaces w LEFT JOIN workspace_limits l ON l.workspace_id = w.id
WHERE w.id = $1

-- spend_allowances
WITH installation AS (
  UPDATE installation_spawn_allowance SET tokens = greatest(0, tokens - $3::float8))
UPDATE spawn_allowances s SET tokens = greatest(0, s.tokens - n.spent)
FROM unnest($1::uuid[], $2::int[]) AS n (workspace_id, spent)
WHERE s.workspace_id = n.workspace_id
RETURNING s.workspace_id

-- used_up_rates
WITH bucket AS (
  SELECT 'installation' AS scope, $2::float8 AS rate, s.tokens, s.filled_at
  FROM installation_spawn_allowance s WHERE $2::float8 > 0
  UNION ALL
  SELECT 'workspace', l.spawns_per_minute::float8, s.tokens, s.filled_at
  FROM workspace_limits l LEFT JOIN spawn_allowances s ON s.workspace_id = l.workspace_id
  WHERE l.workspace_id = $1 AND l.spawns_per_minute IS NOT NULL
),
filled AS (
  SELECT scope, rate, coalesce(
    least(rate, tokens + extract(epoch FROM now() - filled_at) * rate / 60.0), rate) AS tokens
  FROM bucket
)
SELECT scope, rate::int AS "perMinute",
  CASE WHEN rate > 0 THEN now() + make_interval(secs => (1 - tokens) * 60.0 / rate) END AS "nextAt"
FROM filled WHERE tokens < 1 ORDER BY scope

-- waiting_workspaces
SELECT w.id AS workspace_id FROM workspaces w
WHERE w.archived_at IS NULL AND EXISTS (SELECT FROM agent_tasks t
  WHERE t.workspace_id = w.id AND (t.status = 'PENDING' AND t.unmet_dependencies = 0))

-- write_limits
WITH written AS (
  INSERT INTO workspace_limits AS l (workspace_id, max_queue_depth, spawns_per_minute, max_artifact_mb)
  SELECT w.id, $2, $3, $4 FROM workspaces w
  WHERE w.id = $1 AND coalesce($5::int, 0) IN (0, (SELECT version FROM workspace_limits WHERE workspace_id = $1))
  ON CONFLICT (workspace_id) DO UPDATE SET max_queue_depth = excluded.max_queue_depth,
    spawns_per_minute = excluded.spawns_per_minute, max_artifact_mb = CASE WHEN $6 THEN l.max_artifact_mb ELSE excluded.max_artifact_mb END,
    version = l.version + 1, updated_at = now()
  WHERE $5::int IS NULL OR l.version = $5
  RETURNING l.*, old.spawns_per_minute IS DISTINCT FROM l.spawns_per_minute AS rate_changed),
bucket AS (
  INSERT INTO spawn_allowances (workspace_id, tokens)
  SELECT workspace_id, spawns_per_minute FROM written WHERE rate_changed AND spawns_per_minute IS NOT NULL
  ON CONFLICT (workspace_id) DO UPDATE SET tokens = excluded.tokens, filled_at = now())
SELECT workspace_id, max_queue_depth, spawns_per_minute, max_artifact_mb, version FROM written
