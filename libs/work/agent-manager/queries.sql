-- The statements as they run. Made by `npm run generate`; change the modules that declare them.
-- Left out, because its text depends on the request: agents/list-agents.sql.ts

-- agent_facts
SELECT a.workspace_id, a.id, a.lifecycle, a.heartbeat_interval_seconds, a.stale_threshold_seconds
FROM unnest($1::uuid[], $2::uuid[]) AS asked (workspace_id, id)
JOIN agents a ON a.workspace_id = asked.workspace_id AND a.id = asked.id

-- agent_health
SELECT a.status AS agent_status, a.live_runs, a.max_concurrent_tasks, a.heartbeat_interval_seconds,
  a.stale_threshold_seconds, CASE WHEN h.next_expected_at IS DISTINCT FROM 'infinity' THEN h.status END AS heartbeat_status,
  extract(epoch FROM now() - h.last_seen_at)::float8 AS age_seconds, h.last_seen_at,
  CASE WHEN a.mode = 'pull' OR a.live_runs > 0 THEN nullif(h.next_expected_at, 'infinity') END AS next_expected_at,
  coalesce(
    h.last_seen_at < now() - make_interval(secs => a.stale_threshold_seconds)
    AND CASE WHEN h.next_expected_at = 'infinity' THEN a.mode = 'pull' AND a.live_runs = 0
      ELSE (a.mode = 'pull' OR (a.live_runs > 0 AND EXISTS (SELECT FROM task_runs lr
      WHERE lr.workspace_id = a.workspace_id AND lr.agent_id = a.id AND lr.state IN ('ASSIGNED', 'WORKING', 'STALE')
        AND lr.lease_by_heartbeat))) END, false) AS is_unresponsive, h.current_task_id, h.progress_percent,
  h.current_step, h.memory_mb, h.cpu_percent, h.metadata
FROM agents a
LEFT JOIN agent_heartbeats h ON h.workspace_id = a.workspace_id AND h.agent_id = a.id
WHERE a.workspace_id = $1 AND a.id = $2

-- change_agent
UPDATE agents a SET (name, mode, model, capabilities, task_types, dedicated_to, coordinator_enabled, max_concurrent_tasks, heartbeat_interval_seconds, stale_threshold_seconds, host_name, pid, agent_version, restart_count, boot_id, metadata, command, secrets) = (SELECT x."name", x."mode", x."model", x."capabilities", x."taskTypes", x."dedicatedTo", x."coordinatorEnabled", x."maxConcurrentTasks", x."heartbeatIntervalSeconds", x."staleThresholdSeconds", x."hostName", x."pid", x."agentVersion", x."restartCount", x."bootId", x."metadata", x."command", x."secrets" FROM jsonb_to_record($3::jsonb) AS x ("name" text, "mode" text, "model" text, "capabilities" text[], "taskTypes" text[], "dedicatedTo" text[], "coordinatorEnabled" boolean, "maxConcurrentTasks" integer, "heartbeatIntervalSeconds" integer, "staleThresholdSeconds" integer, "hostName" text, "pid" integer, "agentVersion" text, "restartCount" integer, "bootId" uuid, "metadata" jsonb, "command" text[], "secrets" jsonb)),
     setup_failures = 0, resting_until = NULL, version = a.version + 1, updated_at = now()
   WHERE a.workspace_id = $1 AND a.id = $2

-- end_cooldown
UPDATE agents SET setup_failures = 0, resting_until = NULL, updated_at = now()
WHERE workspace_id = $1 AND id = $2 AND setup_failures > 0
RETURNING id

-- find_agent
SELECT a.workspace_id AS "workspaceId", a.id AS "id", a.name AS "name", a.mode AS "mode", a.model AS "model", a.lifecycle AS "lifecycle", a.live_runs AS "liveRuns", a.status AS "status", a.capabilities AS "capabilities", a.task_types AS "taskTypes", a.dedicated_to AS "dedicatedTo", a.coordinator_enabled AS "coordinatorEnabled", a.max_concurrent_tasks AS "maxConcurrentTasks", a.heartbeat_interval_seconds AS "heartbeatIntervalSeconds", a.stale_threshold_seconds AS "staleThresholdSeconds", a.host_name AS "hostName", a.pid AS "pid", a.agent_version AS "agentVersion", a.restart_count AS "restartCount", a.token_version AS "tokenVersion", a.metadata AS "metadata", a.secrets AS "secrets", a.command AS "command", a.resting_until AS "restingUntil", a.created_by AS "createdBy", a.termination_reason AS "terminationReason", a.draining_at AS "drainingAt", a.error_at AS "errorAt", a.terminated_at AS "terminatedAt", a.version AS "version", a.created_at AS "createdAt", a.updated_at AS "updatedAt", a.boot_id AS "bootId",
  (SELECT h.last_seen_at FROM agent_heartbeats h
    WHERE h.workspace_id = a.workspace_id AND h.agent_id = a.id) AS "lastSeenAt",
  EXISTS (SELECT FROM agent_heartbeats h
    WHERE h.workspace_id = a.workspace_id AND h.agent_id = a.id
      AND h.next_expected_at < 'infinity') AS "hasSentHeartbeat" FROM agents a WHERE a.workspace_id = $1 AND a.id = $2

-- flush_heartbeats
WITH heartbeat AS MATERIALIZED (
  SELECT a.lifecycle, a.heartbeat_interval_seconds, a.stale_threshold_seconds, b.*,
    now() - make_interval(secs => b.age_ms / 1000) AS seen_at
  FROM jsonb_to_recordset($1::jsonb) AS b (workspace_id uuid, agent_id uuid, age_ms float8,
    status text,
    current_task_id uuid, progress_percent int, current_step text, memory_mb int, cpu_percent int,
    metadata jsonb)
  JOIN agents a ON a.workspace_id = b.workspace_id AND a.id = b.agent_id
),
free AS MATERIALIZED (
  SELECT h.workspace_id, h.agent_id
  FROM heartbeat b JOIN agent_heartbeats h ON h.workspace_id = b.workspace_id
    AND h.agent_id = b.agent_id
  -- Two flushes that meet lock their rows in one order.
  ORDER BY h.workspace_id, h.agent_id
  FOR NO KEY UPDATE OF h SKIP LOCKED
),
held AS MATERIALIZED (
  SELECT h.workspace_id, h.agent_id
  FROM heartbeat b JOIN agent_heartbeats h ON h.workspace_id = b.workspace_id
    AND h.agent_id = b.agent_id
  WHERE NOT EXISTS (SELECT FROM free f WHERE f.workspace_id = h.workspace_id
    AND f.agent_id = h.agent_id)
),
written AS (
  INSERT INTO agent_heartbeats AS h (workspace_id, agent_id, status, current_task_id,
    progress_percent,
    current_step, memory_mb, cpu_percent, last_seen_at, next_expected_at, metadata, kept_at)
  SELECT workspace_id, agent_id, status, current_task_id, progress_percent, current_step, memory_mb,
    cpu_percent, seen_at, seen_at + make_interval(secs => heartbeat_interval_seconds),
    coalesce(metadata, '{}'), CASE WHEN $2 > 0 THEN seen_at END
  FROM heartbeat b WHERE b.lifecycle <> 'TERMINATED' AND NOT EXISTS (SELECT FROM held x WHERE x.workspace_id = b.workspace_id
  AND x.agent_id = b.agent_id)
  -- New rows too.
  ORDER BY workspace_id, agent_id
  ON CONFLICT (workspace_id, agent_id) DO UPDATE SET
    status = excluded.status, current_task_id = excluded.current_task_id,
    progress_percent = excluded.progress_percent, current_step = excluded.current_step,
    memory_mb = excluded.memory_mb, cpu_percent = excluded.cpu_percent,
    last_seen_at = greatest(h.last_seen_at, excluded.last_seen_at), next_expected_at = excluded.next_expected_at,
    metadata = excluded.metadata, kept_at = CASE
      WHEN date_bin(make_interval(secs => nullif($2::int, 0)), excluded.last_seen_at, 'epoch') IS DISTINCT FROM date_bin(make_interval(secs => nullif($2::int, 0)), h.kept_at, 'epoch')
      THEN excluded.last_seen_at ELSE h.kept_at END
  -- After a registration the first heartbeat counts, however old.
  WHERE h.last_seen_at <= excluded.last_seen_at OR h.next_expected_at = 'infinity'
  RETURNING new.*, new.kept_at IS DISTINCT FROM old.kept_at AS is_first
),
kept AS (
  INSERT INTO agent_heartbeat_history (workspace_id, agent_id, seen_at, status, current_task_id,
    progress_percent,
    current_step, memory_mb, cpu_percent)
  SELECT workspace_id, agent_id, date_trunc('milliseconds', kept_at), status, current_task_id,
    progress_percent, current_step,
    memory_mb, cpu_percent
  FROM written WHERE is_first
  ON CONFLICT DO NOTHING
),
back AS MATERIALIZED (
  SELECT a.workspace_id, a.id, 'heartbeat' AS reason,
    CASE WHEN a.draining_at IS NULL THEN 'ACTIVE' ELSE 'DRAINING' END AS to_lifecycle
  FROM heartbeat b JOIN agents a ON a.workspace_id = b.workspace_id AND a.id = b.agent_id
  WHERE a.lifecycle IN ('STARTING', 'ERROR') AND NOT EXISTS (SELECT FROM held x WHERE x.workspace_id = b.workspace_id
  AND x.agent_id = b.agent_id)
    AND b.seen_at > now() - make_interval(secs => b.stale_threshold_seconds)
  ORDER BY a.id
  FOR NO KEY UPDATE OF a SKIP LOCKED
),
agent_moved AS (
  UPDATE agents a SET
    lifecycle = m.to_lifecycle, version = a.version + 1, updated_at = now(),
    draining_at = CASE m.to_lifecycle WHEN 'DRAINING' THEN coalesce(a.draining_at, now())
      ELSE a.draining_at END,
    error_at = CASE m.to_lifecycle WHEN 'ERROR' THEN now() ELSE NULL END,
    terminated_at = CASE m.to_lifecycle WHEN 'TERMINATED' THEN now() END,
    termination_reason = CASE m.to_lifecycle WHEN 'TERMINATED' THEN m.reason END
  FROM back m
  WHERE a.workspace_id = m.workspace_id AND a.id = m.id
    AND (a.lifecycle, m.to_lifecycle) IN (('STARTING', 'ACTIVE'), ('STARTING', 'DRAINING'), ('STARTING', 'ERROR'), ('STARTING', 'TERMINATED'), ('ACTIVE', 'DRAINING'), ('ACTIVE', 'ERROR'), ('ACTIVE', 'TERMINATED'), ('DRAINING', 'ERROR'), ('DRAINING', 'TERMINATED'), ('ERROR', 'ACTIVE'), ('ERROR', 'DRAINING'), ('ERROR', 'TERMINATED'))
  RETURNING a.workspace_id, a.id, a.version, old.lifecycle AS previous_lifecycle, a.lifecycle,
    old.status AS previous_status, a.status, m.reason
),
agent_journaled AS (
  INSERT INTO journal (workspace_id, event, log_event, agent_id, version, previous_status, new_status, reason, actor_kind)
  SELECT workspace_id, 'agent.status_changed', '', id, version, previous_status, status, reason, 'system'
  FROM agent_moved
)
SELECT b.workspace_id, b.agent_id AS id, coalesce(m.lifecycle, b.lifecycle) AS lifecycle,
  b.heartbeat_interval_seconds, b.stale_threshold_seconds, m.id IS NOT NULL AS revived,
  EXISTS (SELECT FROM held x WHERE x.workspace_id = b.workspace_id
  AND x.agent_id = b.agent_id) AS held
FROM heartbeat b LEFT JOIN agent_moved m ON m.workspace_id = b.workspace_id AND m.id = b.agent_id

-- heartbeat_history
SELECT seen_at, status, current_task_id, progress_percent, current_step, memory_mb, cpu_percent
FROM agent_heartbeat_history
WHERE workspace_id = $1 AND agent_id = $2
  AND seen_at >= coalesce($3::timestamptz, '-infinity')
    AND seen_at < coalesce($4::timestamptz, 'infinity')
ORDER BY seen_at DESC
LIMIT $5

-- insert_agent
INSERT INTO agents AS a (workspace_id, id, created_by, name, mode, model, capabilities, task_types, dedicated_to, coordinator_enabled, max_concurrent_tasks, heartbeat_interval_seconds, stale_threshold_seconds, host_name, pid, agent_version, restart_count, boot_id, metadata, command, secrets)
   SELECT $1, $2, $4, x."name", x."mode", x."model", x."capabilities", x."taskTypes", x."dedicatedTo", x."coordinatorEnabled", x."maxConcurrentTasks", x."heartbeatIntervalSeconds", x."staleThresholdSeconds", x."hostName", x."pid", x."agentVersion", x."restartCount", x."bootId", x."metadata", x."command", x."secrets" FROM jsonb_to_record($3::jsonb) AS x ("name" text, "mode" text, "model" text, "capabilities" text[], "taskTypes" text[], "dedicatedTo" text[], "coordinatorEnabled" boolean, "maxConcurrentTasks" integer, "heartbeatIntervalSeconds" integer, "staleThresholdSeconds" integer, "hostName" text, "pid" integer, "agentVersion" text, "restartCount" integer, "bootId" uuid, "metadata" jsonb, "command" text[], "secrets" jsonb)
   ON CONFLICT DO NOTHING
   RETURNING a.workspace_id AS "workspaceId", a.id AS "id", a.name AS "name", a.mode AS "mode", a.model AS "model", a.lifecycle AS "lifecycle", a.live_runs AS "liveRuns", a.status AS "status", a.capabilities AS "capabilities", a.task_types AS "taskTypes", a.dedicated_to AS "dedicatedTo", a.coordinator_enabled AS "coordinatorEnabled", a.max_concurrent_tasks AS "maxConcurrentTasks", a.heartbeat_interval_seconds AS "heartbeatIntervalSeconds", a.stale_threshold_seconds AS "staleThresholdSeconds", a.host_name AS "hostName", a.pid AS "pid", a.agent_version AS "agentVersion", a.restart_count AS "restartCount", a.token_version AS "tokenVersion", a.metadata AS "metadata", a.secrets AS "secrets", a.command AS "command", a.resting_until AS "restingUntil", a.created_by AS "createdBy", a.termination_reason AS "terminationReason", a.draining_at AS "drainingAt", a.error_at AS "errorAt", a.terminated_at AS "terminatedAt", a.version AS "version", a.created_at AS "createdAt", a.updated_at AS "updatedAt", a.boot_id AS "bootId",
  (SELECT h.last_seen_at FROM agent_heartbeats h
    WHERE h.workspace_id = a.workspace_id AND h.agent_id = a.id) AS "lastSeenAt",
  EXISTS (SELECT FROM agent_heartbeats h
    WHERE h.workspace_id = a.workspace_id AND h.agent_id = a.id
      AND h.next_expected_at < 'infinity') AS "hasSentHeartbeat"

-- list_slots
WITH fleet AS (
  SELECT a.*, row_number() OVER (PARTITION BY a.name
    ORDER BY a.terminated_at IS NULL DESC, a.created_at DESC, a.id) AS place
  FROM agents a
  WHERE a.workspace_id = $1
    AND (a.terminated_at IS NULL OR a.terminated_at > now() - interval '1 day')
),
page AS MATERIALIZED (
  SELECT * FROM fleet a
  WHERE (a.terminated_at IS NULL OR a.place = 1)
    AND ($2::text IS NULL OR (a.name COLLATE "C", a.id) > ($2::text, $3::uuid))
  ORDER BY a.name COLLATE "C", a.id
  LIMIT $4
)
SELECT a.id, a.name, a.place > 1 AS is_namesake, a.status, coalesce(
    h.last_seen_at < now() - make_interval(secs => a.stale_threshold_seconds)
    AND CASE WHEN h.next_expected_at = 'infinity' THEN a.mode = 'pull' AND a.live_runs = 0
      ELSE (a.mode = 'pull' OR (a.live_runs > 0 AND EXISTS (SELECT FROM task_runs lr
      WHERE lr.workspace_id = a.workspace_id AND lr.agent_id = a.id AND lr.state IN ('ASSIGNED', 'WORKING', 'STALE')
        AND lr.lease_by_heartbeat))) END, false) AS is_unresponsive,
  a.pid, a.agent_version, a.restart_count, a.termination_reason, a.created_at,
  coalesce(h.last_seen_at, a.created_at) AS seen_at, h.metadata, r.id AS run_id, r.session_key,
  coalesce(r.started_at, r.assigned_at) AS run_since, r.task_id, t.title AS task_title
FROM page a
LEFT JOIN agent_heartbeats h ON h.workspace_id = $1 AND h.agent_id = a.id
LEFT JOIN LATERAL (
  SELECT r.id, r.session_key, r.started_at, r.assigned_at, r.task_id FROM task_runs r
  WHERE r.workspace_id = $1 AND r.agent_id = a.id AND r.state IN ('ASSIGNED', 'WORKING', 'STALE')
  ORDER BY r.assigned_at, r.id LIMIT 1
) r ON true
LEFT JOIN agent_tasks t ON t.workspace_id = $1 AND t.id = r.task_id
ORDER BY a.name COLLATE "C", a.id

-- lock_agent
SELECT a.workspace_id AS "workspaceId", a.id AS "id", a.name AS "name", a.mode AS "mode", a.model AS "model", a.lifecycle AS "lifecycle", a.live_runs AS "liveRuns", a.status AS "status", a.capabilities AS "capabilities", a.task_types AS "taskTypes", a.dedicated_to AS "dedicatedTo", a.coordinator_enabled AS "coordinatorEnabled", a.max_concurrent_tasks AS "maxConcurrentTasks", a.heartbeat_interval_seconds AS "heartbeatIntervalSeconds", a.stale_threshold_seconds AS "staleThresholdSeconds", a.host_name AS "hostName", a.pid AS "pid", a.agent_version AS "agentVersion", a.restart_count AS "restartCount", a.token_version AS "tokenVersion", a.metadata AS "metadata", a.secrets AS "secrets", a.command AS "command", a.resting_until AS "restingUntil", a.created_by AS "createdBy", a.termination_reason AS "terminationReason", a.draining_at AS "drainingAt", a.error_at AS "errorAt", a.terminated_at AS "terminatedAt", a.version AS "version", a.created_at AS "createdAt", a.updated_at AS "updatedAt", a.boot_id AS "bootId",
  (SELECT h.last_seen_at FROM agent_heartbeats h
    WHERE h.workspace_id = a.workspace_id AND h.agent_id = a.id) AS "lastSeenAt",
  EXISTS (SELECT FROM agent_heartbeats h
    WHERE h.workspace_id = a.workspace_id AND h.agent_id = a.id
      AND h.next_expected_at < 'infinity') AS "hasSentHeartbeat" FROM agents a WHERE a.workspace_id = $1 AND a.id = $2
    FOR NO KEY UPDATE OF a

-- mark_agents_stale
WITH unresponsive AS MATERIALIZED (
  SELECT a.workspace_id, a.id, 'ERROR' AS to_lifecycle, 'agent_stale' AS reason
  FROM unnest($1::uuid[], $2::uuid[]) AS s (workspace_id, id)
  JOIN agents a ON a.workspace_id = s.workspace_id AND a.id = s.id
  JOIN agent_heartbeats h ON h.workspace_id = a.workspace_id AND h.agent_id = a.id
  WHERE h.last_seen_at < now() - make_interval(secs => a.stale_threshold_seconds)
    AND (a.lifecycle IN ('STARTING', 'ACTIVE', 'DRAINING')
    AND (a.mode = 'pull' OR (a.live_runs > 0 AND EXISTS (SELECT FROM task_runs lr
      WHERE lr.workspace_id = a.workspace_id AND lr.agent_id = a.id AND lr.state IN ('ASSIGNED', 'WORKING', 'STALE')
        AND lr.lease_by_heartbeat))) AND h.next_expected_at IS DISTINCT FROM 'infinity')
  ORDER BY a.id
  FOR NO KEY UPDATE OF a SKIP LOCKED
),
agent_moved AS (
  UPDATE agents a SET
    lifecycle = m.to_lifecycle, version = a.version + 1, updated_at = now(),
    draining_at = CASE m.to_lifecycle WHEN 'DRAINING' THEN coalesce(a.draining_at, now())
      ELSE a.draining_at END,
    error_at = CASE m.to_lifecycle WHEN 'ERROR' THEN now() ELSE NULL END,
    terminated_at = CASE m.to_lifecycle WHEN 'TERMINATED' THEN now() END,
    termination_reason = CASE m.to_lifecycle WHEN 'TERMINATED' THEN m.reason END
  FROM unresponsive m
  WHERE a.workspace_id = m.workspace_id AND a.id = m.id
    AND (a.lifecycle, m.to_lifecycle) IN (('STARTING', 'ACTIVE'), ('STARTING', 'DRAINING'), ('STARTING', 'ERROR'), ('STARTING', 'TERMINATED'), ('ACTIVE', 'DRAINING'), ('ACTIVE', 'ERROR'), ('ACTIVE', 'TERMINATED'), ('DRAINING', 'ERROR'), ('DRAINING', 'TERMINATED'), ('ERROR', 'ACTIVE'), ('ERROR', 'DRAINING'), ('ERROR', 'TERMINATED'))
  RETURNING a.workspace_id, a.id, a.version, old.lifecycle AS previous_lifecycle, a.lifecycle,
    old.status AS previous_status, a.status, m.reason
),
agent_journaled AS (
  INSERT INTO journal (workspace_id, event, log_event, agent_id, version, previous_status, new_status, reason, actor_kind)
  SELECT workspace_id, 'agent.status_changed', '', id, version, previous_status, status, reason, 'system'
  FROM agent_moved
)
SELECT workspace_id, id, version, previous_lifecycle, lifecycle, previous_status, status
FROM agent_moved

-- may_write_heartbeats
UPDATE agent_heartbeats SET status = status WHERE false

-- raise_token_version
UPDATE agents SET token_version = token_version + 1, version = version + 1, updated_at = now()
WHERE workspace_id = $1 AND id = $2
RETURNING token_version

-- renew_heartbeat_partitions
SELECT renew_heartbeat_partitions($1, make_interval(days => $2)) AS dropped

-- revive_push_agents
WITH back AS MATERIALIZED (
  SELECT a.workspace_id, a.id, 'gateway_back' AS reason,
    CASE WHEN a.draining_at IS NULL THEN 'ACTIVE' ELSE 'DRAINING' END AS to_lifecycle
  FROM agents a
  WHERE a.mode = 'push' AND a.lifecycle = 'ERROR' AND a.live_runs = 0
  ORDER BY a.id
  LIMIT $1
  FOR NO KEY UPDATE SKIP LOCKED
),
agent_moved AS (
  UPDATE agents a SET
    lifecycle = m.to_lifecycle, version = a.version + 1, updated_at = now(),
    draining_at = CASE m.to_lifecycle WHEN 'DRAINING' THEN coalesce(a.draining_at, now())
      ELSE a.draining_at END,
    error_at = CASE m.to_lifecycle WHEN 'ERROR' THEN now() ELSE NULL END,
    terminated_at = CASE m.to_lifecycle WHEN 'TERMINATED' THEN now() END,
    termination_reason = CASE m.to_lifecycle WHEN 'TERMINATED' THEN m.reason END
  FROM back m
  WHERE a.workspace_id = m.workspace_id AND a.id = m.id
    AND (a.lifecycle, m.to_lifecycle) IN (('STARTING', 'ACTIVE'), ('STARTING', 'DRAINING'), ('STARTING', 'ERROR'), ('STARTING', 'TERMINATED'), ('ACTIVE', 'DRAINING'), ('ACTIVE', 'ERROR'), ('ACTIVE', 'TERMINATED'), ('DRAINING', 'ERROR'), ('DRAINING', 'TERMINATED'), ('ERROR', 'ACTIVE'), ('ERROR', 'DRAINING'), ('ERROR', 'TERMINATED'))
  RETURNING a.workspace_id, a.id, a.version, old.lifecycle AS previous_lifecycle, a.lifecycle,
    old.status AS previous_status, a.status, m.reason
),
agent_journaled AS (
  INSERT INTO journal (workspace_id, event, log_event, agent_id, version, previous_status, new_status, reason, actor_kind)
  SELECT workspace_id, 'agent.status_changed', '', id, version, previous_status, status, reason, 'system'
  FROM agent_moved
)
SELECT workspace_id, id, version, previous_lifecycle, lifecycle, previous_status, status
FROM agent_moved

-- silence_of_agent
SELECT extract(epoch FROM now() - last_seen_at)::float8 AS seconds FROM agent_heartbeats
WHERE workspace_id = $1 AND agent_id = $2

-- stale_agents
SELECT a.workspace_id, a.id, a.stale_threshold_seconds, a.live_runs,
  extract(epoch FROM now() - h.last_seen_at)::float8 AS silent_seconds
FROM (SELECT * FROM agent_heartbeats h
  WHERE h.last_seen_at < now() - make_interval(secs => (SELECT min(stale_threshold_seconds) FROM agents)) OFFSET 0) h
CROSS JOIN LATERAL (SELECT x.* FROM agents x
  WHERE x.workspace_id = h.workspace_id AND x.id = h.agent_id OFFSET 0) a
WHERE h.last_seen_at < now() - make_interval(secs => a.stale_threshold_seconds)
    AND (a.lifecycle IN ('STARTING', 'ACTIVE', 'DRAINING')
    AND (a.mode = 'pull' OR (a.live_runs > 0 AND EXISTS (SELECT FROM task_runs lr
      WHERE lr.workspace_id = a.workspace_id AND lr.agent_id = a.id AND lr.state IN ('ASSIGNED', 'WORKING', 'STALE')
        AND lr.lease_by_heartbeat))) AND h.next_expected_at IS DISTINCT FROM 'infinity')
ORDER BY a.id
LIMIT $1

-- stamp_first_heartbeat
INSERT INTO agent_heartbeats AS h (workspace_id, agent_id, status, last_seen_at, next_expected_at)
VALUES ($1, $2, 'healthy', now(), 'infinity')
ON CONFLICT (workspace_id, agent_id) DO UPDATE SET
  status = 'healthy', last_seen_at = greatest(h.last_seen_at, now()),
  next_expected_at = CASE WHEN h.next_expected_at = 'infinity' THEN 'infinity'
    ELSE now() + make_interval(secs => $3::int) END

-- start_cooldown
UPDATE agents SET setup_failures = setup_failures + 1, updated_at = now(),
  resting_until = now() + make_interval(secs =>
    least(30 * 2.0 ^ least(setup_failures, 10), 900)::float8)
WHERE workspace_id = $1 AND id = $2 AND (resting_until IS NULL OR resting_until <= now())
  AND EXISTS (SELECT FROM task_runs r WHERE r.workspace_id = $1 AND r.id = $3 AND r.state IN ('ASSIGNED', 'WORKING', 'STALE'))
RETURNING resting_until

-- take_by_name
WITH unnamed AS MATERIALIZED (
  SELECT a.id FROM agents a
  WHERE a.workspace_id = $1 AND a.id = ANY($2::uuid[]) AND a.lifecycle <> 'TERMINATED'
    AND NOT ('agent:' || a.id) = ANY(a.capabilities)
  ORDER BY a.id FOR NO KEY UPDATE
),
named AS (
  UPDATE agents a SET capabilities = ARRAY(SELECT c FROM unnest(a.capabilities || ('agent:' || a.id)) c
    ORDER BY c COLLATE "C")
  FROM unnamed u WHERE a.workspace_id = $1 AND a.id = u.id
)
SELECT id, lifecycle FROM agents WHERE workspace_id = $1 AND id = ANY($2::uuid[])

-- take_room
CREATE TEMPORARY TABLE room ON COMMIT DROP AS SELECT repeat('x', 1000) AS x
    FROM generate_series(1, 100)
