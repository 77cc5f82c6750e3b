-- The statements as they run. Made by `npm run generate`; change the modules that declare them.

-- abort_expired_in_queue
WITH due AS MATERIALIZED (
  SELECT d.workspace_id, d.id FROM agent_tasks d
  WHERE d.status = 'PENDING' AND d.queue_expires_at <= now()
    AND ($2::uuid IS NULL OR d.workspace_id = $2)
  ORDER BY d.queue_expires_at
  LIMIT $1
  FOR NO KEY UPDATE SKIP LOCKED
),
task_moved AS (
  UPDATE agent_tasks t SET
    status = 'ABORTED', version = t.version + 1, updated_at = now(),
    run_id = NULL,
    agent_id = NULL,
    session_key = NULL,
    retry_count = t.retry_count + coalesce((NULL)::boolean, false)::int,
    retry_at = now() + make_interval(secs => (NULL)::float8),
    abort_reason = ('queue_expired')::text,
    abort_message = ('It waited in the queue longer than it may')::text,
    failure_fingerprint = CASE WHEN (NULL)::float8 IS NULL AND NOT coalesce(('queue_expired')::text IN ('cancelled', 'dependency_cancelled'), false)
      THEN failure_fingerprint(t.task_type, ('queue_expired')::text, coalesce((NULL)::text, t.last_error)) END,
    aborted_at = now(),
    dependents_unsettled = t.has_dependents AND (NULL)::float8 IS NULL
  FROM due m
  WHERE t.workspace_id = m.workspace_id AND t.id = m.id AND CASE WHEN t.status IN ('PENDING', 'ASSIGNED', 'RUNNING', 'PAUSED', 'ABORTED') THEN true END
  RETURNING t.workspace_id, t.id, t.version, old.status AS previous_status, t.status, t.generation,
    coalesce(t.run_id, old.run_id) AS run_id, coalesce(t.agent_id, old.agent_id) AS agent_id,
    coalesce(t.session_key, old.session_key) AS session_key, t.retry_at, t.unmet_dependencies,
    t.dependents_unsettled,
    ('coordinator')::text AS actor_kind, (NULL)::text AS actor_id, ('queue_expired')::text AS reason, ('It waited in the queue longer than it may')::text AS message, ('WARN')::text AS level, (NULL)::jsonb AS details, (NULL)::text AS stack_trace
),
journaled AS (
  INSERT INTO journal (workspace_id, event, task_id, version, previous_status, new_status, run_id, run_version,
    previous_state, new_state, end_reason, generation, agent_id, actor_kind, actor_id, reason, level, message,
    details, session_key, stack_trace, retry_at)
  SELECT m.workspace_id, 'task.status_changed', m.id, m.version, m.previous_status, m.status, m.run_id, NULL::int, NULL, NULL, NULL, m.generation, m.agent_id, m.actor_kind, m.actor_id, m.reason, m.level, m.message, m.details, m.session_key, m.stack_trace, m.retry_at
    FROM task_moved m
)
SELECT workspace_id, status FROM task_moved

-- analyze_grown_table
SELECT analyze_grown_table() AS analyzed

-- announce_cycles
INSERT INTO journal (workspace_id, event, log_event, task_id, actor_kind, details)
  SELECT $1, 'task.dependency_cycle', '', (c.path ->> 0)::uuid, 'coordinator', jsonb_build_object('path', c.path, 'taskIds', c.tasks, 'length', c.length,
      'ownerIds', (SELECT coalesce(jsonb_agg(m.user_id ORDER BY m.user_id), '[]')
        FROM workspace_members m WHERE m.workspace_id = $1 AND m.role = 'OWNER'))
  FROM jsonb_to_recordset($2::jsonb) AS c (path jsonb, tasks jsonb, length int)
RETURNING id

-- append_coordinator_logs
INSERT INTO coordinator_logs (workspace_id, instance_id, level, event, message, details,
  created_at)
SELECT l.workspace_id, $1, l.level, l.event, l.message, coalesce(l.details, '{}'), l.at
FROM jsonb_to_recordset($2::jsonb)
  AS l (workspace_id uuid, level text, event text, message text, details jsonb,
    at timestamptz)

-- begin_runs
WITH behind AS MATERIALIZED (
  SELECT * FROM jsonb_to_recordset($1::jsonb) AS m (workspace_id uuid, id uuid)
),
run_moved AS (
  UPDATE task_runs r SET state = 'WORKING', version = r.version + 1,
    last_report_at = now(), started_at = coalesce(r.started_at, now()), deadline_at = coalesce(r.deadline_at, now() + make_interval(secs => (
      SELECT t.timeout_seconds FROM agent_tasks t
      WHERE t.workspace_id = r.workspace_id AND t.id = r.task_id))), stale_at = NULL
  FROM behind m
  WHERE r.workspace_id = m.workspace_id AND r.id = m.id AND CASE WHEN r.state IN ('ASSIGNED', 'STALE') THEN true END
  RETURNING r.workspace_id, r.id, r.task_id, r.agent_id, r.generation, r.version, r.end_reason,
    old.state AS previous_state, r.state, r.ended_at, old.held_tokens AS released_tokens, r.budget_ids
),
journaled AS (
  INSERT INTO journal (workspace_id, event, task_id, version, previous_status, new_status, run_id, run_version,
    previous_state, new_state, end_reason, generation, agent_id, actor_kind, actor_id, reason, level, message,
    details, session_key, stack_trace, retry_at)
  SELECT r.workspace_id, 'run.state_changed', r.task_id, NULL, NULL, NULL, r.id,
  r.version,
    r.previous_state, r.state, r.end_reason, r.generation, r.agent_id, 'coordinator', NULL, NULL, NULL, NULL,
    NULL::jsonb, NULL, NULL, NULL::timestamptz FROM run_moved r
),
logged AS (
  INSERT INTO task_log_lines (workspace_id, task_id, run_id, agent_id, level, event, message, actor_kind)
  SELECT workspace_id, task_id, id, agent_id, 'WARN', 'state_repaired', 'Run set to WORKING: its task was RUNNING', 'coordinator'
  FROM run_moved
)
SELECT workspace_id, id FROM run_moved

-- coordinator_check_epoch
SELECT set_config('idle_in_transaction_session_timeout', $2, true)
FROM coordinator_leadership WHERE id = 1 AND epoch = $1
FOR KEY SHARE

-- coordinator_draw_horizon
WITH s AS MATERIALIZED (SELECT coalesce(pg_sequence_last_value('journal_id_seq'), 0) AS last)
SELECT s.last, pg_current_xact_id()::text AS xid FROM s

-- coordinator_keep_position
INSERT INTO coordinator_searches AS c
  (name, journal_id, after_workspace_id, after_task_id, rounds)
VALUES ($1, $2, $3, $4, $5::boolean::int)
ON CONFLICT (name) DO UPDATE SET journal_id = excluded.journal_id,
  after_workspace_id = excluded.after_workspace_id, after_task_id = excluded.after_task_id,
  rounds = c.rounds + excluded.rounds

-- coordinator_list_workspace_ids
SELECT id FROM workspaces WHERE archived_at IS NULL ORDER BY id DESC LIMIT $1

-- coordinator_read_dues
SELECT
  (extract(epoch FROM (SELECT r.lease_expires_at FROM task_runs r
    WHERE r.state IN ('ASSIGNED', 'WORKING', 'STALE') AND NOT r.lease_by_heartbeat AND NOT EXISTS (SELECT FROM session_spawns ss
    WHERE ss.workspace_id = r.workspace_id AND ss.run_id = r.id)
      ORDER BY r.lease_expires_at LIMIT 1) - now()) * 1000)::float8 AS "expire_leases",
  (extract(epoch FROM (SELECT min(h.last_seen_at + make_interval(secs => a.stale_threshold_seconds))
    FROM (SELECT * FROM agent_heartbeats h
  WHERE h.last_seen_at < now() - make_interval(secs => (SELECT min(stale_threshold_seconds) FROM agents) - 2) OFFSET 0) h
CROSS JOIN LATERAL (SELECT x.* FROM agents x
  WHERE x.workspace_id = h.workspace_id AND x.id = h.agent_id OFFSET 0) a
    WHERE (a.lifecycle IN ('STARTING', 'ACTIVE', 'DRAINING')
    AND (a.mode = 'pull' OR (a.live_runs > 0 AND EXISTS (SELECT FROM task_runs lr
      WHERE lr.workspace_id = a.workspace_id AND lr.agent_id = a.id AND lr.state IN ('ASSIGNED', 'WORKING', 'STALE')
        AND lr.lease_by_heartbeat))) AND h.next_expected_at IS DISTINCT FROM 'infinity')) - now()) * 1000)::float8 AS "reap_stale_agents",
  CASE WHEN (EXISTS (SELECT FROM pauses p WHERE p.ends_runs AND p.ended_at IS NULL AND (p.until IS NULL OR p.until > now()))
    OR EXISTS (SELECT FROM installation_pauses p WHERE p.ends_runs AND p.ended_at IS NULL AND (p.until IS NULL OR p.until > now()))) AND EXISTS (SELECT FROM task_runs r
    JOIN agent_tasks t ON t.workspace_id = r.workspace_id AND t.id = r.task_id AND t.run_id = r.id
    WHERE r.state IN ('ASSIGNED', 'WORKING', 'STALE') AND r.state IN ('ASSIGNED', 'WORKING', 'STALE') AND (t.workspace_id IN (SELECT p.workspace_id FROM pauses p WHERE p.ends_runs AND p.ended_at IS NULL AND (p.until IS NULL OR p.until > now())
    UNION
    SELECT w.id FROM workspaces w
    WHERE EXISTS (SELECT FROM installation_pauses p WHERE p.ends_runs AND p.ended_at IS NULL AND (p.until IS NULL OR p.until > now())))
    AND (EXISTS (SELECT FROM installation_pauses p WHERE p.ends_runs AND p.ended_at IS NULL AND (p.until IS NULL OR p.until > now()))
      OR EXISTS (SELECT FROM pauses p WHERE p.workspace_id = t.workspace_id AND p.ends_runs AND p.ended_at IS NULL AND (p.until IS NULL OR p.until > now())
        AND (p.task_type IS NULL OR p.task_type = t.task_type))))) THEN 0::float8 END AS "end_paused_runs",
  (extract(epoch FROM (SELECT t.retry_at FROM agent_tasks t WHERE (t.status = 'ABORTED' AND t.retry_at IS NOT NULL)
    ORDER BY t.retry_at LIMIT 1) - now()) * 1000)::float8 AS "promote_retries",
  (extract(epoch FROM (SELECT deadline_at FROM questions WHERE status = 'open'
  ORDER BY deadline_at LIMIT 1) - now()) * 1000)::float8 AS "expire_questions",
  (extract(epoch FROM (SELECT min(start_at) FROM schedules WHERE start_at IS NOT NULL) - now()) * 1000)::float8 AS "start_schedules",
  (extract(epoch FROM (SELECT review_due_at FROM changes
  WHERE review_due_at IS NOT NULL ORDER BY review_due_at LIMIT 1) - now()) * 1000)::float8 AS "remind_reviews",
  (extract(epoch FROM (SELECT t.start_at FROM agent_tasks t WHERE t.waits_for_start AND t.status IN ('PENDING', 'PAUSED') ORDER BY t.start_at LIMIT 1) - now()) * 1000)::float8 AS "start_delayed",
  CASE WHEN EXISTS (SELECT FROM changes c WHERE c.review_step IS NOT NULL AND (c.state <> 'IN_REVIEW' OR (c.obstacle IS NULL OR c.updated_at <= now() - interval '30 seconds')
  AND (c.review_step = 'ask' OR EXISTS (SELECT FROM agent_tasks t
  WHERE t.workspace_id = c.workspace_id AND t.id = c.review_task_id
    AND (((t.status = 'COMPLETED' OR (t.status = 'ARCHIVED' AND t.completed_at IS NOT NULL)) OR (t.status = 'FAILED' OR (t.status = 'ABORTED' AND t.retry_at IS NULL)
  OR (t.status = 'ARCHIVED' AND t.completed_at IS NULL))) OR t.status = 'ARCHIVED'))))) THEN 0::float8 END AS "review_by_agents",
  CASE WHEN EXISTS (SELECT FROM agent_tasks WHERE dependents_unsettled) THEN 0::float8 END AS "settle_dependents",
  CASE WHEN EXISTS (SELECT FROM agent_tasks t WHERE t.waits_for_slot AND t.status = 'PENDING' AND t.unmet_dependencies = 1) THEN 0::float8 END AS "grant_slots",
  (extract(epoch FROM (SELECT r.deadline_at + interval '60 seconds' FROM task_runs r
    WHERE r.deadline_at IS NOT NULL AND r.state IN ('ASSIGNED', 'WORKING', 'STALE') ORDER BY r.deadline_at LIMIT 1) - now()) * 1000)::float8 AS "time_out_runs",
  CASE WHEN EXISTS (SELECT FROM task_runs
    WHERE conflict_seen_at IS NOT NULL AND conflict_told_at IS NULL) THEN 0::float8 END AS "detect_split_brain",
  (extract(epoch FROM (SELECT queue_expires_at FROM agent_tasks
    WHERE status = 'PENDING' AND queue_expires_at IS NOT NULL ORDER BY queue_expires_at LIMIT 1) - now()) * 1000)::float8 AS "expire_queued",
  (extract(epoch FROM (SELECT min(due_at) FROM usage_budgets) - now()) * 1000)::float8 AS "end_budget_periods",
  (extract(epoch FROM (SELECT min(over_at) FROM provider_limits) - now()) * 1000)::float8 AS "heed_provider_limits",
  (extract(epoch FROM (SELECT least(
    (SELECT min(until) FROM pauses WHERE ended_at IS NULL),
    (SELECT min(until) FROM installation_pauses WHERE ended_at IS NULL))) - now()) * 1000)::float8 AS "clear_pauses",
  CASE WHEN EXISTS (
  SELECT FROM usage_budgets WHERE reached_percent <> alerted_percent) THEN 0::float8 END AS "tell_budget_alerts",
  CASE WHEN EXISTS (SELECT FROM workspace_throttles h
JOIN usage_budgets b ON b.workspace_id = h.workspace_id AND b.id = h.budget_id
WHERE b.version <> h.budget_version) THEN 0::float8 END AS "throttle_workspaces",
  (SELECT ceil(k.wait * 1000) FROM (
    SELECT a.workspace_id, a.capabilities, a.dedicated_to, a.task_types, ARRAY(SELECT p.task_type::text FROM pauses p WHERE p.workspace_id = a.workspace_id
    AND p.task_type IS NOT NULL AND p.ended_at IS NULL AND (p.until IS NULL OR p.until > now())) AS paused,
      (SELECT jsonb_object_agg(l.scope, l.available) FROM (
    SELECT b.scope_id::text AS scope, b.available FROM usage_budgets b
    WHERE b.workspace_id = a.workspace_id AND (b.period_start <= now() AND b.covers_until > now()) AND b.task_id IS NULL
    UNION ALL
    SELECT 'task', 0 WHERE EXISTS (SELECT FROM usage_budgets b
      WHERE b.workspace_id = a.workspace_id AND (b.period_start <= now() AND b.covers_until > now()) AND b.task_id IS NOT NULL)) l) AS budgets,
      greatest(min(coalesce(extract(epoch FROM a.resting_until - now())::float8, 0)), 0,
        greatest(
    coalesce((SELECT CASE WHEN l.spawns_per_minute = 0 THEN 'infinity'::float8
    ELSE greatest(0, (1 - least(l.spawns_per_minute::float8, s.tokens + greatest(0, extract(epoch FROM now() - s.filled_at)) * l.spawns_per_minute::float8 / 60.0)) * 60.0 / l.spawns_per_minute) END
      FROM workspace_limits l LEFT JOIN spawn_allowances s ON s.workspace_id = l.workspace_id
      WHERE l.workspace_id = a.workspace_id), 0),
    coalesce((SELECT CASE WHEN $2::float8 = 0 THEN 'infinity'::float8
    ELSE greatest(0, (1 - least($2::float8::float8, s.tokens + greatest(0, extract(epoch FROM now() - s.filled_at)) * $2::float8::float8 / 60.0)) * 60.0 / $2::float8) END
      FROM installation_spawn_allowance s WHERE $2::float8 > 0), 0))) AS wait
    FROM agents a
    WHERE a.mode = 'push' AND (a.lifecycle <> 'TERMINATED' AND NOT (a.lifecycle = 'DRAINING' OR a.lifecycle = 'ERROR' OR (a.mode = 'push' AND NOT a.coordinator_enabled) OR (a.mode = 'push' AND a.command = '{}') OR (CASE WHEN a.model IS NOT NULL
    THEN provider_limit_end_of_agent(a.workspace_id, a.id, a.model) END) IS NOT NULL)) AND a.live_runs < a.max_concurrent_tasks
      AND EXISTS (SELECT FROM gateways
        WHERE NOT draining AND last_seen_at > now() - make_interval(secs => $1::float8)
        HAVING sum(capacity - others) > (SELECT coalesce(sum(live_runs), 0) FROM agents
          WHERE mode = 'push'))
    GROUP BY a.workspace_id, a.capabilities, a.dedicated_to, a.task_types
    ORDER BY wait) k
  WHERE k.wait < 'infinity' AND (EXISTS (SELECT FROM workspaces used WHERE used.id = k.workspace_id
    AND used.archived_at IS NULL) AND NOT (EXISTS (SELECT FROM installation_pauses p
      WHERE p.ended_at IS NULL AND (p.until IS NULL OR p.until > now()))
    OR EXISTS (SELECT FROM pauses p WHERE p.workspace_id = k.workspace_id AND p.task_type IS NULL
      AND p.ended_at IS NULL AND (p.until IS NULL OR p.until > now()))) AND NOT EXISTS (SELECT FROM workspace_throttles h
      WHERE h.workspace_id = k.workspace_id AND h.scope_id = k.workspace_id
        AND h.max_runs <= (SELECT coalesce(sum(a.live_runs), 0) FROM agents a WHERE a.workspace_id = k.workspace_id)) AND NOT EXISTS (SELECT FROM usage_budgets b
    WHERE b.workspace_id = k.workspace_id AND b.scope_id = k.workspace_id
    AND (b.period_start <= now() AND b.covers_until > now()) AND b.available <= 0))
    AND EXISTS (SELECT FROM agent_tasks t JOIN capability_sets c
        ON c.workspace_id = t.workspace_id AND c.key = t.capability_key
      WHERE t.workspace_id = k.workspace_id AND (c.capabilities <@ k.capabilities AND c.capabilities @> k.dedicated_to)
        AND (k.task_types = '{}' OR t.task_type = ANY(k.task_types))
        AND (t.status = 'PENDING'
      AND (t.queue_expires_at IS NULL OR t.queue_expires_at > now())
      AND (t.task_type || '') <> ALL (k.paused)
      AND coalesce(t.project_id, t.workspace_id) <> ALL (ARRAY(SELECT h.project_id FROM workspace_throttles h
      WHERE h.workspace_id = k.workspace_id AND h.project_id IS NOT NULL
        AND h.max_runs <= (SELECT count(*) FROM task_runs lr
        JOIN agent_tasks lt ON lt.workspace_id = lr.workspace_id AND lt.id = lr.task_id
        WHERE lr.workspace_id = k.workspace_id AND lr.state IN ('ASSIGNED', 'WORKING', 'STALE')
          AND lt.project_id = h.project_id)))
      AND (NOT EXISTS (SELECT FROM provider_limits l
    WHERE l.workspace_id = k.workspace_id AND l.over_at > now()) OR NOT EXISTS (SELECT FROM limits_of_task(t.workspace_id, t.id, '[{"minPriority":9,"tier":"opus"},{"minComplexity":9,"tier":"opus"},{"taskType":"boilerplate","tier":"haiku"},{"maxEstimatedTokens":"9999","tier":"haiku"},{"tier":"sonnet"}]', '{"haiku":"claude-haiku-4-5","sonnet":"claude-sonnet-4-6","opus":"claude-opus-4-6"}', '(?<=.)(?:-(?:\d{8}|\d{4}-\d{2}-\d{2}|\d{3}|latest|preview)(?:-[^@:]*)?)?(?:@[^@]*|:\d+)?$',
      t.task_type, t.priority, t.project_id, t.estimated_complexity,
      CASE WHEN t.estimate_source <> 'default' THEN t.estimated_tokens END,
      t.agent IS NOT NULL)))
      AND t.unmet_dependencies = 0
      AND (k.budgets IS NULL OR (
    greatest(t.estimated_tokens, 1) <= least(9223372036854775807, (k.budgets ->> t.workspace_id::text)::bigint,
      (k.budgets ->> t.project_id::text)::bigint,
      (k.budgets ->> t.milestone_id::text)::bigint)
    AND (NOT k.budgets ? 'task' OR NOT EXISTS (SELECT FROM usage_budgets b
      WHERE b.workspace_id = t.workspace_id AND b.scope_id = t.id AND (b.period_start <= now() AND b.covers_until > now())
        AND b.available < greatest(t.estimated_tokens, 1)))))))
  ORDER BY k.wait LIMIT 1) AS "assign"

-- coordinator_read_fleet
SELECT count(*)::int AS size,
  (extract(epoch FROM now() - max(h.last_seen_at)) * 1000)::float8 AS last_heard_ms
FROM agents a JOIN agent_heartbeats h ON h.workspace_id = a.workspace_id
  AND h.agent_id = a.id
WHERE (a.lifecycle IN ('STARTING', 'ACTIVE', 'DRAINING')
    AND (a.mode = 'pull' OR (a.live_runs > 0 AND EXISTS (SELECT FROM task_runs lr
      WHERE lr.workspace_id = a.workspace_id AND lr.agent_id = a.id AND lr.state IN ('ASSIGNED', 'WORKING', 'STALE')
        AND lr.lease_by_heartbeat))) AND h.next_expected_at IS DISTINCT FROM 'infinity')

-- coordinator_read_leadership
SELECT epoch, instance_id, coalesce(leased_until > now(), false) AS active, last_cycle_at,
  last_cycle,
  cycle_count
FROM coordinator_leadership WHERE id = 1

-- coordinator_read_oldest_open
SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS xid

-- coordinator_read_position
SELECT journal_id, after_workspace_id AS workspace_id, after_task_id AS task_id
  FROM coordinator_searches WHERE name = $1

-- coordinator_read_stats
SELECT t.*, a.healthy_agents, a.stale_agents
FROM (
  SELECT ready, pending - ready AS blocked, assigned, running, paused, retrying FROM (
    SELECT
      (SELECT count(*)::int FROM agent_tasks WHERE status = 'PENDING') AS pending,
      (SELECT count(*)::int FROM agent_tasks t WHERE (t.status = 'PENDING' AND t.unmet_dependencies = 0)) AS ready,
      (SELECT count(*)::int FROM agent_tasks WHERE status = 'ASSIGNED') AS assigned,
      (SELECT count(*)::int FROM agent_tasks WHERE status = 'RUNNING') AS running,
      (SELECT count(*)::int FROM agent_tasks WHERE status = 'PAUSED') AS paused,
      (SELECT count(*)::int FROM agent_tasks t WHERE (t.status = 'ABORTED' AND t.retry_at IS NOT NULL)) AS retrying
  ) counts
) t, (
  SELECT
    count(*) FILTER (WHERE a.lifecycle <> 'ERROR' AND h.last_seen_at IS NOT NULL
      AND NOT unresponsive)::int
      AS healthy_agents,
    count(*) FILTER (WHERE a.lifecycle = 'ERROR' OR unresponsive)::int AS stale_agents
  FROM agents a
  LEFT JOIN agent_heartbeats h ON h.workspace_id = a.workspace_id AND h.agent_id = a.id
  CROSS JOIN LATERAL (SELECT coalesce(
    h.last_seen_at < now() - make_interval(secs => a.stale_threshold_seconds)
    AND CASE WHEN h.next_expected_at = 'infinity' THEN a.mode = 'pull' AND a.live_runs = 0
      ELSE (a.mode = 'pull' OR (a.live_runs > 0 AND EXISTS (SELECT FROM task_runs lr
      WHERE lr.workspace_id = a.workspace_id AND lr.agent_id = a.id AND lr.state IN ('ASSIGNED', 'WORKING', 'STALE')
        AND lr.lease_by_heartbeat))) END, false) AS unresponsive) s
  WHERE a.lifecycle <> 'TERMINATED'
) a

-- coordinator_read_window_end
SELECT workspace_id, id FROM agent_tasks
WHERE (workspace_id, id) > ($1::uuid, $2::uuid) AND (workspace_id, id) <= ($3::uuid, $4::uuid)
ORDER BY workspace_id, id
OFFSET $5::int - 1 LIMIT 1

-- coordinator_record_cycle
UPDATE coordinator_leadership SET
  last_cycle_at = now(), cycle_count = cycle_count + 1, last_cycle = $2::jsonb
WHERE id = 1 AND epoch = $1

-- coordinator_renew_leadership
UPDATE coordinator_leadership SET leased_until = now() + make_interval(secs => $2)
WHERE id = 1 AND epoch = $1
RETURNING epoch

-- coordinator_resign_leadership
UPDATE coordinator_leadership SET leased_until = NULL WHERE id = 1 AND epoch = $1

-- coordinator_seize_leadership
WITH free AS MATERIALIZED (
  SELECT id FROM coordinator_leadership
  WHERE id = 1 AND ($3::boolean OR leased_until IS NULL OR leased_until <= now())
  FOR UPDATE
)
UPDATE coordinator_leadership l SET
  epoch = l.epoch + 1, instance_id = $1, acquired_at = now(),
  leased_until = now() + make_interval(secs => $2)
FROM free WHERE l.id = free.id
RETURNING l.epoch

-- coordinator_workspace_exists
SELECT id FROM workspaces WHERE id = $1

-- drained_agents
SELECT workspace_id, id FROM agents
WHERE lifecycle = 'DRAINING' AND live_runs = 0 AND ($2::uuid IS NULL OR workspace_id = $2)
ORDER BY id
LIMIT $1
FOR NO KEY UPDATE SKIP LOCKED

-- edges_among
SELECT d.task_id, d.depends_on_id FROM task_dependencies d
WHERE d.workspace_id = $1 AND d.task_id = ANY($2::uuid[]) AND d.depends_on_id = ANY($2::uuid[])
  AND d.settled_at IS NULL

-- edges_between
SELECT d.task_id, d.depends_on_id FROM agent_tasks t
  JOIN task_dependencies d ON d.workspace_id = $1 AND d.task_id = t.id
    AND d.settled_at IS NULL
  JOIN agent_tasks p ON p.workspace_id = $1 AND p.id = d.depends_on_id
  WHERE t.workspace_id = $1 AND t.status = 'PENDING' AND t.unmet_dependencies > 0 AND t.has_dependents AND CASE WHEN p.status = 'PENDING' AND p.unmet_dependencies > 0 AND p.has_dependents THEN true END

-- find_forgetful_tasks
WITH subject AS MATERIALIZED (
  SELECT j.workspace_id, j.task_id AS id FROM journal j WHERE j.id > $3::bigint AND j.id <= $4::bigint AND ($2::uuid IS NULL OR j.workspace_id = $2) AND j.task_id IS NOT NULL
  UNION
  SELECT k.workspace_id, k.id FROM agent_tasks k WHERE (k.workspace_id, k.id) > ($5::uuid, $6::uuid)
    AND (k.workspace_id, k.id) <= ($7::uuid, $8::uuid)
),
edge AS (
  SELECT d.* FROM subject s CROSS JOIN LATERAL (
    SELECT x.* FROM task_dependencies x WHERE x.workspace_id = s.workspace_id AND x.task_id = s.id
      AND x.settled_at IS NULL OFFSET 0) d
  UNION
  SELECT d.* FROM subject s CROSS JOIN LATERAL (
    SELECT x.* FROM task_dependencies x
    WHERE x.workspace_id = s.workspace_id AND x.depends_on_id = s.id
      AND x.settled_at IS NULL OFFSET 0) d
)
SELECT DISTINCT p.workspace_id, p.id
FROM edge d
CROSS JOIN LATERAL (SELECT x.* FROM agent_tasks x
  WHERE x.workspace_id = d.workspace_id AND x.id = d.depends_on_id OFFSET 0) p
CROSS JOIN LATERAL (SELECT x.* FROM agent_tasks x
  WHERE x.workspace_id = d.workspace_id AND x.id = d.task_id OFFSET 0) t
WHERE NOT t.status IN ('COMPLETED', 'ARCHIVED')
  AND (NOT p.has_dependents OR (NOT p.dependents_unsettled AND (d.settled_at IS NULL AND NOT t.status IN ('COMPLETED', 'ARCHIVED') AND (((p.status = 'COMPLETED' OR (p.status = 'ARCHIVED' AND p.completed_at IS NOT NULL)) OR (d.policy = 'ignore' AND (p.status = 'FAILED' OR (p.status = 'ABORTED' AND p.retry_at IS NULL)
  OR (p.status = 'ARCHIVED' AND p.completed_at IS NULL))))
  OR (d.policy = 'fail' AND t.status IN ('PENDING', 'PAUSED') AND (p.status = 'FAILED' OR (p.status = 'ABORTED' AND p.retry_at IS NULL)
  OR (p.status = 'ARCHIVED' AND p.completed_at IS NULL)))))))
LIMIT $1

-- find_leased_defects
WITH subject AS MATERIALIZED (
  SELECT j.workspace_id, j.task_id AS id FROM journal j WHERE j.id > $3::bigint AND j.id <= $4::bigint AND ($2::uuid IS NULL OR j.workspace_id = $2) AND j.task_id IS NOT NULL
  UNION
  SELECT k.workspace_id, k.id FROM agent_tasks k WHERE (k.workspace_id, k.id) > ($5::uuid, $6::uuid)
    AND (k.workspace_id, k.id) <= ($7::uuid, $8::uuid)
)
SELECT t.workspace_id, t.id
FROM subject s CROSS JOIN LATERAL (
  SELECT x.* FROM agent_tasks x WHERE x.workspace_id = s.workspace_id AND x.id = s.id OFFSET 0) t
LEFT JOIN task_runs r ON r.workspace_id = t.workspace_id AND r.id = t.run_id
LEFT JOIN agents a ON a.workspace_id = r.workspace_id AND a.id = r.agent_id
WHERE t.status IN ('ASSIGNED', 'RUNNING', 'PAUSED') AND t.run_id IS NOT NULL AND CASE WHEN r.id IS NULL OR r.task_id <> t.id OR r.ended_at IS NOT NULL THEN 'no_live_run'
  WHEN a.lifecycle = 'TERMINATED' THEN 'agent_gone'
  WHEN t.status = 'ASSIGNED' AND r.state <> 'ASSIGNED' THEN 'task_behind'
  WHEN t.status = 'RUNNING' AND r.state = 'ASSIGNED' THEN 'run_behind' END IS NOT NULL
LIMIT $1

-- find_miscounted_agents
WITH subject AS MATERIALIZED (
  SELECT j.workspace_id, j.agent_id AS id FROM journal j WHERE j.id > $3::bigint AND j.id <= $4::bigint AND ($2::uuid IS NULL OR j.workspace_id = $2) AND j.agent_id IS NOT NULL
  UNION
  SELECT k.workspace_id, k.id FROM agents k WHERE (k.workspace_id, k.id) > ($5::uuid, $6::uuid)
    AND (k.workspace_id, k.id) <= ($7::uuid, $8::uuid)
)
SELECT a.workspace_id, a.id
FROM subject s CROSS JOIN LATERAL (
  SELECT x.* FROM agents x WHERE x.workspace_id = s.workspace_id AND x.id = s.id OFFSET 0) a
WHERE a.lifecycle <> 'TERMINATED' AND a.live_runs <> (SELECT count(*) FROM task_runs r
  WHERE r.workspace_id = a.workspace_id AND r.agent_id = a.id AND r.state IN ('ASSIGNED', 'WORKING', 'STALE'))
LIMIT $1

-- find_miscounted_budgets
WITH subject AS MATERIALIZED (
  SELECT n.workspace_id
  FROM (SELECT DISTINCT j.workspace_id FROM journal j WHERE j.id > $3::bigint AND j.id <= $4::bigint AND ($2::uuid IS NULL OR j.workspace_id = $2)) n
  WHERE EXISTS (SELECT FROM usage_budgets k WHERE k.workspace_id = n.workspace_id)
  UNION
  SELECT k.workspace_id FROM usage_budgets k WHERE (k.workspace_id, k.id) > ($5::uuid, $6::uuid)
    AND (k.workspace_id, k.id) <= ($7::uuid, $8::uuid)
),
held AS MATERIALIZED (
  SELECT s.workspace_id, i.budget_id, sum(r.held_tokens) AS tokens
  FROM subject s
  CROSS JOIN LATERAL (SELECT x.held_tokens, x.budget_ids FROM task_runs x
    WHERE x.workspace_id = s.workspace_id AND x.state IN ('ASSIGNED', 'WORKING', 'STALE') AND x.held_tokens > 0 OFFSET 0) r
  CROSS JOIN LATERAL unnest(r.budget_ids) AS i (budget_id)
  GROUP BY 1, 2
)
SELECT b.workspace_id, b.id
FROM subject s
CROSS JOIN LATERAL (
  SELECT x.workspace_id, x.id, x.reserved FROM usage_budgets x
  WHERE x.workspace_id = s.workspace_id OFFSET 0) b
LEFT JOIN held h ON h.workspace_id = b.workspace_id AND h.budget_id = b.id
WHERE b.reserved <> coalesce(h.tokens, 0)
LIMIT $1

-- find_miscounted_tasks
WITH subject AS MATERIALIZED (
  SELECT j.workspace_id, j.task_id AS id FROM journal j WHERE j.id > $3::bigint AND j.id <= $4::bigint AND ($2::uuid IS NULL OR j.workspace_id = $2) AND j.task_id IS NOT NULL
  UNION
  SELECT k.workspace_id, k.id FROM agent_tasks k WHERE (k.workspace_id, k.id) > ($5::uuid, $6::uuid)
    AND (k.workspace_id, k.id) <= ($7::uuid, $8::uuid)
)
SELECT t.workspace_id, t.id
FROM subject s CROSS JOIN LATERAL (
  SELECT x.* FROM agent_tasks x WHERE x.workspace_id = s.workspace_id AND x.id = s.id OFFSET 0) t
CROSS JOIN LATERAL (SELECT count(*) AS edges FROM task_dependencies d
  WHERE d.workspace_id = t.workspace_id AND d.task_id = t.id AND d.settled_at IS NULL) c
WHERE (t.status IN ('PENDING', 'PAUSED') OR (t.status = 'ABORTED' AND t.retry_at IS NOT NULL)) AND CASE WHEN t.unmet_dependencies > 0
  THEN t.unmet_dependencies <> (c.edges + t.waits_for_start::int + t.waits_for_slot::int) ELSE c.edges > 0 END
LIMIT $1

-- find_rivals
WITH subject AS MATERIALIZED (
  SELECT j.workspace_id, j.agent_id AS id FROM journal j WHERE j.id > $3::bigint AND j.id <= $4::bigint AND ($2::uuid IS NULL OR j.workspace_id = $2) AND j.agent_id IS NOT NULL
  UNION
  SELECT r.workspace_id, r.agent_id
  FROM (SELECT DISTINCT j.workspace_id, j.task_id FROM journal j
    WHERE j.id > $3::bigint AND j.id <= $4::bigint AND ($2::uuid IS NULL OR j.workspace_id = $2) AND j.task_id IS NOT NULL) n
  CROSS JOIN LATERAL (
    SELECT x.* FROM task_runs x WHERE x.workspace_id = n.workspace_id AND x.task_id = n.task_id
      AND x.ended_at IS NOT NULL OFFSET 0) r
  UNION
  SELECT k.workspace_id, k.id FROM agents k WHERE (k.workspace_id, k.id) > ($5::uuid, $6::uuid)
    AND (k.workspace_id, k.id) <= ($7::uuid, $8::uuid)
)
SELECT s.workspace_id, s.id,
  (extract(epoch FROM p.after + make_interval(secs => 2 * a.heartbeat_interval_seconds) - now())
    * 1000)::float8 AS open_ms
FROM subject s
CROSS JOIN LATERAL (
  SELECT x.* FROM agent_heartbeats x WHERE x.workspace_id = s.workspace_id AND x.agent_id = s.id
    AND x.current_task_id IS NOT NULL OFFSET 0) h
CROSS JOIN LATERAL (
  SELECT x.* FROM agent_tasks x WHERE x.workspace_id = s.workspace_id
    AND x.id = h.current_task_id OFFSET 0) t
CROSS JOIN LATERAL (
  SELECT x.* FROM agents x WHERE x.workspace_id = s.workspace_id AND x.id = s.id OFFSET 0) a
CROSS JOIN LATERAL (SELECT t.assigned_at + make_interval(secs => 2 * a.heartbeat_interval_seconds) AS after) p
WHERE (t.run_id IS NOT NULL AND t.agent_id IS DISTINCT FROM h.agent_id)
  AND (h.last_seen_at > p.after
    OR now() < p.after + make_interval(secs => 2 * a.heartbeat_interval_seconds))
LIMIT $1

-- find_stray_runs
WITH subject AS MATERIALIZED (
  SELECT j.workspace_id, j.task_id AS id FROM journal j WHERE j.id > $3::bigint AND j.id <= $4::bigint AND ($2::uuid IS NULL OR j.workspace_id = $2) AND j.task_id IS NOT NULL
  UNION
  SELECT k.workspace_id, k.id FROM agent_tasks k WHERE (k.workspace_id, k.id) > ($5::uuid, $6::uuid)
    AND (k.workspace_id, k.id) <= ($7::uuid, $8::uuid)
)
SELECT r.workspace_id, r.id, r.task_id
FROM subject s
CROSS JOIN LATERAL (
  SELECT x.* FROM task_runs x WHERE x.workspace_id = s.workspace_id AND x.task_id = s.id
    AND x.ended_at IS NULL OFFSET 0) r
CROSS JOIN LATERAL (
  SELECT x.* FROM agent_tasks x WHERE x.workspace_id = s.workspace_id AND x.id = s.id OFFSET 0) t
WHERE r.state IN ('ASSIGNED', 'WORKING', 'STALE') AND t.run_id IS DISTINCT FROM r.id
LIMIT $1

-- find_unclaimable_tasks
WITH subject AS MATERIALIZED (
  SELECT j.workspace_id, j.task_id AS id FROM journal j WHERE j.id > $3::bigint AND j.id <= $4::bigint AND ($2::uuid IS NULL OR j.workspace_id = $2) AND j.task_id IS NOT NULL
  UNION
  SELECT k.workspace_id, k.id FROM agent_tasks k WHERE (k.workspace_id, k.id) > ($5::uuid, $6::uuid)
    AND (k.workspace_id, k.id) <= ($7::uuid, $8::uuid)
)
SELECT t.workspace_id, t.id
FROM subject s CROSS JOIN LATERAL (
  SELECT x.* FROM agent_tasks x WHERE x.workspace_id = s.workspace_id AND x.id = s.id OFFSET 0) t
LEFT JOIN capability_sets c ON c.workspace_id = t.workspace_id
  AND c.key = CASE WHEN t.capability_key LIKE '!%' THEN substr(t.capability_key, 2) ELSE t.capability_key END
WHERE (t.status IN ('PENDING', 'PAUSED') OR (t.status = 'ABORTED' AND t.retry_at IS NOT NULL))
  AND (c.key IS NULL OR NOT (c.capabilities <@ t.required_capabilities
    AND c.capabilities @> t.required_capabilities)
    OR EXISTS (SELECT FROM task_runs r
      WHERE r.workspace_id = t.workspace_id AND r.task_id = t.id AND r.generation > t.generation))
LIMIT $1

-- forget_runs
WITH forgot AS (
  UPDATE agent_tasks t SET run_id = NULL, updated_at = now()
  FROM jsonb_to_recordset($1::jsonb) AS m (workspace_id uuid, id uuid)
  WHERE t.workspace_id = m.workspace_id AND t.id = m.id AND t.status = 'PAUSED'
  RETURNING t.workspace_id, t.id, t.agent_id, old.run_id
),
logged AS (
  INSERT INTO task_log_lines (workspace_id, task_id, run_id, agent_id, level, event, message, actor_kind)
  SELECT workspace_id, id, run_id, agent_id, 'WARN', 'state_repaired', 'Run that is not live removed; the task stays paused', 'coordinator'
  FROM forgot
)
SELECT workspace_id, id FROM forgot

-- grant_free_slots
WITH RECURSIVE keys AS (
  (SELECT t.workspace_id, t.concurrency_key FROM agent_tasks t
   WHERE t.waits_for_slot AND t.status = 'PENDING' AND t.unmet_dependencies = 1 AND ($2::uuid IS NULL OR t.workspace_id = $2)
   ORDER BY t.workspace_id, t.concurrency_key LIMIT 1)
  UNION ALL
  SELECT n.workspace_id, n.concurrency_key FROM keys k CROSS JOIN LATERAL (
    SELECT t.workspace_id, t.concurrency_key FROM agent_tasks t
    WHERE t.waits_for_slot AND t.status = 'PENDING' AND t.unmet_dependencies = 1 AND ($2::uuid IS NULL OR t.workspace_id = $2)
      AND (t.workspace_id, t.concurrency_key) > (k.workspace_id, k.concurrency_key)
    ORDER BY t.workspace_id, t.concurrency_key LIMIT 1) n
),
chosen AS MATERIALIZED (
  SELECT k.workspace_id, c.id FROM keys k
  CROSS JOIN LATERAL (
    SELECT count(*) AS taken FROM agent_tasks t
    WHERE t.workspace_id = k.workspace_id AND t.concurrency_key = k.concurrency_key
      AND NOT t.waits_for_slot AND (t.status IN ('PENDING', 'ASSIGNED', 'RUNNING', 'PAUSED') OR (t.status = 'ABORTED' AND t.retry_at IS NOT NULL))) slots
  CROSS JOIN LATERAL (
    SELECT t.concurrency_limit AS most FROM agent_tasks t WHERE t.workspace_id = k.workspace_id AND t.concurrency_key = k.concurrency_key AND t.waits_for_slot AND t.status = 'PENDING' AND t.unmet_dependencies = 1
    ORDER BY t.priority DESC, t.created_at, t.id LIMIT 1) head
  CROSS JOIN LATERAL (
    SELECT t.id, t.concurrency_limit,
      row_number() OVER (ORDER BY t.priority DESC, t.created_at, t.id) AS place
    FROM agent_tasks t WHERE t.workspace_id = k.workspace_id AND t.concurrency_key = k.concurrency_key AND t.waits_for_slot AND t.status = 'PENDING' AND t.unmet_dependencies = 1
    ORDER BY t.priority DESC, t.created_at, t.id LIMIT greatest(0, head.most - slots.taken)) c
  WHERE slots.taken + c.place <= c.concurrency_limit
  LIMIT $1
),
locked AS MATERIALIZED (
  SELECT t.workspace_id, t.id FROM agent_tasks t
  JOIN chosen c ON c.workspace_id = t.workspace_id AND c.id = t.id
  WHERE t.waits_for_slot AND t.status = 'PENDING' AND t.unmet_dependencies = 1
  FOR NO KEY UPDATE OF t SKIP LOCKED
),
granted AS (
  UPDATE agent_tasks t SET waits_for_slot = false, unmet_dependencies = 0, ready_at = now()
  FROM locked l WHERE t.workspace_id = l.workspace_id AND t.id = l.id
  RETURNING t.workspace_id, t.id
),
logged AS (
  INSERT INTO task_log_lines (workspace_id, task_id, event, message, actor_kind)
  SELECT workspace_id, id, 'slot_granted', 'Its concurrency key has a free slot', 'coordinator'
  FROM granted
)
SELECT workspace_id FROM granted

-- lock_dependents
WITH concerned AS MATERIALIZED (
  SELECT DISTINCT edge.workspace_id, edge.task_id
  FROM jsonb_to_recordset($1::jsonb) AS ended (workspace_id uuid, id uuid)
  JOIN agent_tasks p ON p.workspace_id = ended.workspace_id AND p.id = ended.id
  CROSS JOIN LATERAL (
    SELECT d.workspace_id, d.task_id
    FROM task_dependencies d JOIN agent_tasks t ON t.workspace_id = d.workspace_id
      AND t.id = d.task_id
    WHERE d.workspace_id = p.workspace_id AND d.depends_on_id = p.id AND (d.settled_at IS NULL AND NOT t.status IN ('COMPLETED', 'ARCHIVED') AND (((p.status = 'COMPLETED' OR (p.status = 'ARCHIVED' AND p.completed_at IS NOT NULL)) OR (d.policy = 'ignore' AND (p.status = 'FAILED' OR (p.status = 'ABORTED' AND p.retry_at IS NULL)
  OR (p.status = 'ARCHIVED' AND p.completed_at IS NULL))))
  OR (d.policy = 'fail' AND t.status IN ('PENDING', 'PAUSED') AND (p.status = 'FAILED' OR (p.status = 'ABORTED' AND p.retry_at IS NULL)
  OR (p.status = 'ARCHIVED' AND p.completed_at IS NULL)))))
    LIMIT $2) edge
),
waiting AS MATERIALIZED (
  SELECT t.* FROM concerned c JOIN agent_tasks t ON t.workspace_id = c.workspace_id
    AND t.id = c.task_id
  WHERE NOT t.status IN ('COMPLETED', 'ARCHIVED')
  ORDER BY t.workspace_id, t.id
  FOR NO KEY UPDATE OF t
)
SELECT t.id, t.workspace_id, t.status, t.version, t.retry_count, t.max_retries,
  t.retry_backoff_seconds, CASE WHEN t.agent IS NULL THEN NULL WHEN t.retry_count = 0 THEN 0 ELSE (
    SELECT least(t.retry_count, count(*)::int) FROM task_runs f
    WHERE f.workspace_id = t.workspace_id AND f.task_id = t.id AND f.state = 'FAILED'
      AND f.generation > coalesce((SELECT max(p.generation) FROM task_runs p
        WHERE p.workspace_id = t.workspace_id AND p.task_id = t.id AND p.ended_at IS NOT NULL
          AND (p.last_progress_at IS NOT NULL AND p.end_reason IS DISTINCT FROM 'stuck')), 0)) END AS fruitless_runs, t.retry_at, t.has_dependents, t.run_id, r.state AS run_state,
  r.started_at IS NOT NULL AS run_started,
  (r.last_progress_at IS NOT NULL AND r.end_reason IS DISTINCT FROM 'stuck') AS run_progressed,
  r.pause_requested_at IS NOT NULL AS pause_requested,
  r.deadline_at <= now() AND r.state IN ('ASSIGNED', 'WORKING', 'STALE') AS past_deadline, t.agent_id,
  (t.status = 'PAUSED' AND t.paused_for = 'question') AS waits_for_answer, (t.status = 'PAUSED' AND t.paused_for = 'review') AS waits_for_review, blame.id IS NOT NULL AND t.status IN ('PENDING', 'PAUSED') AS fails, blame.id AS failed_prerequisite
FROM waiting t
LEFT JOIN task_runs r ON r.workspace_id = t.workspace_id AND r.id = t.run_id
LEFT JOIN LATERAL (
  SELECT p.id FROM task_dependencies d JOIN agent_tasks p
    ON p.workspace_id = d.workspace_id AND p.id = d.depends_on_id
  WHERE d.workspace_id = t.workspace_id AND d.task_id = t.id AND d.settled_at IS NULL
    AND d.policy = 'fail' AND (p.status = 'FAILED' OR (p.status = 'ABORTED' AND p.retry_at IS NULL)
  OR (p.status = 'ARCHIVED' AND p.completed_at IS NULL))
  LIMIT 1) blame ON true

-- lock_expired_runs
SELECT t.id, t.workspace_id, t.status, t.version, t.retry_count, t.max_retries,
  t.retry_backoff_seconds, CASE WHEN t.agent IS NULL THEN NULL WHEN t.retry_count = 0 THEN 0 ELSE (
    SELECT least(t.retry_count, count(*)::int) FROM task_runs f
    WHERE f.workspace_id = t.workspace_id AND f.task_id = t.id AND f.state = 'FAILED'
      AND f.generation > coalesce((SELECT max(p.generation) FROM task_runs p
        WHERE p.workspace_id = t.workspace_id AND p.task_id = t.id AND p.ended_at IS NOT NULL
          AND (p.last_progress_at IS NOT NULL AND p.end_reason IS DISTINCT FROM 'stuck')), 0)) END AS fruitless_runs, t.retry_at, t.has_dependents, t.run_id, r.state AS run_state,
  r.started_at IS NOT NULL AS run_started,
  (r.last_progress_at IS NOT NULL AND r.end_reason IS DISTINCT FROM 'stuck') AS run_progressed,
  r.pause_requested_at IS NOT NULL AS pause_requested,
  r.deadline_at <= now() AND r.state IN ('ASSIGNED', 'WORKING', 'STALE') AS past_deadline, t.agent_id,
  (t.status = 'PAUSED' AND t.paused_for = 'question') AS waits_for_answer, (t.status = 'PAUSED' AND t.paused_for = 'review') AS waits_for_review
FROM task_runs r
JOIN agent_tasks t ON t.workspace_id = r.workspace_id AND t.id = r.task_id AND t.run_id = r.id

WHERE r.state IN ('ASSIGNED', 'WORKING', 'STALE') AND r.lease_expires_at <= now() AND NOT r.lease_by_heartbeat AND NOT EXISTS (SELECT FROM session_spawns ss
    WHERE ss.workspace_id = r.workspace_id AND ss.run_id = r.id)
  AND ($2::uuid IS NULL OR r.workspace_id = $2)
ORDER BY r.lease_expires_at
LIMIT $1
-- Locks both, so that a renewal or report before the lock counts.
FOR NO KEY UPDATE OF t, r SKIP LOCKED

-- lock_expired_runs_without_heartbeats
SELECT t.id, t.workspace_id, t.status, t.version, t.retry_count, t.max_retries,
  t.retry_backoff_seconds, CASE WHEN t.agent IS NULL THEN NULL WHEN t.retry_count = 0 THEN 0 ELSE (
    SELECT least(t.retry_count, count(*)::int) FROM task_runs f
    WHERE f.workspace_id = t.workspace_id AND f.task_id = t.id AND f.state = 'FAILED'
      AND f.generation > coalesce((SELECT max(p.generation) FROM task_runs p
        WHERE p.workspace_id = t.workspace_id AND p.task_id = t.id AND p.ended_at IS NOT NULL
          AND (p.last_progress_at IS NOT NULL AND p.end_reason IS DISTINCT FROM 'stuck')), 0)) END AS fruitless_runs, t.retry_at, t.has_dependents, t.run_id, r.state AS run_state,
  r.started_at IS NOT NULL AS run_started,
  (r.last_progress_at IS NOT NULL AND r.end_reason IS DISTINCT FROM 'stuck') AS run_progressed,
  r.pause_requested_at IS NOT NULL AS pause_requested,
  r.deadline_at <= now() AND r.state IN ('ASSIGNED', 'WORKING', 'STALE') AS past_deadline, t.agent_id,
  (t.status = 'PAUSED' AND t.paused_for = 'question') AS waits_for_answer, (t.status = 'PAUSED' AND t.paused_for = 'review') AS waits_for_review
FROM task_runs r
JOIN agent_tasks t ON t.workspace_id = r.workspace_id AND t.id = r.task_id AND t.run_id = r.id
JOIN (SELECT h.workspace_id, h.agent_id FROM agent_heartbeats h WHERE h.next_expected_at = 'infinity'
  UNION ALL
  SELECT a.workspace_id, a.id FROM agents a WHERE $3::boolean AND a.live_runs > 0
    AND NOT EXISTS (SELECT FROM agent_heartbeats h
      WHERE h.workspace_id = a.workspace_id AND h.agent_id = a.id)
  OFFSET 0) a ON a.workspace_id = r.workspace_id AND a.agent_id = r.agent_id
WHERE r.state IN ('ASSIGNED', 'WORKING', 'STALE') AND r.lease_by_heartbeat AND r.lease_expires_at <= now()
  AND ($2::uuid IS NULL OR r.workspace_id = $2)
ORDER BY r.workspace_id, r.task_id
LIMIT $1
-- Locks both, so that a renewal or report before the lock counts.
FOR NO KEY UPDATE OF t, r SKIP LOCKED

-- lock_for_repair
SELECT t.workspace_id, t.id FROM agent_tasks t
WHERE (t.workspace_id, t.id) IN (
  SELECT m.workspace_id, m.id FROM jsonb_to_recordset($1::jsonb) AS m (workspace_id uuid, id uuid))
ORDER BY t.workspace_id, t.id
FOR NO KEY UPDATE SKIP LOCKED

-- lock_hung_runs
SELECT t.id, t.workspace_id, t.status, t.version, t.retry_count, t.max_retries,
  t.retry_backoff_seconds, CASE WHEN t.agent IS NULL THEN NULL WHEN t.retry_count = 0 THEN 0 ELSE (
    SELECT least(t.retry_count, count(*)::int) FROM task_runs f
    WHERE f.workspace_id = t.workspace_id AND f.task_id = t.id AND f.state = 'FAILED'
      AND f.generation > coalesce((SELECT max(p.generation) FROM task_runs p
        WHERE p.workspace_id = t.workspace_id AND p.task_id = t.id AND p.ended_at IS NOT NULL
          AND (p.last_progress_at IS NOT NULL AND p.end_reason IS DISTINCT FROM 'stuck')), 0)) END AS fruitless_runs, t.retry_at, t.has_dependents, t.run_id, r.state AS run_state,
  r.started_at IS NOT NULL AS run_started,
  (r.last_progress_at IS NOT NULL AND r.end_reason IS DISTINCT FROM 'stuck') AS run_progressed,
  r.pause_requested_at IS NOT NULL AS pause_requested,
  r.deadline_at <= now() AND r.state IN ('ASSIGNED', 'WORKING', 'STALE') AS past_deadline, t.agent_id,
  (t.status = 'PAUSED' AND t.paused_for = 'question') AS waits_for_answer, (t.status = 'PAUSED' AND t.paused_for = 'review') AS waits_for_review
FROM task_runs r
JOIN agent_tasks t ON t.workspace_id = r.workspace_id AND t.id = r.task_id AND t.run_id = r.id

WHERE r.state IN ('ASSIGNED', 'WORKING', 'STALE') AND r.hung_warned_at <= now() - make_interval(secs => $3::float8) AND r.state IN ('WORKING', 'STALE')
    AND t.status = 'RUNNING' AND NOT EXISTS (SELECT FROM questions q
    WHERE q.workspace_id = r.workspace_id AND q.task_id = r.task_id AND q.run_id = r.id
      AND q.run_waits
      AND (q.closed_at IS NULL OR q.closed_at > now() - make_interval(secs => $3::float8)))
  AND ($2::uuid IS NULL OR r.workspace_id = $2)
ORDER BY r.hung_warned_at
LIMIT $1
-- Locks both, so that a renewal or report before the lock counts.
FOR NO KEY UPDATE OF t, r SKIP LOCKED

-- lock_miscounted_agents
SELECT a.workspace_id, a.id FROM agents a
WHERE (a.workspace_id, a.id) IN (SELECT m.workspace_id, m.id FROM jsonb_to_recordset($1::jsonb) AS m (workspace_id uuid, id uuid))
ORDER BY a.id
FOR NO KEY UPDATE SKIP LOCKED

-- lock_miscounted_budgets
WITH miscounted AS MATERIALIZED (SELECT m.workspace_id, m.id FROM jsonb_to_recordset($1::jsonb) AS m (workspace_id uuid, id uuid)),
forgotten AS MATERIALIZED (
  SELECT r.workspace_id, r.id FROM task_runs r
  WHERE r.held_tokens > 0 AND NOT r.state IN ('ASSIGNED', 'WORKING', 'STALE')
    AND EXISTS (SELECT FROM miscounted m WHERE m.workspace_id = r.workspace_id
      AND m.id = ANY (r.budget_ids))
  ORDER BY r.id FOR NO KEY UPDATE
),
given_up AS (
  UPDATE task_runs r SET held_tokens = 0 FROM forgotten f
    WHERE r.workspace_id = f.workspace_id AND r.id = f.id
)
SELECT b.workspace_id, b.id FROM usage_budgets b
WHERE (b.workspace_id, b.id) IN (SELECT m.workspace_id, m.id FROM miscounted m)
  AND (SELECT count(*) FROM forgotten) >= 0
ORDER BY b.id FOR NO KEY UPDATE

-- lock_overdue_runs
SELECT t.id, t.workspace_id, t.status, t.version, t.retry_count, t.max_retries,
  t.retry_backoff_seconds, CASE WHEN t.agent IS NULL THEN NULL WHEN t.retry_count = 0 THEN 0 ELSE (
    SELECT least(t.retry_count, count(*)::int) FROM task_runs f
    WHERE f.workspace_id = t.workspace_id AND f.task_id = t.id AND f.state = 'FAILED'
      AND f.generation > coalesce((SELECT max(p.generation) FROM task_runs p
        WHERE p.workspace_id = t.workspace_id AND p.task_id = t.id AND p.ended_at IS NOT NULL
          AND (p.last_progress_at IS NOT NULL AND p.end_reason IS DISTINCT FROM 'stuck')), 0)) END AS fruitless_runs, t.retry_at, t.has_dependents, t.run_id, r.state AS run_state,
  r.started_at IS NOT NULL AS run_started,
  (r.last_progress_at IS NOT NULL AND r.end_reason IS DISTINCT FROM 'stuck') AS run_progressed,
  r.pause_requested_at IS NOT NULL AS pause_requested,
  r.deadline_at <= now() AND r.state IN ('ASSIGNED', 'WORKING', 'STALE') AS past_deadline, t.agent_id,
  (t.status = 'PAUSED' AND t.paused_for = 'question') AS waits_for_answer, (t.status = 'PAUSED' AND t.paused_for = 'review') AS waits_for_review
FROM task_runs r
JOIN agent_tasks t ON t.workspace_id = r.workspace_id AND t.id = r.task_id AND t.run_id = r.id

WHERE r.state IN ('ASSIGNED', 'WORKING', 'STALE') AND (r.deadline_at <= now() - interval '60 seconds' AND r.state IN ('ASSIGNED', 'WORKING', 'STALE'))
  AND ($2::uuid IS NULL OR r.workspace_id = $2)
ORDER BY r.deadline_at
LIMIT $1
-- Locks both, so that a renewal or report before the lock counts.
FOR NO KEY UPDATE OF t, r SKIP LOCKED

-- lock_runs_of_archived_workspaces
SELECT t.id, t.workspace_id, t.status, t.version, t.retry_count, t.max_retries,
  t.retry_backoff_seconds, CASE WHEN t.agent IS NULL THEN NULL WHEN t.retry_count = 0 THEN 0 ELSE (
    SELECT least(t.retry_count, count(*)::int) FROM task_runs f
    WHERE f.workspace_id = t.workspace_id AND f.task_id = t.id AND f.state = 'FAILED'
      AND f.generation > coalesce((SELECT max(p.generation) FROM task_runs p
        WHERE p.workspace_id = t.workspace_id AND p.task_id = t.id AND p.ended_at IS NOT NULL
          AND (p.last_progress_at IS NOT NULL AND p.end_reason IS DISTINCT FROM 'stuck')), 0)) END AS fruitless_runs, t.retry_at, t.has_dependents, t.run_id, r.state AS run_state,
  r.started_at IS NOT NULL AS run_started,
  (r.last_progress_at IS NOT NULL AND r.end_reason IS DISTINCT FROM 'stuck') AS run_progressed,
  r.pause_requested_at IS NOT NULL AS pause_requested,
  r.deadline_at <= now() AND r.state IN ('ASSIGNED', 'WORKING', 'STALE') AS past_deadline, t.agent_id,
  (t.status = 'PAUSED' AND t.paused_for = 'question') AS waits_for_answer, (t.status = 'PAUSED' AND t.paused_for = 'review') AS waits_for_review
FROM task_runs r
JOIN agent_tasks t ON t.workspace_id = r.workspace_id AND t.id = r.task_id AND t.run_id = r.id
JOIN workspaces w ON w.id = r.workspace_id
WHERE r.state IN ('ASSIGNED', 'WORKING', 'STALE') AND w.archived_at IS NOT NULL
  AND ($2::uuid IS NULL OR r.workspace_id = $2)
ORDER BY r.workspace_id, r.task_id
LIMIT $1
-- Locks both, so that a renewal or report before the lock counts.
FOR NO KEY UPDATE OF t, r SKIP LOCKED

-- lock_runs_of_lost_agents
SELECT t.id, t.workspace_id, t.status, t.version, t.retry_count, t.max_retries,
  t.retry_backoff_seconds, CASE WHEN t.agent IS NULL THEN NULL WHEN t.retry_count = 0 THEN 0 ELSE (
    SELECT least(t.retry_count, count(*)::int) FROM task_runs f
    WHERE f.workspace_id = t.workspace_id AND f.task_id = t.id AND f.state = 'FAILED'
      AND f.generation > coalesce((SELECT max(p.generation) FROM task_runs p
        WHERE p.workspace_id = t.workspace_id AND p.task_id = t.id AND p.ended_at IS NOT NULL
          AND (p.last_progress_at IS NOT NULL AND p.end_reason IS DISTINCT FROM 'stuck')), 0)) END AS fruitless_runs, t.retry_at, t.has_dependents, t.run_id, r.state AS run_state,
  r.started_at IS NOT NULL AS run_started,
  (r.last_progress_at IS NOT NULL AND r.end_reason IS DISTINCT FROM 'stuck') AS run_progressed,
  r.pause_requested_at IS NOT NULL AS pause_requested,
  r.deadline_at <= now() AND r.state IN ('ASSIGNED', 'WORKING', 'STALE') AS past_deadline, t.agent_id,
  (t.status = 'PAUSED' AND t.paused_for = 'question') AS waits_for_answer, (t.status = 'PAUSED' AND t.paused_for = 'review') AS waits_for_review
FROM task_runs r
JOIN agent_tasks t ON t.workspace_id = r.workspace_id AND t.id = r.task_id AND t.run_id = r.id
JOIN agents a ON a.workspace_id = r.workspace_id AND a.id = r.agent_id
WHERE r.state IN ('ASSIGNED', 'WORKING', 'STALE') AND a.live_runs > 0
    AND (a.lifecycle = 'TERMINATED' OR (a.lifecycle = 'ERROR' AND NOT (NOT r.lease_by_heartbeat AND EXISTS (SELECT FROM session_spawns ss
    WHERE ss.workspace_id = r.workspace_id AND ss.run_id = r.id))))
  AND ($2::uuid IS NULL OR r.workspace_id = $2)
ORDER BY r.workspace_id, r.task_id
LIMIT $1
-- Locks both, so that a renewal or report before the lock counts.
FOR NO KEY UPDATE OF t, r SKIP LOCKED

-- lock_runs_of_lost_gateways
SELECT t.id, t.workspace_id, t.status, t.version, t.retry_count, t.max_retries,
  t.retry_backoff_seconds, CASE WHEN t.agent IS NULL THEN NULL WHEN t.retry_count = 0 THEN 0 ELSE (
    SELECT least(t.retry_count, count(*)::int) FROM task_runs f
    WHERE f.workspace_id = t.workspace_id AND f.task_id = t.id AND f.state = 'FAILED'
      AND f.generation > coalesce((SELECT max(p.generation) FROM task_runs p
        WHERE p.workspace_id = t.workspace_id AND p.task_id = t.id AND p.ended_at IS NOT NULL
          AND (p.last_progress_at IS NOT NULL AND p.end_reason IS DISTINCT FROM 'stuck')), 0)) END AS fruitless_runs, t.retry_at, t.has_dependents, t.run_id, r.state AS run_state,
  r.started_at IS NOT NULL AS run_started,
  (r.last_progress_at IS NOT NULL AND r.end_reason IS DISTINCT FROM 'stuck') AS run_progressed,
  r.pause_requested_at IS NOT NULL AS pause_requested,
  r.deadline_at <= now() AND r.state IN ('ASSIGNED', 'WORKING', 'STALE') AS past_deadline, t.agent_id,
  (t.status = 'PAUSED' AND t.paused_for = 'question') AS waits_for_answer, (t.status = 'PAUSED' AND t.paused_for = 'review') AS waits_for_review
FROM task_runs r
JOIN agent_tasks t ON t.workspace_id = r.workspace_id AND t.id = r.task_id AND t.run_id = r.id
JOIN session_spawns s ON s.workspace_id = r.workspace_id AND s.run_id = r.id
    AND s.state = 'SPAWNED'
JOIN gateways g ON g.id = s.gateway_id
JOIN agents a ON a.workspace_id = r.workspace_id AND a.id = r.agent_id
CROSS JOIN LATERAL (SELECT greatest($3::float8, a.stale_threshold_seconds) AS seconds) AS longest
WHERE r.state IN ('ASSIGNED', 'WORKING', 'STALE') AND r.lease_by_heartbeat AND longest.seconds <= $4::float8
    AND greatest(g.last_seen_at, s.settled_at) < now() - make_interval(secs => longest.seconds)
    AND EXISTS (SELECT FROM gateways other
      WHERE other.id <> g.id AND other.last_seen_at > now() - make_interval(secs => $3::float8))
  AND ($2::uuid IS NULL OR r.workspace_id = $2)
ORDER BY r.workspace_id, r.task_id
LIMIT $1
-- Locks both, so that a renewal or report before the lock counts.
FOR NO KEY UPDATE OF t, r SKIP LOCKED

-- lock_runs_under_pauses
SELECT t.id, t.workspace_id, t.status, t.version, t.retry_count, t.max_retries,
  t.retry_backoff_seconds, CASE WHEN t.agent IS NULL THEN NULL WHEN t.retry_count = 0 THEN 0 ELSE (
    SELECT least(t.retry_count, count(*)::int) FROM task_runs f
    WHERE f.workspace_id = t.workspace_id AND f.task_id = t.id AND f.state = 'FAILED'
      AND f.generation > coalesce((SELECT max(p.generation) FROM task_runs p
        WHERE p.workspace_id = t.workspace_id AND p.task_id = t.id AND p.ended_at IS NOT NULL
          AND (p.last_progress_at IS NOT NULL AND p.end_reason IS DISTINCT FROM 'stuck')), 0)) END AS fruitless_runs, t.retry_at, t.has_dependents, t.run_id, r.state AS run_state,
  r.started_at IS NOT NULL AS run_started,
  (r.last_progress_at IS NOT NULL AND r.end_reason IS DISTINCT FROM 'stuck') AS run_progressed,
  r.pause_requested_at IS NOT NULL AS pause_requested,
  r.deadline_at <= now() AND r.state IN ('ASSIGNED', 'WORKING', 'STALE') AS past_deadline, t.agent_id,
  (t.status = 'PAUSED' AND t.paused_for = 'question') AS waits_for_answer, (t.status = 'PAUSED' AND t.paused_for = 'review') AS waits_for_review
FROM task_runs r
JOIN agent_tasks t ON t.workspace_id = r.workspace_id AND t.id = r.task_id AND t.run_id = r.id

WHERE r.state IN ('ASSIGNED', 'WORKING', 'STALE') AND r.state IN ('ASSIGNED', 'WORKING', 'STALE') AND (t.workspace_id IN (SELECT p.workspace_id FROM pauses p WHERE p.ends_runs AND p.ended_at IS NULL AND (p.until IS NULL OR p.until > now())
    UNION
    SELECT w.id FROM workspaces w
    WHERE EXISTS (SELECT FROM installation_pauses p WHERE p.ends_runs AND p.ended_at IS NULL AND (p.until IS NULL OR p.until > now())))
    AND (EXISTS (SELECT FROM installation_pauses p WHERE p.ends_runs AND p.ended_at IS NULL AND (p.until IS NULL OR p.until > now()))
      OR EXISTS (SELECT FROM pauses p WHERE p.workspace_id = t.workspace_id AND p.ends_runs AND p.ended_at IS NULL AND (p.until IS NULL OR p.until > now())
        AND (p.task_type IS NULL OR p.task_type = t.task_type))))
  AND ($2::uuid IS NULL OR r.workspace_id = $2)
ORDER BY r.workspace_id, r.task_id
LIMIT $1
-- Locks both, so that a renewal or report before the lock counts.
FOR NO KEY UPDATE OF t, r SKIP LOCKED

-- lock_silent_sessions
SELECT t.id, t.workspace_id, t.status, t.version, t.retry_count, t.max_retries,
  t.retry_backoff_seconds, CASE WHEN t.agent IS NULL THEN NULL WHEN t.retry_count = 0 THEN 0 ELSE (
    SELECT least(t.retry_count, count(*)::int) FROM task_runs f
    WHERE f.workspace_id = t.workspace_id AND f.task_id = t.id AND f.state = 'FAILED'
      AND f.generation > coalesce((SELECT max(p.generation) FROM task_runs p
        WHERE p.workspace_id = t.workspace_id AND p.task_id = t.id AND p.ended_at IS NOT NULL
          AND (p.last_progress_at IS NOT NULL AND p.end_reason IS DISTINCT FROM 'stuck')), 0)) END AS fruitless_runs, t.retry_at, t.has_dependents, t.run_id, r.state AS run_state,
  r.started_at IS NOT NULL AS run_started,
  (r.last_progress_at IS NOT NULL AND r.end_reason IS DISTINCT FROM 'stuck') AS run_progressed,
  r.pause_requested_at IS NOT NULL AS pause_requested,
  r.deadline_at <= now() AND r.state IN ('ASSIGNED', 'WORKING', 'STALE') AS past_deadline, t.agent_id,
  (t.status = 'PAUSED' AND t.paused_for = 'question') AS waits_for_answer, (t.status = 'PAUSED' AND t.paused_for = 'review') AS waits_for_review
FROM task_runs r
JOIN agent_tasks t ON t.workspace_id = r.workspace_id AND t.id = r.task_id AND t.run_id = r.id

WHERE r.state IN ('ASSIGNED', 'WORKING', 'STALE') AND r.lease_expires_at <= now() AND (NOT r.lease_by_heartbeat AND EXISTS (SELECT FROM session_spawns ss
    WHERE ss.workspace_id = r.workspace_id AND ss.run_id = r.id)) AND r.lease_seconds <= $3::float8
    AND NOT EXISTS (SELECT FROM session_spawns p
      WHERE p.workspace_id = r.workspace_id AND p.run_id = r.id AND p.state = 'PENDING')
  AND ($2::uuid IS NULL OR r.workspace_id = $2)
ORDER BY r.lease_expires_at
LIMIT $1
-- Locks both, so that a renewal or report before the lock counts.
FOR NO KEY UPDATE OF t, r SKIP LOCKED

-- lock_unsettled
SELECT workspace_id, id FROM agent_tasks
WHERE dependents_unsettled AND ($2::uuid IS NULL OR workspace_id = $2)
ORDER BY workspace_id, id
LIMIT $1
FOR NO KEY UPDATE SKIP LOCKED

-- lock_waiting
WITH locked AS MATERIALIZED (
  SELECT t.* FROM agent_tasks t
  WHERE t.workspace_id = $1 AND t.id = ANY($2::uuid[]) AND t.status = 'PENDING' AND t.unmet_dependencies > 0 AND t.has_dependents
  ORDER BY t.id
  FOR NO KEY UPDATE SKIP LOCKED
)
SELECT t.id, t.workspace_id, t.status, t.version, t.retry_count, t.max_retries,
  t.retry_backoff_seconds, CASE WHEN t.agent IS NULL THEN NULL WHEN t.retry_count = 0 THEN 0 ELSE (
    SELECT least(t.retry_count, count(*)::int) FROM task_runs f
    WHERE f.workspace_id = t.workspace_id AND f.task_id = t.id AND f.state = 'FAILED'
      AND f.generation > coalesce((SELECT max(p.generation) FROM task_runs p
        WHERE p.workspace_id = t.workspace_id AND p.task_id = t.id AND p.ended_at IS NOT NULL
          AND (p.last_progress_at IS NOT NULL AND p.end_reason IS DISTINCT FROM 'stuck')), 0)) END AS fruitless_runs, t.retry_at, t.has_dependents, t.run_id, r.state AS run_state,
  r.started_at IS NOT NULL AS run_started,
  (r.last_progress_at IS NOT NULL AND r.end_reason IS DISTINCT FROM 'stuck') AS run_progressed,
  r.pause_requested_at IS NOT NULL AS pause_requested,
  r.deadline_at <= now() AND r.state IN ('ASSIGNED', 'WORKING', 'STALE') AS past_deadline, t.agent_id,
  (t.status = 'PAUSED' AND t.paused_for = 'question') AS waits_for_answer, (t.status = 'PAUSED' AND t.paused_for = 'review') AS waits_for_review
FROM locked t LEFT JOIN task_runs r ON r.workspace_id = t.workspace_id AND r.id = t.run_id
ORDER BY t.id

-- log_stray_runs
INSERT INTO task_log_lines (workspace_id, task_id, run_id, level, event, message, actor_kind)
  SELECT workspace_id, task_id, id, 'WARN', 'state_repaired', 'Live run ended: the task did not name it', 'coordinator'
  FROM jsonb_to_recordset($1::jsonb) AS m (workspace_id uuid, id uuid, task_id uuid)

-- mark_propagated
UPDATE agent_tasks p SET dependents_unsettled = false
FROM jsonb_to_recordset($1::jsonb) AS ended (workspace_id uuid, id uuid)
WHERE p.workspace_id = ended.workspace_id AND p.id = ended.id AND NOT EXISTS (
  SELECT FROM task_dependencies d JOIN agent_tasks t ON t.workspace_id = d.workspace_id
    AND t.id = d.task_id
  WHERE d.workspace_id = p.workspace_id AND d.depends_on_id = p.id AND (d.settled_at IS NULL AND NOT t.status IN ('COMPLETED', 'ARCHIVED') AND (((p.status = 'COMPLETED' OR (p.status = 'ARCHIVED' AND p.completed_at IS NOT NULL)) OR (d.policy = 'ignore' AND (p.status = 'FAILED' OR (p.status = 'ABORTED' AND p.retry_at IS NULL)
  OR (p.status = 'ARCHIVED' AND p.completed_at IS NULL))))
  OR (d.policy = 'fail' AND t.status IN ('PENDING', 'PAUSED') AND (p.status = 'FAILED' OR (p.status = 'ABORTED' AND p.retry_at IS NULL)
  OR (p.status = 'ARCHIVED' AND p.completed_at IS NULL))))))
RETURNING p.workspace_id

-- mark_stale_runs
WITH unresponsive AS MATERIALIZED (
  SELECT r.workspace_id, r.id FROM (SELECT * FROM agent_heartbeats h
  WHERE h.last_seen_at < now() - make_interval(secs => 2 * (SELECT min(heartbeat_interval_seconds) FROM agents)) OFFSET 0) h
CROSS JOIN LATERAL (SELECT x.* FROM agents x
  WHERE x.workspace_id = h.workspace_id AND x.id = h.agent_id OFFSET 0) a
  CROSS JOIN LATERAL (SELECT x.* FROM task_runs x
    WHERE x.workspace_id = h.workspace_id AND x.agent_id = h.agent_id AND x.state = 'WORKING'
    OFFSET 0) r
  WHERE r.lease_by_heartbeat
    AND h.last_seen_at < now() - make_interval(secs => 2 * a.heartbeat_interval_seconds)
    AND h.next_expected_at IS DISTINCT FROM 'infinity'
    AND ($2::uuid IS NULL OR r.workspace_id = $2)
  LIMIT $1
),
run_moved AS (
  UPDATE task_runs r SET state = 'STALE', version = r.version + 1,
    last_report_at = now(), stale_at = now()
  FROM unresponsive m
  WHERE r.workspace_id = m.workspace_id AND r.id = m.id AND CASE WHEN r.state IN ('WORKING') THEN true END
  RETURNING r.workspace_id, r.id, r.task_id, r.agent_id, r.generation, r.version, r.end_reason,
    old.state AS previous_state, r.state, r.ended_at, old.held_tokens AS released_tokens, r.budget_ids
),
journaled AS (
  INSERT INTO journal (workspace_id, event, task_id, version, previous_status, new_status, run_id, run_version,
    previous_state, new_state, end_reason, generation, agent_id, actor_kind, actor_id, reason, level, message,
    details, session_key, stack_trace, retry_at)
  SELECT r.workspace_id, 'run.state_changed', r.task_id, NULL, NULL, NULL, r.id,
  r.version,
    r.previous_state, r.state, r.end_reason, r.generation, r.agent_id, 'coordinator', NULL, NULL, NULL, NULL,
    NULL::jsonb, NULL, NULL, NULL::timestamptz FROM run_moved r
)
SELECT workspace_id, task_id FROM run_moved

-- promote_due_retries
WITH due AS MATERIALIZED (
  SELECT d.workspace_id, d.id FROM agent_tasks d
  WHERE d.status = 'ABORTED' AND d.retry_at <= now()
    AND ($2::uuid IS NULL OR d.workspace_id = $2)
  ORDER BY d.retry_at
  LIMIT $1
  FOR NO KEY UPDATE SKIP LOCKED
),
task_moved AS (
  UPDATE agent_tasks t SET
    status = 'PENDING', version = t.version + 1, updated_at = now(),
    run_id = NULL,
    agent_id = NULL,
    session_key = NULL,
    retry_count = CASE WHEN (NULL)::boolean THEN 0 ELSE t.retry_count END,
    retry_at = NULL,
    abort_reason = NULL,
    abort_message = NULL,
    failure_fingerprint = NULL,
    failure_reason = NULL,
    queue_expires_at = CASE WHEN (NULL)::boolean OR t.status = 'PAUSED' THEN NULL
      ELSE t.queue_expires_at END,
    current_step = NULL,
    estimated_completion_at = NULL,
    paused_by = NULL,
    paused_for = NULL,
    paused_for_id = NULL,
    pause_reason = NULL,
    ready_at = CASE WHEN t.unmet_dependencies > 0 OR coalesce((NULL)::boolean AND t.concurrency_key IS NOT NULL AND NOT t.waits_for_slot
      AND NOT (t.status IN ('PENDING', 'ASSIGNED', 'RUNNING', 'PAUSED') OR (t.status = 'ABORTED' AND t.retry_at IS NOT NULL)), false) THEN NULL
      WHEN (t.status = 'PAUSED' AND t.paused_for = 'question') OR (t.status = 'PAUSED' AND t.paused_for = 'review') THEN coalesce(t.ready_at, now()) ELSE now() END,
    waits_for_slot = t.waits_for_slot OR coalesce((NULL)::boolean AND t.concurrency_key IS NOT NULL AND NOT t.waits_for_slot
      AND NOT (t.status IN ('PENDING', 'ASSIGNED', 'RUNNING', 'PAUSED') OR (t.status = 'ABORTED' AND t.retry_at IS NOT NULL)), false),
    unmet_dependencies = t.unmet_dependencies + coalesce((NULL)::boolean AND t.concurrency_key IS NOT NULL AND NOT t.waits_for_slot
      AND NOT (t.status IN ('PENDING', 'ASSIGNED', 'RUNNING', 'PAUSED') OR (t.status = 'ABORTED' AND t.retry_at IS NOT NULL)), false)::int,
    assigned_at = NULL,
    started_at = NULL,
    paused_at = NULL,
    failed_at = NULL,
    aborted_at = NULL,
    dependents_unsettled = false
  FROM due m
  WHERE t.workspace_id = m.workspace_id AND t.id = m.id AND CASE WHEN t.status IN ('ASSIGNED', 'PAUSED', 'ABORTED', 'FAILED') THEN true END
  RETURNING t.workspace_id, t.id, t.version, old.status AS previous_status, t.status, t.generation,
    coalesce(t.run_id, old.run_id) AS run_id, coalesce(t.agent_id, old.agent_id) AS agent_id,
    coalesce(t.session_key, old.session_key) AS session_key, t.retry_at, t.unmet_dependencies,
    t.dependents_unsettled,
    ('coordinator')::text AS actor_kind, (NULL)::text AS actor_id, (NULL)::text AS reason, ('retry due')::text AS message, (NULL)::text AS level, (NULL)::jsonb AS details, (NULL)::text AS stack_trace
),
journaled AS (
  INSERT INTO journal (workspace_id, event, task_id, version, previous_status, new_status, run_id, run_version,
    previous_state, new_state, end_reason, generation, agent_id, actor_kind, actor_id, reason, level, message,
    details, session_key, stack_trace, retry_at)
  SELECT m.workspace_id, 'task.status_changed', m.id, m.version, m.previous_status, m.status, m.run_id, NULL::int, NULL, NULL, NULL, m.generation, m.agent_id, m.actor_kind, m.actor_id, m.reason, m.level, m.message, m.details, m.session_key, m.stack_trace, m.retry_at
    FROM task_moved m
)
SELECT workspace_id, status FROM task_moved

-- prune_capability_sets
WITH unused AS MATERIALIZED (
  SELECT s.workspace_id, s.key FROM capability_sets s
  WHERE s.used_at < now() - interval '1 day'
  ORDER BY s.used_at
  LIMIT $1
  FOR UPDATE SKIP LOCKED
),
needed AS MATERIALIZED (
  SELECT DISTINCT t.workspace_id, CASE WHEN t.capability_key LIKE '!%' THEN substr(t.capability_key, 2) ELSE t.capability_key END AS key
  FROM (SELECT DISTINCT workspace_id FROM unused) w
  JOIN agent_tasks t ON t.workspace_id = w.workspace_id
    AND t.status IN ('PENDING', 'ASSIGNED', 'RUNNING', 'PAUSED', 'ABORTED', 'FAILED')
),
judged AS MATERIALIZED (
  SELECT u.workspace_id, u.key, n.key IS NOT NULL AS is_needed
  FROM unused u LEFT JOIN needed n ON n.workspace_id = u.workspace_id AND n.key = u.key
),
kept AS (
  UPDATE capability_sets s SET used_at = now() FROM judged j
  WHERE j.is_needed AND s.workspace_id = j.workspace_id AND s.key = j.key
),
removed AS (
  DELETE FROM capability_sets s USING judged j
  WHERE NOT j.is_needed AND s.workspace_id = j.workspace_id AND s.key = j.key
  RETURNING 1
)
SELECT (SELECT count(*)::int FROM unused) AS looked_at,
  (SELECT count(*)::int FROM removed) AS removed

-- prune_coordinator_logs
WITH oldest AS MATERIALIZED (
  SELECT id, created_at FROM coordinator_logs ORDER BY id LIMIT $2
),
pruned AS (
  DELETE FROM coordinator_logs WHERE id = ANY(ARRAY(
    SELECT id FROM oldest WHERE created_at < now() - make_interval(days => $1)))
  RETURNING 1
)
SELECT count(*)::int AS removed FROM pruned

-- read_leased_defects
SELECT t.id, t.workspace_id, t.status, t.version, t.retry_count, t.max_retries,
  t.retry_backoff_seconds, CASE WHEN t.agent IS NULL THEN NULL WHEN t.retry_count = 0 THEN 0 ELSE (
    SELECT least(t.retry_count, count(*)::int) FROM task_runs f
    WHERE f.workspace_id = t.workspace_id AND f.task_id = t.id AND f.state = 'FAILED'
      AND f.generation > coalesce((SELECT max(p.generation) FROM task_runs p
        WHERE p.workspace_id = t.workspace_id AND p.task_id = t.id AND p.ended_at IS NOT NULL
          AND (p.last_progress_at IS NOT NULL AND p.end_reason IS DISTINCT FROM 'stuck')), 0)) END AS fruitless_runs, t.retry_at, t.has_dependents, t.run_id, r.state AS run_state,
  r.started_at IS NOT NULL AS run_started,
  (r.last_progress_at IS NOT NULL AND r.end_reason IS DISTINCT FROM 'stuck') AS run_progressed,
  r.pause_requested_at IS NOT NULL AS pause_requested,
  r.deadline_at <= now() AND r.state IN ('ASSIGNED', 'WORKING', 'STALE') AS past_deadline, t.agent_id,
  (t.status = 'PAUSED' AND t.paused_for = 'question') AS waits_for_answer, (t.status = 'PAUSED' AND t.paused_for = 'review') AS waits_for_review, CASE WHEN r.id IS NULL OR r.task_id <> t.id OR r.ended_at IS NOT NULL THEN 'no_live_run'
  WHEN a.lifecycle = 'TERMINATED' THEN 'agent_gone'
  WHEN t.status = 'ASSIGNED' AND r.state <> 'ASSIGNED' THEN 'task_behind'
  WHEN t.status = 'RUNNING' AND r.state = 'ASSIGNED' THEN 'run_behind' END AS defect
FROM jsonb_to_recordset($1::jsonb) AS m (workspace_id uuid, id uuid)
JOIN agent_tasks t ON t.workspace_id = m.workspace_id AND t.id = m.id
LEFT JOIN task_runs r ON r.workspace_id = t.workspace_id AND r.id = t.run_id
LEFT JOIN agents a ON a.workspace_id = r.workspace_id AND a.id = r.agent_id
WHERE CASE WHEN r.id IS NULL OR r.task_id <> t.id OR r.ended_at IS NOT NULL THEN 'no_live_run'
  WHEN a.lifecycle = 'TERMINATED' THEN 'agent_gone'
  WHEN t.status = 'ASSIGNED' AND r.state <> 'ASSIGNED' THEN 'task_behind'
  WHEN t.status = 'RUNNING' AND r.state = 'ASSIGNED' THEN 'run_behind' END IS NOT NULL AND t.status IN ('ASSIGNED', 'RUNNING', 'PAUSED') AND t.run_id IS NOT NULL
ORDER BY t.workspace_id, t.id

-- read_stray_runs
SELECT r.workspace_id, r.id, r.task_id FROM task_runs r
JOIN agent_tasks t ON t.workspace_id = r.workspace_id AND t.id = r.task_id
WHERE r.state IN ('ASSIGNED', 'WORKING', 'STALE') AND t.run_id IS DISTINCT FROM r.id AND (r.workspace_id, r.task_id) IN (
  SELECT m.workspace_id, m.id
    FROM jsonb_to_recordset($1::jsonb) AS m (workspace_id uuid, id uuid))

-- recount_agents
WITH miscounted AS MATERIALIZED (SELECT m.workspace_id, m.id FROM jsonb_to_recordset($1::jsonb) AS m (workspace_id uuid, id uuid)),
actual AS MATERIALIZED (
  SELECT m.workspace_id, m.id, (SELECT count(*)::int FROM task_runs r
    WHERE r.workspace_id = m.workspace_id
    AND r.agent_id = m.id AND r.state IN ('ASSIGNED', 'WORKING', 'STALE')) AS runs
  FROM miscounted m
),
agent_recounted AS (
  UPDATE agents a SET live_runs = c.runs FROM actual c
  WHERE a.workspace_id = c.workspace_id AND a.id = c.id AND a.live_runs <> c.runs
    AND a.lifecycle <> 'TERMINATED'
  RETURNING a.workspace_id, a.id, old.live_runs AS counted, a.live_runs AS actual
)
SELECT workspace_id, id, counted, actual FROM agent_recounted

-- recount_budgets
WITH miscounted AS MATERIALIZED (SELECT m.workspace_id, m.id FROM jsonb_to_recordset($1::jsonb) AS m (workspace_id uuid, id uuid)),
actual AS MATERIALIZED (
  SELECT m.workspace_id, m.id, (SELECT coalesce(sum(r.held_tokens), 0) FROM task_runs r
    WHERE r.workspace_id = m.workspace_id AND m.id = ANY (r.budget_ids)
      AND r.state IN ('ASSIGNED', 'WORKING', 'STALE')) AS tokens
  FROM miscounted m
),
budget_recounted AS (
  UPDATE usage_budgets b SET reserved = c.tokens, updated_at = now() FROM actual c
  WHERE b.workspace_id = c.workspace_id AND b.id = c.id AND b.reserved <> c.tokens
  RETURNING b.workspace_id, b.id, old.reserved AS counted, b.reserved AS actual
)
SELECT workspace_id, id, actual < counted AS ready FROM budget_recounted

-- recount_tasks
WITH actual AS MATERIALIZED (
  SELECT m.workspace_id, m.id, (SELECT count(*)::int FROM task_dependencies d
    WHERE d.workspace_id = m.workspace_id AND d.task_id = m.id AND d.settled_at IS NULL) AS edges
  FROM jsonb_to_recordset($1::jsonb) AS m (workspace_id uuid, id uuid)
),
repaired AS (
  UPDATE agent_tasks t SET
    unmet_dependencies = (c.edges + t.waits_for_start::int + t.waits_for_slot::int),
    ready_at = CASE WHEN (c.edges + t.waits_for_start::int + t.waits_for_slot::int) = 0 THEN coalesce(t.ready_at, now()) END,
    updated_at = now()
  FROM actual c
  WHERE t.workspace_id = c.workspace_id AND t.id = c.id AND (t.status IN ('PENDING', 'PAUSED') OR (t.status = 'ABORTED' AND t.retry_at IS NOT NULL))
    AND t.unmet_dependencies <> (c.edges + t.waits_for_start::int + t.waits_for_slot::int)
  RETURNING t.workspace_id, t.id, old.unmet_dependencies AS counted, t.unmet_dependencies AS actual,
    t.status
),
logged AS (
  INSERT INTO task_log_lines (workspace_id, task_id, level, event, message, details, actor_kind)
  SELECT workspace_id, id, 'WARN', 'state_repaired', 'Count of unmet dependencies corrected', jsonb_build_object('counted', counted, 'actual', actual), 'coordinator'
  FROM repaired
)
SELECT workspace_id, id, status = 'PENDING' AND actual = 0 AS ready FROM repaired

-- remind_tasks
WITH repaired AS (
  UPDATE agent_tasks t SET has_dependents = true, dependents_unsettled = t.dependents_unsettled
    OR ((t.status = 'COMPLETED' OR (t.status = 'ARCHIVED' AND t.completed_at IS NOT NULL)) OR (t.status = 'FAILED' OR (t.status = 'ABORTED' AND t.retry_at IS NULL)
  OR (t.status = 'ARCHIVED' AND t.completed_at IS NULL)))
  FROM jsonb_to_recordset($1::jsonb) AS m (workspace_id uuid, id uuid)
  WHERE t.workspace_id = m.workspace_id AND t.id = m.id
  RETURNING t.workspace_id, t.id, old.has_dependents, t.dependents_unsettled
),
logged AS (
  INSERT INTO task_log_lines (workspace_id, task_id, level, event, message, details, actor_kind)
  SELECT workspace_id, id, 'WARN', 'state_repaired', 'Mark of its dependents corrected', jsonb_build_object('hadDependents', has_dependents,
        'dependentsToTell', dependents_unsettled), 'coordinator'
  FROM repaired
)
SELECT workspace_id, id FROM repaired

-- requeue_tasks
WITH actual AS MATERIALIZED (
  SELECT t.workspace_id, t.id, array_to_string(ARRAY(SELECT DISTINCT c COLLATE "C"
  FROM unnest(t.required_capabilities) AS c
    ORDER BY 1), ',') AS key, t.required_capabilities,
    greatest(t.generation, (SELECT max(r.generation) FROM task_runs r
      WHERE r.workspace_id = t.workspace_id AND r.task_id = t.id)) AS generation
  FROM jsonb_to_recordset($1::jsonb) AS m (workspace_id uuid, id uuid) JOIN agent_tasks t ON t.workspace_id = m.workspace_id AND t.id = m.id
),
queue AS (
  INSERT INTO capability_sets (workspace_id, key, capabilities)
  SELECT DISTINCT ON (workspace_id, key) workspace_id, key, required_capabilities FROM actual
  ON CONFLICT (workspace_id, key) DO UPDATE SET capabilities = excluded.capabilities,
    used_at = now()
),
repaired AS (
  UPDATE agent_tasks t SET capability_key = CASE WHEN t.capability_key LIKE '!%' THEN '!' || a.key ELSE a.key END, generation = a.generation,
    updated_at = now()
  FROM actual a
  WHERE t.workspace_id = a.workspace_id AND t.id = a.id AND (t.status IN ('PENDING', 'PAUSED') OR (t.status = 'ABORTED' AND t.retry_at IS NOT NULL))
  RETURNING t.workspace_id, t.id, old.capability_key AS had, t.capability_key AS key,
    old.generation AS before,
    t.generation, (t.status = 'PENDING' AND t.unmet_dependencies = 0) AS ready
),
logged AS (
  INSERT INTO task_log_lines (workspace_id, task_id, level, event, message, details, actor_kind)
  SELECT workspace_id, id, 'WARN', 'state_repaired', 'Task moved to the correct queue: no agent could claim it', jsonb_build_object('queueBefore', had, 'queue', key, 'generationBefore', before,
        'generation', generation), 'coordinator'
  FROM repaired
)
SELECT workspace_id, id, ready FROM repaired

-- revive_stale_runs
WITH back AS MATERIALIZED (
  SELECT r.workspace_id, r.id FROM task_runs r
  JOIN agents a ON a.workspace_id = r.workspace_id AND a.id = r.agent_id
  JOIN agent_heartbeats h ON h.workspace_id = r.workspace_id AND h.agent_id = r.agent_id
  WHERE r.state = 'STALE' AND r.lease_by_heartbeat
    AND h.last_seen_at >= now() - make_interval(secs => 2 * a.heartbeat_interval_seconds)
    AND ($2::uuid IS NULL OR r.workspace_id = $2)
  LIMIT $1
),
run_moved AS (
  UPDATE task_runs r SET state = 'WORKING', version = r.version + 1,
    last_report_at = now(), started_at = coalesce(r.started_at, now()), deadline_at = coalesce(r.deadline_at, now() + make_interval(secs => (
      SELECT t.timeout_seconds FROM agent_tasks t
      WHERE t.workspace_id = r.workspace_id AND t.id = r.task_id))), stale_at = NULL
  FROM back m
  WHERE r.workspace_id = m.workspace_id AND r.id = m.id AND CASE WHEN r.state IN ('ASSIGNED', 'STALE') THEN true END
  RETURNING r.workspace_id, r.id, r.task_id, r.agent_id, r.generation, r.version, r.end_reason,
    old.state AS previous_state, r.state, r.ended_at, old.held_tokens AS released_tokens, r.budget_ids
),
journaled AS (
  INSERT INTO journal (workspace_id, event, task_id, version, previous_status, new_status, run_id, run_version,
    previous_state, new_state, end_reason, generation, agent_id, actor_kind, actor_id, reason, level, message,
    details, session_key, stack_trace, retry_at)
  SELECT r.workspace_id, 'run.state_changed', r.task_id, NULL, NULL, NULL, r.id,
  r.version,
    r.previous_state, r.state, r.end_reason, r.generation, r.agent_id, 'coordinator', NULL, NULL, NULL, NULL,
    NULL::jsonb, NULL, NULL, NULL::timestamptz FROM run_moved r
)
SELECT workspace_id, task_id FROM run_moved

-- settle_edges
WITH edge AS MATERIALIZED (
  SELECT d.workspace_id, d.task_id, d.depends_on_id, ((p.status = 'COMPLETED' OR (p.status = 'ARCHIVED' AND p.completed_at IS NOT NULL)) OR (d.policy = 'ignore' AND (p.status = 'FAILED' OR (p.status = 'ABORTED' AND p.retry_at IS NULL)
  OR (p.status = 'ARCHIVED' AND p.completed_at IS NULL)))) AS satisfied
  FROM jsonb_to_recordset($1::jsonb) AS w (workspace_id uuid, id uuid)
  JOIN task_dependencies d ON d.workspace_id = w.workspace_id AND d.task_id = w.id
    AND d.settled_at IS NULL
  JOIN agent_tasks p ON p.workspace_id = d.workspace_id AND p.id = d.depends_on_id
),
settled AS (
  UPDATE task_dependencies d SET settled_at = now() FROM edge e
  WHERE e.satisfied AND d.workspace_id = e.workspace_id AND d.task_id = e.task_id
    AND d.depends_on_id = e.depends_on_id
),
unmet AS MATERIALIZED (
  SELECT workspace_id, task_id, (count(*) FILTER (WHERE NOT satisfied))::int AS edges
  FROM edge GROUP BY workspace_id, task_id
),
released AS (
  UPDATE agent_tasks t SET
    unmet_dependencies = (u.edges + t.waits_for_start::int + t.waits_for_slot::int),
    ready_at = CASE WHEN (u.edges + t.waits_for_start::int + t.waits_for_slot::int) = 0 THEN now() END
  FROM unmet u
  WHERE t.workspace_id = u.workspace_id AND t.id = u.task_id AND t.unmet_dependencies <> (u.edges + t.waits_for_start::int + t.waits_for_slot::int)
  RETURNING t.workspace_id, t.id, (t.status = 'PENDING' AND t.unmet_dependencies = 0) AS released
),
logged AS (
  INSERT INTO task_log_lines (workspace_id, task_id, event, message, actor_kind)
  SELECT workspace_id, id, 'dependencies_met', 'All its prerequisites are satisfied', 'coordinator'
  FROM released WHERE released
)
SELECT workspace_id, id, released FROM released

-- start_delayed_tasks
WITH due AS MATERIALIZED (
  SELECT d.workspace_id, d.id FROM agent_tasks d
  WHERE d.waits_for_start AND d.status IN ('PENDING', 'PAUSED') AND d.start_at <= now() AND ($2::uuid IS NULL OR d.workspace_id = $2)
  ORDER BY d.start_at
  LIMIT $1
  FOR NO KEY UPDATE SKIP LOCKED
),
started AS (
  UPDATE agent_tasks t SET waits_for_start = false, unmet_dependencies = t.unmet_dependencies - 1,
    ready_at = CASE WHEN t.unmet_dependencies = 1 THEN now() END
  FROM due d WHERE t.workspace_id = d.workspace_id AND t.id = d.id
  RETURNING t.workspace_id, t.id, (t.status = 'PENDING' AND t.unmet_dependencies = 0) AS ready
),
logged AS (
  INSERT INTO task_log_lines (workspace_id, task_id, event, message, actor_kind)
  SELECT workspace_id, id, 'start_reached', 'Its start has come', 'coordinator'
  FROM started
)
SELECT workspace_id, ready FROM started

-- tasks_of_limited_models
SELECT DISTINCT ON (t.workspace_id, t.id) t.workspace_id, t.id, l.id AS limit_id
FROM provider_limits l JOIN agent_tasks t ON t.workspace_id = l.workspace_id
JOIN task_runs r ON r.workspace_id = t.workspace_id AND r.id = t.run_id AND r.model ~ l.covers
WHERE l.until > now() AND t.status IN ('ASSIGNED', 'RUNNING') AND ($2::uuid IS NULL OR t.workspace_id = $2)
  AND EXISTS (SELECT FROM provider_limits_of_models(t.workspace_id, t.id, ARRAY[r.model],
      coalesce((SELECT m.fallbacks FROM model_routing m
        WHERE m.workspace_id = t.workspace_id AND t.agent IS NOT NULL), '[]'), '(?<=.)(?:-(?:\d{8}|\d{4}-\d{2}-\d{2}|\d{3}|latest|preview)(?:-[^@:]*)?)?(?:@[^@]*|:\d+)?$'))
  AND ($3::uuid[] IS NULL OR t.id = ANY ($3))
ORDER BY t.workspace_id, t.id, l.until DESC, l.id
LIMIT $1

-- tasks_of_used_up_budgets
SELECT DISTINCT ON (t.workspace_id, t.id) t.workspace_id, t.id, b.id AS budget_id, b.policy
FROM usage_budgets b JOIN agent_tasks t ON t.workspace_id = b.workspace_id
  AND b.scope_id = ANY (ARRAY[t.workspace_id, t.project_id, t.milestone_id, t.id])
WHERE (b.is_used_up AND (b.policy <> 'finish' AND (b.period_start <= now() AND b.covers_until > now()))) AND t.status IN ('ASSIGNED', 'RUNNING') AND ($2::uuid IS NULL OR t.workspace_id = $2)
  AND ($3::uuid[] IS NULL OR t.id = ANY ($3))
ORDER BY t.workspace_id, t.id, b.policy, b.id
LIMIT $1

-- tasks_paused_for_budgets
SELECT t.workspace_id, t.id, NULL::uuid AS budget_id, NULL AS policy FROM agent_tasks t
LEFT JOIN LATERAL (
  SELECT r.wanted_tokens, r.held_tokens, r.budget_ids FROM task_runs r
  WHERE r.workspace_id = t.workspace_id AND r.task_id = t.id
  ORDER BY r.generation DESC LIMIT 1) r ON true
WHERE t.status = 'PAUSED' AND t.paused_for = 'budget' AND ($2::uuid IS NULL OR t.workspace_id = $2)
  AND ($3::uuid[] IS NULL OR t.id = ANY ($3))
  AND NOT EXISTS (SELECT FROM usage_budgets b
    WHERE b.workspace_id = t.workspace_id AND b.scope_id = ANY (ARRAY[t.workspace_id, t.project_id, t.milestone_id, t.id]) AND ((b.policy <> 'finish' AND (b.period_start <= now() AND b.covers_until > now())) AND (b.is_used_up
      OR b.available + CASE WHEN b.id = ANY (r.budget_ids) THEN r.held_tokens ELSE 0 END
        < r.wanted_tokens)))
ORDER BY t.workspace_id, t.id
LIMIT $1

-- tasks_paused_for_limits
SELECT t.workspace_id, t.id, NULL::uuid AS limit_id FROM agent_tasks t
LEFT JOIN task_runs r ON r.workspace_id = t.workspace_id AND r.id = t.run_id
WHERE t.status = 'PAUSED' AND t.paused_for = 'provider'
  AND ($2::uuid IS NULL OR t.workspace_id = $2)
  AND ($3::uuid[] IS NULL OR t.id = ANY ($3))
  AND (r.started_at IS NULL OR NOT EXISTS (SELECT FROM provider_limits l
    WHERE l.workspace_id = t.workspace_id AND l.id = t.paused_for_id
      AND provider_limit_end(l.until, l.over_at, t.id) > now()))
ORDER BY t.workspace_id, t.id
LIMIT $1

-- warn_hung_runs
WITH hung AS MATERIALIZED (
  SELECT t.workspace_id, t.id AS task_id, r.id AS run_id, r.agent_id, t.session_key,
    t.estimated_completion_at,
    r.last_progress_at
  FROM agent_tasks t
  JOIN task_runs r ON r.workspace_id = t.workspace_id AND r.id = t.run_id
  WHERE t.status = 'RUNNING'
    AND t.estimated_completion_at <= now() - make_interval(secs => $3::float8)
    AND r.state IN ('WORKING', 'STALE') AND r.hung_warned_at IS NULL
    AND coalesce(r.last_progress_at, r.started_at) <= now() - make_interval(secs => $3::float8)
    AND NOT EXISTS (SELECT FROM questions q
    WHERE q.workspace_id = r.workspace_id AND q.task_id = r.task_id AND q.run_id = r.id
      AND q.run_waits
      AND (q.closed_at IS NULL OR q.closed_at > now() - make_interval(secs => $3::float8)))
    AND ($2::uuid IS NULL OR t.workspace_id = $2)
  ORDER BY t.estimated_completion_at
  LIMIT $1
  -- Locks the run too, so that progress reported meanwhile counts.
  FOR NO KEY UPDATE OF t, r SKIP LOCKED
),
warned AS (
  UPDATE task_runs r SET hung_warned_at = now() FROM hung h
  WHERE r.workspace_id = h.workspace_id AND r.id = h.run_id
),
journaled AS (
  INSERT INTO journal (workspace_id, event, log_event, task_id, run_id, agent_id, level, message, details, actor_kind, session_key)
  SELECT workspace_id, 'run.hung_warning', 'hung_warning', task_id, run_id, agent_id, 'WARN', 'Run warned: it is long past its estimate, and is aborted without progress', jsonb_build_object('estimatedCompletionAt', estimated_completion_at,
        'lastProgressAt', last_progress_at, 'abortsAfterSeconds', $4::int), 'coordinator', session_key
  FROM hung
)
SELECT workspace_id, run_id, agent_id FROM hung

-- workspaces_with_edges_between
WITH subject AS MATERIALIZED (
  SELECT j.workspace_id, j.task_id AS id FROM journal j WHERE j.id > $3::bigint AND j.id <= $4::bigint AND ($2::uuid IS NULL OR j.workspace_id = $2) AND j.task_id IS NOT NULL
  UNION
  SELECT k.workspace_id, k.id FROM agent_tasks k WHERE (k.workspace_id, k.id) > ($5::uuid, $6::uuid)
    AND (k.workspace_id, k.id) <= ($7::uuid, $8::uuid)
)
SELECT DISTINCT t.workspace_id AS id
FROM subject s CROSS JOIN LATERAL (
  SELECT x.* FROM agent_tasks x WHERE x.workspace_id = s.workspace_id AND x.id = s.id OFFSET 0) t
WHERE t.status = 'PENDING' AND t.unmet_dependencies > 0 AND t.has_dependents AND EXISTS (
  SELECT FROM task_dependencies d
  CROSS JOIN LATERAL (SELECT x.* FROM agent_tasks x
    WHERE x.workspace_id = d.workspace_id AND x.id = d.depends_on_id OFFSET 0) p
  WHERE d.workspace_id = t.workspace_id AND d.task_id = t.id AND d.settled_at IS NULL
    AND CASE WHEN p.status = 'PENDING' AND p.unmet_dependencies > 0 AND p.has_dependents THEN true END)
ORDER BY 1
LIMIT $1
