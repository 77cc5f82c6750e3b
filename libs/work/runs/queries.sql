-- The statements as they run. Made by `npm run generate`; change the modules that declare them.

-- add_last_words
INSERT INTO task_log_lines (workspace_id, task_id, run_id, agent_id, level, event, message, details, actor_kind, actor_id, session_key)
  SELECT $1, r.task_id, r.id, $3, (CASE WHEN t.run_id = r.id THEN 'WARN' ELSE 'INFO' END)::log_level, $6::text, $7, $8::jsonb, $4, $5, r.session_key
  FROM task_runs r JOIN agent_tasks t ON t.workspace_id = r.workspace_id AND t.id = r.task_id
WHERE r.workspace_id = $1 AND r.id = $2 AND r.agent_id = $3
  AND NOT EXISTS (SELECT FROM task_log_lines l
    WHERE l.workspace_id = $1 AND l.task_id = r.task_id AND l.run_id = r.id
      AND l.event = $6::text)

-- add_message
INSERT INTO run_messages AS m
  (workspace_id, id, run_id, sequence, type, text, data, deliver, question_id, sender)
SELECT $1, $2, $3, last.sequence + 1, $4, $5, $6::jsonb, $7, $8, $9
FROM (SELECT coalesce(max(p.sequence), 0) AS sequence FROM run_messages p
  WHERE p.workspace_id = $1 AND p.run_id = $3) last
WHERE $10::int IS NULL OR last.sequence < $10
RETURNING m.id, m.run_id, m.sequence AS position, m.type, m.text, m.data, m.deliver, m.question_id, m.sender,
  m.state, m.sent_at, m.closed_at

-- agent_of_run
SELECT r.agent_id FROM task_runs r WHERE r.workspace_id = $1 AND r.id = $2

-- agent_room
SELECT lifecycle, max_concurrent_tasks - live_runs AS room FROM agents
WHERE workspace_id = $1 AND id = $2

-- announce_conflicts
WITH seen AS MATERIALIZED (
  SELECT r.* FROM task_runs r
  WHERE r.conflict_seen_at IS NOT NULL AND r.conflict_told_at IS NULL
    AND ($2::uuid IS NULL OR r.workspace_id = $2)
  ORDER BY r.conflict_seen_at
  LIMIT $1
  FOR NO KEY UPDATE SKIP LOCKED
),
announced AS (
  UPDATE task_runs r SET conflict_told_at = now() FROM seen s
  WHERE r.workspace_id = s.workspace_id AND r.id = s.id
),
conflict AS MATERIALIZED (
  SELECT s.workspace_id, s.task_id, s.id AS run_id, s.agent_id, s.generation, s.end_reason,
    s.session_key,
    n.id AS newer_run_id, n.agent_id AS newer_agent_id, n.generation AS newer_generation, n.state AS newer_state
  FROM seen s
  CROSS JOIN LATERAL (
    SELECT r.* FROM task_runs r
    WHERE r.workspace_id = s.workspace_id AND r.task_id = s.task_id AND r.generation > s.generation
    ORDER BY r.generation DESC LIMIT 1) n
),
journaled AS (
  INSERT INTO journal (workspace_id, event, log_event, task_id, run_id, agent_id, level, message, details, actor_kind, session_key)
  SELECT workspace_id, 'run.split_brain_conflict', 'split_brain_conflict', task_id, run_id, agent_id, 'WARN', 'Agent told to stop: another run of its task has begun', jsonb_build_object('runId', run_id, 'agentId', agent_id, 'generation', generation, 'endReason', end_reason,
    'newerRunId', newer_run_id, 'newerAgentId', newer_agent_id, 'newerGeneration', newer_generation), 'coordinator', session_key
  FROM conflict
)
SELECT workspace_id, task_id, run_id, agent_id, generation, end_reason, newer_run_id,
  newer_agent_id,
  newer_generation, newer_state
FROM conflict

-- announce_second_sessions
WITH second AS MATERIALIZED (
  SELECT s.workspace_id, r.task_id, s.run_id, s.agent_id, s.gateway_id,
    jsonb_build_object('runId', s.run_id, 'agentId', s.agent_id, 'gatewayId', $2::text,
      'rightfulGatewayId', s.gateway_id) AS facts
  FROM session_spawns s JOIN task_runs r ON r.workspace_id = s.workspace_id AND r.id = s.run_id
  WHERE s.run_id = ANY ($1::uuid[]) AND s.gateway_id <> $2
    AND NOT EXISTS (SELECT FROM journal l
      WHERE l.workspace_id = s.workspace_id AND l.task_id = r.task_id AND l.run_id = s.run_id
        AND l.event = 'run.split_brain_conflict' AND l.details ->> 'gatewayId' = $2)
),
journaled AS (
  INSERT INTO journal (workspace_id, event, log_event, task_id, run_id, agent_id, level, message, details, actor_kind, actor_id)
  SELECT workspace_id, 'run.split_brain_conflict', 'split_brain_conflict', task_id, run_id, agent_id, 'WARN', 'Second session told to stop: another gateway had one of this run', facts, 'system', 'gateway:' || $2
  FROM second
)
SELECT run_id, gateway_id FROM second

-- any_kept_by_reports
SELECT EXISTS (SELECT FROM gateways g WHERE g.id = $1)
  AND EXISTS (SELECT FROM task_runs r WHERE r.state IN ('ASSIGNED', 'WORKING', 'STALE')
    AND (NOT r.lease_by_heartbeat AND EXISTS (SELECT FROM session_spawns ss
    WHERE ss.workspace_id = r.workspace_id AND ss.run_id = r.id))) AS found

-- append_logs
WITH run AS MATERIALIZED (
  SELECT r.id, r.task_id, r.session_key, t.agent IS NOT NULL AS is_coding_agent FROM task_runs r JOIN agent_tasks t
    ON t.workspace_id = r.workspace_id AND t.id = r.task_id
  WHERE r.workspace_id = $1 AND r.id = $2 AND r.agent_id = $3 AND EXISTS (SELECT FROM workspaces used WHERE used.id = $1
    AND used.archived_at IS NULL)
    AND (t.run_id = r.id AND (t.status <> 'ASSIGNED' OR NOT $7::boolean)
      OR r.end_reason = 'question' AND r.ended_at > now() - interval '30 s')
),
appended AS (
  INSERT INTO task_log_lines (workspace_id, task_id, run_id, agent_id, level, event, message, details, actor_kind, actor_id, session_key)
  SELECT $1, run.task_id, run.id, $3, e.entry ->> 'level', e.entry ->> 'event', e.entry ->> 'message', coalesce(e.entry -> 'details', '{}'), $4, $5, run.session_key
  FROM run CROSS JOIN LATERAL jsonb_array_elements($6::jsonb) WITH ORDINALITY AS e (entry, position)
  ORDER BY e.position
  RETURNING 1
),
heard AS (
  UPDATE task_runs r SET last_progress_at = now(), hung_warned_at = NULL FROM run
  WHERE r.workspace_id = $1 AND r.id = run.id AND run.is_coding_agent AND r.ended_at IS NULL
    AND (r.last_progress_at > now() - interval '10 s' AND r.hung_warned_at IS NULL) IS NOT TRUE
    AND EXISTS (SELECT FROM jsonb_array_elements($6::jsonb) AS e (entry)
      WHERE e.entry ->> 'event' IN ('agent_message', 'agent_tool', 'agent_tool_result'))
)
SELECT (SELECT count(*)::int FROM appended) AS accepted, run.task_id FROM run

-- assign_tasks
WITH chosen AS MATERIALIZED (
  SELECT c.workspace_id, t.id, c.agent_id, c.run_id, t.project_id, t.milestone_id,
    t.estimated_tokens
  FROM jsonb_to_recordset($1::jsonb) AS c (workspace_id uuid, task_id uuid, agent_id uuid,
    run_id uuid)
  JOIN agent_tasks t ON t.workspace_id = c.workspace_id AND t.id = c.task_id
),
lease AS MATERIALIZED (
  SELECT a.id AS agent_id, a.workspace_id, a.stale_threshold_seconds AS seconds,
    $2::boolean AS by_heartbeat, a.model,
    a.heartbeat_interval_seconds AS heartbeat_seconds
  FROM (SELECT DISTINCT workspace_id, agent_id FROM chosen) c
  JOIN agents a ON a.workspace_id = c.workspace_id AND a.id = c.agent_id
),
wide_budget AS MATERIALIZED (
  SELECT b.id, b.scope_id, b.available FROM usage_budgets b
  WHERE (b.workspace_id, b.scope_id) IN (SELECT c.workspace_id, unnest(ARRAY[c.workspace_id, c.project_id, c.milestone_id]) FROM chosen c)
    AND (b.period_start <= now() AND b.covers_until > now())
),
wanted AS (
  SELECT c.*, b.id AS budget_id, b.id IS NULL OR b.available >= greatest(1,
    sum(c.estimated_tokens)
      OVER (PARTITION BY b.id ORDER BY c.run_id ROWS UNBOUNDED PRECEDING)) AS fits
  FROM chosen c LEFT JOIN LATERAL (
    SELECT b.id, b.available FROM wide_budget b WHERE b.scope_id IN (c.workspace_id, c.project_id, c.milestone_id)
    UNION ALL
    SELECT b.id, b.available FROM usage_budgets b
    WHERE b.workspace_id = c.workspace_id AND b.scope_id = c.id AND (b.period_start <= now() AND b.covers_until > now())) b ON true
),
throttled AS (
  SELECT id FROM (
    SELECT c.id, (h.max_runs - CASE WHEN h.project_id IS NULL THEN (SELECT coalesce(sum(a.live_runs), 0) FROM agents a WHERE a.workspace_id = h.workspace_id)
      ELSE (SELECT count(*) FROM task_runs lr
        JOIN agent_tasks lt ON lt.workspace_id = lr.workspace_id AND lt.id = lr.task_id
        WHERE lr.workspace_id = h.workspace_id AND lr.state IN ('ASSIGNED', 'WORKING', 'STALE')
          AND lt.project_id = h.project_id) END) < row_number()
      OVER (PARTITION BY h.workspace_id, h.scope_id ORDER BY c.run_id) AS is_beyond
    FROM chosen c JOIN workspace_throttles h
      ON h.workspace_id = c.workspace_id AND h.scope_id IN (c.workspace_id, c.project_id)) t
  WHERE is_beyond
),
afforded AS MATERIALIZED (
  SELECT * FROM (
    SELECT w.*, bool_and(w.fits) OVER task AS fit,
      array_remove(array_agg(w.budget_id) OVER task, NULL) AS budget_ids,
      row_number() OVER task AS row_of_task
    FROM wanted w
    WINDOW task AS (PARTITION BY w.id ORDER BY w.budget_id
      ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)) c
  WHERE c.row_of_task = 1 AND c.fit AND c.id NOT IN (SELECT id FROM throttled)
),
leased AS MATERIALIZED (
  SELECT c.*, l.seconds, l.by_heartbeat, l.model FROM afforded c
    JOIN lease l USING (workspace_id, agent_id)
),
task_moved AS (
  UPDATE agent_tasks t SET
    status = 'ASSIGNED', version = t.version + 1, updated_at = now(),
    run_id = m.run_id,
    agent_id = m.agent_id,
    queue_expires_at = NULL,
    generation = t.generation + 1,
    assigned_at = now()
  FROM leased m
  WHERE t.workspace_id = m.workspace_id AND t.id = m.id AND CASE WHEN t.status IN ('PENDING') THEN true END
  RETURNING t.workspace_id, t.id, t.version, old.status AS previous_status, t.status, t.generation,
    coalesce(t.run_id, old.run_id) AS run_id, coalesce(t.agent_id, old.agent_id) AS agent_id,
    coalesce(t.session_key, old.session_key) AS session_key, t.retry_at, t.unmet_dependencies,
    t.dependents_unsettled,
    ('coordinator')::text AS actor_kind, (NULL)::text AS actor_id, (NULL)::text AS reason, (NULL)::text AS message, (NULL)::text AS level, (NULL)::jsonb AS details, (NULL)::text AS stack_trace, t.ready_at, m.seconds, m.by_heartbeat, m.model, m.budget_ids, m.estimated_tokens AS held_tokens
),
run_moved AS (
  INSERT INTO task_runs (workspace_id, id, task_id, agent_id, generation, lease_seconds,
    lease_expires_at, lease_by_heartbeat, model, deadline_at, budget_ids, held_tokens, estimated_tokens)
  SELECT workspace_id, run_id, id, agent_id, generation, seconds,
    now() + make_interval(secs => seconds), by_heartbeat, model,
    NULL::timestamptz, budget_ids, held_tokens, held_tokens
  FROM task_moved
),
agent_busier AS (
  UPDATE agents a SET live_runs = a.live_runs + s.runs
  FROM (SELECT workspace_id, agent_id, count(*)::int AS runs FROM task_moved GROUP BY 1, 2) s
  WHERE a.workspace_id = s.workspace_id AND a.id = s.agent_id
),
spawn_intended AS (
  INSERT INTO session_spawns (workspace_id, run_id, task_id, agent_id)
  SELECT workspace_id, run_id, id, agent_id FROM task_moved
),
agent_heartbeats_sent AS (
  INSERT INTO agent_heartbeats AS h (workspace_id, agent_id, status, last_seen_at, next_expected_at)
  SELECT workspace_id, agent_id, 'healthy', now(), now() + make_interval(secs => heartbeat_seconds)
  FROM lease ORDER BY workspace_id, agent_id
  ON CONFLICT (workspace_id, agent_id) DO UPDATE SET
    last_seen_at = greatest(h.last_seen_at, excluded.last_seen_at),
    next_expected_at = excluded.next_expected_at
),
journaled AS (
  INSERT INTO journal (workspace_id, event, task_id, version, previous_status, new_status, run_id, run_version,
    previous_state, new_state, end_reason, generation, agent_id, actor_kind, actor_id, reason, level, message,
    details, session_key, stack_trace, retry_at)
  SELECT m.workspace_id, 'task.status_changed', m.id, m.version, m.previous_status, m.status, m.run_id, 1, NULL, 'ASSIGNED', NULL, m.generation, m.agent_id, m.actor_kind, m.actor_id, m.reason, m.level, m.message, m.details, m.session_key, m.stack_trace, m.retry_at
    FROM task_moved m
)
SELECT workspace_id, run_id, id AS task_id, agent_id,
  extract(epoch FROM now() - ready_at)::float8 AS waited_seconds, (SELECT set_config('app.holds', coalesce(jsonb_agg(h)::text, ''), true)
  FROM (
    SELECT m.workspace_id, i.id, sum(m.held_tokens) AS tokens FROM task_moved m CROSS
      JOIN LATERAL unnest(m.budget_ids) AS i (id)
    GROUP BY 1, 2) h) IS NOT NULL AS noted
    FROM task_moved

-- claim_for_one
WITH mark AS MATERIALIZED (SELECT NOT (EXISTS (SELECT FROM workspaces used WHERE used.id = $1
      AND used.archived_at IS NULL AND NOT used.may_hold_tasks)
    AND NOT EXISTS (SELECT FROM installation_pauses p
      WHERE p.ended_at IS NULL AND (p.until IS NULL OR p.until > now()))) AS is_held),
agent AS MATERIALIZED (
  SELECT a.id, a.lifecycle, a.mode, a.model, a.capabilities, a.dedicated_to, a.task_types, w.position,
    CASE WHEN a.mode = 'pull' AND (a.lifecycle <> 'TERMINATED' AND NOT (a.lifecycle = 'DRAINING' OR a.lifecycle = 'ERROR' OR (a.mode = 'push' AND NOT a.coordinator_enabled) OR (a.mode = 'push' AND a.command = '{}') OR (a.mode = 'push' AND coalesce(a.resting_until > now(), false)))) AND NOT (SELECT is_held FROM mark)
      THEN greatest(least(w.max, a.max_concurrent_tasks - a.live_runs), 0) ELSE 0 END AS room,
    (a.lifecycle <> 'TERMINATED' AND NOT (a.lifecycle = 'DRAINING' OR a.lifecycle = 'ERROR' OR (a.mode = 'push' AND NOT a.coordinator_enabled) OR (a.mode = 'push' AND a.command = '{}') OR (a.mode = 'push' AND coalesce(a.resting_until > now(), false)))) AS takes_work, NOT a.live_runs < a.max_concurrent_tasks AS is_full,
    coalesce(w.lease_seconds, CASE WHEN heard.alive THEN a.stale_threshold_seconds END, $5::int) AS seconds,
    w.lease_seconds IS NULL AND coalesce(heard.alive, false) AS by_heartbeat,
    a.mode = 'pull' AND coalesce(heard.unresponsive, false) AS unresponsive
  FROM (SELECT ($2::uuid[])[1] AS agent_id, ($3::int[])[1] AS max, ($4::int[])[1] AS lease_seconds,
    1 AS position) w
  JOIN agents a ON a.workspace_id = $1 AND a.id = w.agent_id
  LEFT JOIN LATERAL (
    -- Registering stamps a first heartbeat with the next one at infinity: none is owed yet.
    SELECT h.last_seen_at > now() - make_interval(secs => a.stale_threshold_seconds)
      AND h.next_expected_at IS DISTINCT FROM 'infinity' AS alive,
      h.next_expected_at = 'infinity'
      AND h.last_seen_at < now() - make_interval(secs => a.stale_threshold_seconds / 4.0) AS unresponsive
    FROM agent_heartbeats h WHERE h.workspace_id = $1 AND h.agent_id = a.id) heard ON true
  ORDER BY a.id
  FOR NO KEY UPDATE OF a
),
best AS MATERIALIZED (
  SELECT head.*
  FROM agent o JOIN capability_sets s ON s.workspace_id = $1 AND (s.capabilities <@ o.capabilities AND s.capabilities @> o.dedicated_to)
  CROSS JOIN LATERAL (
    SELECT t.id, t.queue_rank FROM agent_tasks t
    WHERE t.workspace_id = $1 AND t.capability_key = s.key
      AND (t.status = 'PENDING' AND (t.queue_expires_at IS NULL OR t.queue_expires_at > now()) AND t.unmet_dependencies = 0)
      AND (o.task_types = '{}' OR t.task_type = ANY(o.task_types)) AND ($6::boolean IS NOT TRUE OR t.updated_at <= now())
    ORDER BY t.queue_rank
    LIMIT o.room
    FOR NO KEY UPDATE OF t SKIP LOCKED) head
  ORDER BY head.queue_rank
  LIMIT (SELECT room FROM agent)
),
chosen AS (
  SELECT b.id, uuidv7() AS run_id, a.id AS agent_id, a.seconds, a.by_heartbeat, a.model
  FROM best b CROSS JOIN agent a
),
task_moved AS (
  UPDATE agent_tasks t SET
    status = 'ASSIGNED', version = t.version + 1, updated_at = now(),
    run_id = m.run_id,
    agent_id = m.agent_id,
    queue_expires_at = NULL,
    generation = t.generation + 1,
    assigned_at = now()
  FROM chosen m
  WHERE t.workspace_id = $1 AND t.id = m.id AND CASE WHEN t.status IN ('PENDING') THEN true END
  RETURNING t.workspace_id, t.id, t.version, old.status AS previous_status, t.status, t.generation,
    coalesce(t.run_id, old.run_id) AS run_id, coalesce(t.agent_id, old.agent_id) AS agent_id,
    coalesce(t.session_key, old.session_key) AS session_key, t.retry_at, t.unmet_dependencies,
    t.dependents_unsettled,
    ('agent')::text AS actor_kind, (m.agent_id)::text AS actor_id, (NULL)::text AS reason, (NULL)::text AS message, (NULL)::text AS level, (NULL)::jsonb AS details, (NULL)::text AS stack_trace, t.title, t.description, t.agent, t.instructions, t.steps, t.deliverables, t.acceptance, t.acceptance_script, t.input_context, t.checkpoint_data, t.metadata, t.secrets, t.answers, t.continues_id, t.repository_id, t.timeout_seconds, t.retry_count, t.max_retries, t.required_capabilities, t.traceparent, t.task_type, t.priority, t.project_id, t.estimated_complexity, t.estimated_tokens, t.estimate_source, t.ready_at, m.seconds, m.by_heartbeat, m.model
),
run_moved AS (
  INSERT INTO task_runs (workspace_id, id, task_id, agent_id, generation, lease_seconds,
    lease_expires_at, lease_by_heartbeat, model, deadline_at)
  SELECT workspace_id, run_id, id, agent_id, generation, seconds,
    now() + make_interval(secs => seconds), by_heartbeat, model,
    now() + make_interval(secs => timeout_seconds)
  FROM task_moved
),
agent_busier AS (
  UPDATE agents a SET live_runs = a.live_runs + s.runs
  FROM (SELECT workspace_id, agent_id, count(*)::int AS runs FROM task_moved GROUP BY 1, 2) s
  WHERE a.workspace_id = s.workspace_id AND a.id = s.agent_id
),
journaled AS (
  INSERT INTO journal (workspace_id, event, task_id, version, previous_status, new_status, run_id, run_version,
    previous_state, new_state, end_reason, generation, agent_id, actor_kind, actor_id, reason, level, message,
    details, session_key, stack_trace, retry_at)
  SELECT m.workspace_id, 'task.status_changed', m.id, m.version, m.previous_status, m.status, m.run_id, 1, NULL, 'ASSIGNED', NULL, m.generation, m.agent_id, m.actor_kind, m.actor_id, m.reason, m.level, m.message, m.details, m.session_key, m.stack_trace, m.retry_at
    FROM task_moved m
)
SELECT a.id AS agent_id, a.lifecycle, a.mode, a.capabilities, a.dedicated_to, a.task_types, a.unresponsive, false AS deferred,
  CASE WHEN NOT a.takes_work THEN CASE a.lifecycle WHEN 'ERROR' THEN 'agent_in_error' ELSE 'provider_limited' END
       WHEN a.is_full THEN 'agent_full'
       ELSE coalesce(CASE WHEN a.room = 0 THEN NULL::text END, 'nothing_ready') END AS why,
  false AS some_held, (SELECT is_held FROM mark) AS is_held,
  m.run_id, m.generation, m.model, now() + make_interval(secs => m.seconds) AS lease_expires_at,
  now() + make_interval(secs => m.timeout_seconds) AS deadline_at, m.id,
  extract(epoch FROM now() - greatest(m.ready_at, (m.answers -> -1 ->> 'answeredAt')::timestamptz))::float8 AS waited_seconds,
  m.title, m.description, m.agent, m.instructions, m.steps, m.deliverables, m.acceptance, m.acceptance_script, m.input_context, m.checkpoint_data, m.metadata, m.secrets, m.answers, m.continues_id, m.repository_id, m.timeout_seconds, m.retry_count, m.max_retries, m.required_capabilities, m.traceparent, m.task_type, m.priority, m.project_id, m.estimated_complexity, m.estimated_tokens, m.estimate_source, ARRAY(
    SELECT g.tag FROM agent_task_tags g WHERE g.workspace_id = $1 AND g.task_id = m.id ORDER BY g.tag) AS tags,
  CASE WHEN (SELECT w.network FROM workspaces w WHERE w.id = $1) <> 'none' THEN (
    SELECT jsonb_build_array(jsonb_build_array(w.network, w.allowed_hosts)) ||
      CASE WHEN m.project_id IS NULL THEN '[]' ELSE (
        SELECT jsonb_build_array(jsonb_build_array(p.network, p.allowed_hosts)) FROM projects p
        WHERE p.workspace_id = $1 AND p.id = m.project_id) END
    FROM workspaces w WHERE w.id = $1) END AS network_levels
FROM agent a LEFT JOIN task_moved m ON m.agent_id = a.id
-- Run ids are created in the order of the queue, and sort by their creation time.
ORDER BY m.run_id

-- claim_for_one_holding
WITH budgets AS MATERIALIZED (SELECT (SELECT jsonb_object_agg(l.scope, l.available) FROM (
    SELECT b.scope_id::text AS scope, b.available FROM usage_budgets b
    WHERE b.workspace_id = $1 AND (b.period_start <= now() AND b.covers_until > now()) AND b.task_id IS NULL
    UNION ALL
    SELECT 'task', 0 WHERE EXISTS (SELECT FROM usage_budgets b
      WHERE b.workspace_id = $1 AND (b.period_start <= now() AND b.covers_until > now()) AND b.task_id IS NOT NULL)) l) AS available),
agent AS MATERIALIZED (
  SELECT a.id, a.lifecycle, a.mode, a.model, a.capabilities, a.dedicated_to, a.task_types, w.position,
    CASE WHEN a.mode = 'pull' AND (a.lifecycle <> 'TERMINATED' AND NOT (a.lifecycle = 'DRAINING' OR a.lifecycle = 'ERROR' OR (a.mode = 'push' AND NOT a.coordinator_enabled) OR (a.mode = 'push' AND a.command = '{}') OR (a.mode = 'push' AND coalesce(a.resting_until > now(), false)) OR (CASE WHEN a.model IS NOT NULL
    THEN provider_limit_end_of_agent(a.workspace_id, a.id, a.model) END) IS NOT NULL)) AND (EXISTS (SELECT FROM workspaces used WHERE used.id = $1
    AND used.archived_at IS NULL) AND NOT (EXISTS (SELECT FROM installation_pauses p
      WHERE p.ended_at IS NULL AND (p.until IS NULL OR p.until > now()))
    OR EXISTS (SELECT FROM pauses p WHERE p.workspace_id = $1 AND p.task_type IS NULL
      AND p.ended_at IS NULL AND (p.until IS NULL OR p.until > now()))) AND NOT EXISTS (SELECT FROM workspace_throttles h
      WHERE h.workspace_id = $1 AND h.scope_id = $1
        AND h.max_runs <= (SELECT coalesce(sum(a.live_runs), 0) FROM agents a WHERE a.workspace_id = $1)) AND NOT EXISTS (SELECT FROM usage_budgets b
    WHERE b.workspace_id = $1 AND b.scope_id = $1
    AND (b.period_start <= now() AND b.covers_until > now()) AND b.available <= 0))
      THEN greatest(least(w.max, a.max_concurrent_tasks - a.live_runs), 0) ELSE 0 END AS room,
    (a.lifecycle <> 'TERMINATED' AND NOT (a.lifecycle = 'DRAINING' OR a.lifecycle = 'ERROR' OR (a.mode = 'push' AND NOT a.coordinator_enabled) OR (a.mode = 'push' AND a.command = '{}') OR (a.mode = 'push' AND coalesce(a.resting_until > now(), false)) OR (CASE WHEN a.model IS NOT NULL
    THEN provider_limit_end_of_agent(a.workspace_id, a.id, a.model) END) IS NOT NULL)) AS takes_work, NOT a.live_runs < a.max_concurrent_tasks AS is_full,
    coalesce(w.lease_seconds, CASE WHEN heard.alive THEN a.stale_threshold_seconds END, $5::int) AS seconds,
    w.lease_seconds IS NULL AND coalesce(heard.alive, false) AS by_heartbeat,
    a.mode = 'pull' AND coalesce(heard.unresponsive, false) AS unresponsive
  FROM (SELECT ($2::uuid[])[1] AS agent_id, ($3::int[])[1] AS max, ($4::int[])[1] AS lease_seconds,
    1 AS position) w
  JOIN agents a ON a.workspace_id = $1 AND a.id = w.agent_id
  LEFT JOIN LATERAL (
    -- Registering stamps a first heartbeat with the next one at infinity: none is owed yet.
    SELECT h.last_seen_at > now() - make_interval(secs => a.stale_threshold_seconds)
      AND h.next_expected_at IS DISTINCT FROM 'infinity' AS alive,
      h.next_expected_at = 'infinity'
      AND h.last_seen_at < now() - make_interval(secs => a.stale_threshold_seconds / 4.0) AS unresponsive
    FROM agent_heartbeats h WHERE h.workspace_id = $1 AND h.agent_id = a.id) heard ON true
  ORDER BY a.id
  FOR NO KEY UPDATE OF a
),
best AS MATERIALIZED (
  SELECT head.*
  FROM agent o JOIN capability_sets s ON s.workspace_id = $1 AND (s.capabilities <@ o.capabilities AND s.capabilities @> o.dedicated_to)
  CROSS JOIN LATERAL (
    SELECT t.id, t.queue_rank, t.project_id, t.milestone_id, t.estimated_tokens FROM agent_tasks t
    WHERE t.workspace_id = $1 AND t.capability_key = s.key
      AND (t.status = 'PENDING'
      AND (t.queue_expires_at IS NULL OR t.queue_expires_at > now())
      AND (t.task_type || '') <> ALL ((ARRAY(SELECT p.task_type::text FROM pauses p WHERE p.workspace_id = $1
    AND p.task_type IS NOT NULL AND p.ended_at IS NULL AND (p.until IS NULL OR p.until > now())))::text[])
      AND coalesce(t.project_id, t.workspace_id) <> ALL (ARRAY(SELECT h.project_id FROM workspace_throttles h
      WHERE h.workspace_id = $1 AND h.project_id IS NOT NULL
        AND h.max_runs <= (SELECT count(*) FROM task_runs lr
        JOIN agent_tasks lt ON lt.workspace_id = lr.workspace_id AND lt.id = lr.task_id
        WHERE lr.workspace_id = $1 AND lr.state IN ('ASSIGNED', 'WORKING', 'STALE')
          AND lt.project_id = h.project_id)))
      AND (NOT EXISTS (SELECT FROM provider_limits l
    WHERE l.workspace_id = $1 AND l.over_at > now()) OR NOT EXISTS (SELECT FROM limits_of_task(t.workspace_id, t.id, '[{"minPriority":9,"tier":"opus"},{"minComplexity":9,"tier":"opus"},{"taskType":"boilerplate","tier":"haiku"},{"maxEstimatedTokens":"9999","tier":"haiku"},{"tier":"sonnet"}]', '{"haiku":"claude-haiku-4-5","sonnet":"claude-sonnet-4-6","opus":"claude-opus-4-6"}', '(?<=.)(?:-(?:\d{8}|\d{4}-\d{2}-\d{2}|\d{3}|latest|preview)(?:-[^@:]*)?)?(?:@[^@]*|:\d+)?$',
      t.task_type, t.priority, t.project_id, t.estimated_complexity,
      CASE WHEN t.estimate_source <> 'default' THEN t.estimated_tokens END,
      t.agent IS NOT NULL)))
      AND t.unmet_dependencies = 0
      AND ((SELECT available FROM budgets) IS NULL OR (
    greatest(t.estimated_tokens, 1) <= least(9223372036854775807, ((SELECT available FROM budgets) ->> t.workspace_id::text)::bigint,
      ((SELECT available FROM budgets) ->> t.project_id::text)::bigint,
      ((SELECT available FROM budgets) ->> t.milestone_id::text)::bigint)
    AND (NOT (SELECT available FROM budgets) ? 'task' OR NOT EXISTS (SELECT FROM usage_budgets b
      WHERE b.workspace_id = t.workspace_id AND b.scope_id = t.id AND (b.period_start <= now() AND b.covers_until > now())
        AND b.available < greatest(t.estimated_tokens, 1))))))
      AND (o.task_types = '{}' OR t.task_type = ANY(o.task_types)) AND ($6::boolean IS NOT TRUE OR t.updated_at <= now())
    ORDER BY t.queue_rank
    LIMIT o.room
    FOR NO KEY UPDATE OF t SKIP LOCKED) head
  ORDER BY head.queue_rank
  LIMIT (SELECT room FROM agent)
),
chosen AS (
  SELECT b.id, uuidv7() AS run_id, a.id AS agent_id, a.seconds, a.by_heartbeat, a.model, b.project_id, b.milestone_id, b.estimated_tokens
  FROM best b CROSS JOIN agent a
),
wide_budget AS MATERIALIZED (
  SELECT b.id, b.scope_id, b.available FROM usage_budgets b
  WHERE (b.workspace_id, b.scope_id) IN (SELECT $1, unnest(ARRAY[$1, c.project_id, c.milestone_id]) FROM chosen c)
    AND (b.period_start <= now() AND b.covers_until > now())
),
wanted AS (
  SELECT c.*, b.id AS budget_id, b.id IS NULL OR b.available >= greatest(1,
    sum(c.estimated_tokens)
      OVER (PARTITION BY b.id ORDER BY c.run_id ROWS UNBOUNDED PRECEDING)) AS fits
  FROM chosen c LEFT JOIN LATERAL (
    SELECT b.id, b.available FROM wide_budget b WHERE b.scope_id IN ($1, c.project_id, c.milestone_id)
    UNION ALL
    SELECT b.id, b.available FROM usage_budgets b
    WHERE b.workspace_id = $1 AND b.scope_id = c.id AND (b.period_start <= now() AND b.covers_until > now())) b ON true
),
throttled AS (
  SELECT id FROM (
    SELECT c.id, (h.max_runs - CASE WHEN h.project_id IS NULL THEN (SELECT coalesce(sum(a.live_runs), 0) FROM agents a WHERE a.workspace_id = h.workspace_id)
      ELSE (SELECT count(*) FROM task_runs lr
        JOIN agent_tasks lt ON lt.workspace_id = lr.workspace_id AND lt.id = lr.task_id
        WHERE lr.workspace_id = h.workspace_id AND lr.state IN ('ASSIGNED', 'WORKING', 'STALE')
          AND lt.project_id = h.project_id) END) < row_number()
      OVER (PARTITION BY h.workspace_id, h.scope_id ORDER BY c.run_id) AS is_beyond
    FROM chosen c JOIN workspace_throttles h
      ON h.workspace_id = $1 AND h.scope_id IN ($1, c.project_id)) t
  WHERE is_beyond
),
afforded AS MATERIALIZED (
  SELECT * FROM (
    SELECT w.*, bool_and(w.fits) OVER task AS fit,
      array_remove(array_agg(w.budget_id) OVER task, NULL) AS budget_ids,
      row_number() OVER task AS row_of_task
    FROM wanted w
    WINDOW task AS (PARTITION BY w.id ORDER BY w.budget_id
      ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)) c
  WHERE c.row_of_task = 1 AND c.fit AND c.id NOT IN (SELECT id FROM throttled)
),
task_moved AS (
  UPDATE agent_tasks t SET
    status = 'ASSIGNED', version = t.version + 1, updated_at = now(),
    run_id = m.run_id,
    agent_id = m.agent_id,
    queue_expires_at = NULL,
    generation = t.generation + 1,
    assigned_at = now()
  FROM afforded m
  WHERE t.workspace_id = $1 AND t.id = m.id AND CASE WHEN t.status IN ('PENDING') THEN true END
  RETURNING t.workspace_id, t.id, t.version, old.status AS previous_status, t.status, t.generation,
    coalesce(t.run_id, old.run_id) AS run_id, coalesce(t.agent_id, old.agent_id) AS agent_id,
    coalesce(t.session_key, old.session_key) AS session_key, t.retry_at, t.unmet_dependencies,
    t.dependents_unsettled,
    ('agent')::text AS actor_kind, (m.agent_id)::text AS actor_id, (NULL)::text AS reason, (NULL)::text AS message, (NULL)::text AS level, (NULL)::jsonb AS details, (NULL)::text AS stack_trace, t.title, t.description, t.agent, t.instructions, t.steps, t.deliverables, t.acceptance, t.acceptance_script, t.input_context, t.checkpoint_data, t.metadata, t.secrets, t.answers, t.continues_id, t.repository_id, t.timeout_seconds, t.retry_count, t.max_retries, t.required_capabilities, t.traceparent, t.task_type, t.priority, t.project_id, t.estimated_complexity, t.estimated_tokens, t.estimate_source, t.ready_at, m.seconds, m.by_heartbeat, m.model, m.budget_ids, m.estimated_tokens AS held_tokens
),
run_moved AS (
  INSERT INTO task_runs (workspace_id, id, task_id, agent_id, generation, lease_seconds,
    lease_expires_at, lease_by_heartbeat, model, deadline_at, budget_ids, held_tokens, estimated_tokens)
  SELECT workspace_id, run_id, id, agent_id, generation, seconds,
    now() + make_interval(secs => seconds), by_heartbeat, model,
    now() + make_interval(secs => timeout_seconds), budget_ids, held_tokens, held_tokens
  FROM task_moved
),
agent_busier AS (
  UPDATE agents a SET live_runs = a.live_runs + s.runs
  FROM (SELECT workspace_id, agent_id, count(*)::int AS runs FROM task_moved GROUP BY 1, 2) s
  WHERE a.workspace_id = s.workspace_id AND a.id = s.agent_id
),
journaled AS (
  INSERT INTO journal (workspace_id, event, task_id, version, previous_status, new_status, run_id, run_version,
    previous_state, new_state, end_reason, generation, agent_id, actor_kind, actor_id, reason, level, message,
    details, session_key, stack_trace, retry_at)
  SELECT m.workspace_id, 'task.status_changed', m.id, m.version, m.previous_status, m.status, m.run_id, 1, NULL, 'ASSIGNED', NULL, m.generation, m.agent_id, m.actor_kind, m.actor_id, m.reason, m.level, m.message, m.details, m.session_key, m.stack_trace, m.retry_at
    FROM task_moved m
)
SELECT a.id AS agent_id, a.lifecycle, a.mode, a.capabilities, a.dedicated_to, a.task_types, a.unresponsive, false AS deferred,
  CASE WHEN NOT a.takes_work THEN CASE a.lifecycle WHEN 'ERROR' THEN 'agent_in_error' ELSE 'provider_limited' END
       WHEN a.is_full THEN 'agent_full'
       ELSE coalesce(CASE WHEN a.room = 0 THEN CASE WHEN NOT (EXISTS (SELECT FROM workspaces used WHERE used.id = $1
    AND used.archived_at IS NULL)) THEN 'workspace_archived' WHEN NOT (NOT (EXISTS (SELECT FROM installation_pauses p
      WHERE p.ended_at IS NULL AND (p.until IS NULL OR p.until > now()))
    OR EXISTS (SELECT FROM pauses p WHERE p.workspace_id = $1 AND p.task_type IS NULL
      AND p.ended_at IS NULL AND (p.until IS NULL OR p.until > now())))) THEN 'paused' WHEN NOT (NOT EXISTS (SELECT FROM workspace_throttles h
      WHERE h.workspace_id = $1 AND h.scope_id = $1
        AND h.max_runs <= (SELECT coalesce(sum(a.live_runs), 0) FROM agents a WHERE a.workspace_id = $1))) THEN 'throttled' WHEN NOT (NOT EXISTS (SELECT FROM usage_budgets b
    WHERE b.workspace_id = $1 AND b.scope_id = $1
    AND (b.period_start <= now() AND b.covers_until > now()) AND b.available <= 0)) THEN 'budget' END END, 'nothing_ready') END AS why,
  (ARRAY(SELECT p.task_type::text FROM pauses p WHERE p.workspace_id = $1
    AND p.task_type IS NOT NULL AND p.ended_at IS NULL AND (p.until IS NULL OR p.until > now())) <> '{}' OR EXISTS (SELECT FROM workspace_throttles h
      WHERE h.workspace_id = $1 AND h.project_id IS NOT NULL) OR EXISTS (SELECT FROM provider_limits l
    WHERE l.workspace_id = $1 AND l.over_at > now()) OR EXISTS (SELECT FROM usage_budgets b WHERE b.workspace_id = $1)) AS some_held, NOT (EXISTS (SELECT FROM workspaces used WHERE used.id = $1
      AND used.archived_at IS NULL AND NOT used.may_hold_tasks)
    AND NOT EXISTS (SELECT FROM installation_pauses p
      WHERE p.ended_at IS NULL AND (p.until IS NULL OR p.until > now()))) AS is_held,
  m.run_id, m.generation, m.model, now() + make_interval(secs => m.seconds) AS lease_expires_at,
  now() + make_interval(secs => m.timeout_seconds) AS deadline_at, m.id,
  extract(epoch FROM now() - greatest(m.ready_at, (m.answers -> -1 ->> 'answeredAt')::timestamptz))::float8 AS waited_seconds,
  m.title, m.description, m.agent, m.instructions, m.steps, m.deliverables, m.acceptance, m.acceptance_script, m.input_context, m.checkpoint_data, m.metadata, m.secrets, m.answers, m.continues_id, m.repository_id, m.timeout_seconds, m.retry_count, m.max_retries, m.required_capabilities, m.traceparent, m.task_type, m.priority, m.project_id, m.estimated_complexity, m.estimated_tokens, m.estimate_source, ARRAY(
    SELECT g.tag FROM agent_task_tags g WHERE g.workspace_id = $1 AND g.task_id = m.id ORDER BY g.tag) AS tags,
  CASE WHEN (SELECT w.network FROM workspaces w WHERE w.id = $1) <> 'none' THEN (
    SELECT jsonb_build_array(jsonb_build_array(w.network, w.allowed_hosts)) ||
      CASE WHEN m.project_id IS NULL THEN '[]' ELSE (
        SELECT jsonb_build_array(jsonb_build_array(p.network, p.allowed_hosts)) FROM projects p
        WHERE p.workspace_id = $1 AND p.id = m.project_id) END
    FROM workspaces w WHERE w.id = $1) END AS network_levels,
  (SELECT set_config('app.holds', coalesce(jsonb_agg(h)::text, ''), true)
  FROM (
    SELECT m.workspace_id, i.id, sum(m.held_tokens) AS tokens FROM task_moved m CROSS
      JOIN LATERAL unnest(m.budget_ids) AS i (id)
    GROUP BY 1, 2) h) IS NOT NULL AS noted
FROM agent a LEFT JOIN task_moved m ON m.agent_id = a.id
-- Run ids are created in the order of the queue, and sort by their creation time.
ORDER BY m.run_id

-- claim_for_several
WITH mark AS MATERIALIZED (SELECT NOT (EXISTS (SELECT FROM workspaces used WHERE used.id = $1
      AND used.archived_at IS NULL AND NOT used.may_hold_tasks)
    AND NOT EXISTS (SELECT FROM installation_pauses p
      WHERE p.ended_at IS NULL AND (p.until IS NULL OR p.until > now()))) AS is_held),
agent AS MATERIALIZED (
  SELECT a.id, a.lifecycle, a.mode, a.model, a.capabilities, a.dedicated_to, a.task_types, w.position,
    CASE WHEN a.mode = 'pull' AND (a.lifecycle <> 'TERMINATED' AND NOT (a.lifecycle = 'DRAINING' OR a.lifecycle = 'ERROR' OR (a.mode = 'push' AND NOT a.coordinator_enabled) OR (a.mode = 'push' AND a.command = '{}') OR (a.mode = 'push' AND coalesce(a.resting_until > now(), false)))) AND NOT (SELECT is_held FROM mark)
      THEN greatest(least(w.max, a.max_concurrent_tasks - a.live_runs), 0) ELSE 0 END AS room,
    (a.lifecycle <> 'TERMINATED' AND NOT (a.lifecycle = 'DRAINING' OR a.lifecycle = 'ERROR' OR (a.mode = 'push' AND NOT a.coordinator_enabled) OR (a.mode = 'push' AND a.command = '{}') OR (a.mode = 'push' AND coalesce(a.resting_until > now(), false)))) AS takes_work, NOT a.live_runs < a.max_concurrent_tasks AS is_full,
    coalesce(w.lease_seconds, CASE WHEN heard.alive THEN a.stale_threshold_seconds END, $5::int) AS seconds,
    w.lease_seconds IS NULL AND coalesce(heard.alive, false) AS by_heartbeat,
    a.mode = 'pull' AND coalesce(heard.unresponsive, false) AS unresponsive
  FROM unnest($2::uuid[], $3::int[], $4::int[]) WITH ORDINALITY AS w (agent_id, max, lease_seconds, position)
  JOIN agents a ON a.workspace_id = $1 AND a.id = w.agent_id
  LEFT JOIN LATERAL (
    -- Registering stamps a first heartbeat with the next one at infinity: none is owed yet.
    SELECT h.last_seen_at > now() - make_interval(secs => a.stale_threshold_seconds)
      AND h.next_expected_at IS DISTINCT FROM 'infinity' AS alive,
      h.next_expected_at = 'infinity'
      AND h.last_seen_at < now() - make_interval(secs => a.stale_threshold_seconds / 4.0) AS unresponsive
    FROM agent_heartbeats h WHERE h.workspace_id = $1 AND h.agent_id = a.id) heard ON true
  ORDER BY a.id
  FOR NO KEY UPDATE OF a
),
share AS MATERIALIZED (
  SELECT a.id, a.room, a.seconds, a.by_heartbeat, a.model, sum(a.room) OVER (ORDER BY a.position) - a.room AS before
  FROM agent a
  WHERE a.room > 0 AND (a.capabilities, a.dedicated_to, a.task_types) = (SELECT a.capabilities, a.dedicated_to, a.task_types FROM agent a WHERE room > 0 ORDER BY position LIMIT 1)
),
together AS MATERIALIZED (
  SELECT sum(a.room) AS room, a.capabilities, a.dedicated_to, a.task_types FROM agent a JOIN share USING (id) GROUP BY a.capabilities, a.dedicated_to, a.task_types
),
best AS MATERIALIZED (
  SELECT head.*
  FROM together o JOIN capability_sets s ON s.workspace_id = $1 AND (s.capabilities <@ o.capabilities AND s.capabilities @> o.dedicated_to)
  CROSS JOIN LATERAL (
    SELECT t.id, t.queue_rank FROM agent_tasks t
    WHERE t.workspace_id = $1 AND t.capability_key = s.key
      AND (t.status = 'PENDING' AND (t.queue_expires_at IS NULL OR t.queue_expires_at > now()) AND t.unmet_dependencies = 0)
      AND (o.task_types = '{}' OR t.task_type = ANY(o.task_types)) AND ($6::boolean IS NOT TRUE OR t.updated_at <= now())
    ORDER BY t.queue_rank
    LIMIT o.room
    FOR NO KEY UPDATE OF t SKIP LOCKED) head
  ORDER BY head.queue_rank
  LIMIT (SELECT room FROM together)
),
chosen AS MATERIALIZED (
  SELECT b.id, uuidv7() AS run_id, s.id AS agent_id, s.seconds, s.by_heartbeat, s.model
  FROM (SELECT id, row_number() OVER (ORDER BY queue_rank, id) AS number FROM best) b
  JOIN share s ON b.number > s.before AND b.number <= s.before + s.room
),
task_moved AS (
  UPDATE agent_tasks t SET
    status = 'ASSIGNED', version = t.version + 1, updated_at = now(),
    run_id = m.run_id,
    agent_id = m.agent_id,
    queue_expires_at = NULL,
    generation = t.generation + 1,
    assigned_at = now()
  FROM chosen m
  WHERE t.workspace_id = $1 AND t.id = m.id AND CASE WHEN t.status IN ('PENDING') THEN true END
  RETURNING t.workspace_id, t.id, t.version, old.status AS previous_status, t.status, t.generation,
    coalesce(t.run_id, old.run_id) AS run_id, coalesce(t.agent_id, old.agent_id) AS agent_id,
    coalesce(t.session_key, old.session_key) AS session_key, t.retry_at, t.unmet_dependencies,
    t.dependents_unsettled,
    ('agent')::text AS actor_kind, (m.agent_id)::text AS actor_id, (NULL)::text AS reason, (NULL)::text AS message, (NULL)::text AS level, (NULL)::jsonb AS details, (NULL)::text AS stack_trace, t.title, t.description, t.agent, t.instructions, t.steps, t.deliverables, t.acceptance, t.acceptance_script, t.input_context, t.checkpoint_data, t.metadata, t.secrets, t.answers, t.continues_id, t.repository_id, t.timeout_seconds, t.retry_count, t.max_retries, t.required_capabilities, t.traceparent, t.task_type, t.priority, t.project_id, t.estimated_complexity, t.estimated_tokens, t.estimate_source, t.ready_at, m.seconds, m.by_heartbeat, m.model
),
run_moved AS (
  INSERT INTO task_runs (workspace_id, id, task_id, agent_id, generation, lease_seconds,
    lease_expires_at, lease_by_heartbeat, model, deadline_at)
  SELECT workspace_id, run_id, id, agent_id, generation, seconds,
    now() + make_interval(secs => seconds), by_heartbeat, model,
    now() + make_interval(secs => timeout_seconds)
  FROM task_moved
),
agent_busier AS (
  UPDATE agents a SET live_runs = a.live_runs + s.runs
  FROM (SELECT workspace_id, agent_id, count(*)::int AS runs FROM task_moved GROUP BY 1, 2) s
  WHERE a.workspace_id = s.workspace_id AND a.id = s.agent_id
),
journaled AS (
  INSERT INTO journal (workspace_id, event, task_id, version, previous_status, new_status, run_id, run_version,
    previous_state, new_state, end_reason, generation, agent_id, actor_kind, actor_id, reason, level, message,
    details, session_key, stack_trace, retry_at)
  SELECT m.workspace_id, 'task.status_changed', m.id, m.version, m.previous_status, m.status, m.run_id, 1, NULL, 'ASSIGNED', NULL, m.generation, m.agent_id, m.actor_kind, m.actor_id, m.reason, m.level, m.message, m.details, m.session_key, m.stack_trace, m.retry_at
    FROM task_moved m
)
SELECT a.id AS agent_id, a.lifecycle, a.mode, a.capabilities, a.dedicated_to, a.task_types, a.unresponsive, a.room > 0 AND m.id IS NULL AND (a.id NOT IN (SELECT id FROM share)
    OR (SELECT count(*) FROM best) > (SELECT count(*) FROM chosen)) AS deferred,
  CASE WHEN NOT a.takes_work THEN CASE a.lifecycle WHEN 'ERROR' THEN 'agent_in_error' ELSE 'provider_limited' END
       WHEN a.is_full THEN 'agent_full'
       ELSE coalesce(CASE WHEN a.room = 0 THEN NULL::text END, 'nothing_ready') END AS why,
  false AS some_held, (SELECT is_held FROM mark) AS is_held,
  m.run_id, m.generation, m.model, now() + make_interval(secs => m.seconds) AS lease_expires_at,
  now() + make_interval(secs => m.timeout_seconds) AS deadline_at, m.id,
  extract(epoch FROM now() - greatest(m.ready_at, (m.answers -> -1 ->> 'answeredAt')::timestamptz))::float8 AS waited_seconds,
  m.title, m.description, m.agent, m.instructions, m.steps, m.deliverables, m.acceptance, m.acceptance_script, m.input_context, m.checkpoint_data, m.metadata, m.secrets, m.answers, m.continues_id, m.repository_id, m.timeout_seconds, m.retry_count, m.max_retries, m.required_capabilities, m.traceparent, m.task_type, m.priority, m.project_id, m.estimated_complexity, m.estimated_tokens, m.estimate_source, ARRAY(
    SELECT g.tag FROM agent_task_tags g WHERE g.workspace_id = $1 AND g.task_id = m.id ORDER BY g.tag) AS tags,
  CASE WHEN (SELECT w.network FROM workspaces w WHERE w.id = $1) <> 'none' THEN (
    SELECT jsonb_build_array(jsonb_build_array(w.network, w.allowed_hosts)) ||
      CASE WHEN m.project_id IS NULL THEN '[]' ELSE (
        SELECT jsonb_build_array(jsonb_build_array(p.network, p.allowed_hosts)) FROM projects p
        WHERE p.workspace_id = $1 AND p.id = m.project_id) END
    FROM workspaces w WHERE w.id = $1) END AS network_levels
FROM agent a LEFT JOIN task_moved m ON m.agent_id = a.id
-- Run ids are created in the order of the queue, and sort by their creation time.
ORDER BY m.run_id

-- claim_for_several_holding
WITH budgets AS MATERIALIZED (SELECT (SELECT jsonb_object_agg(l.scope, l.available) FROM (
    SELECT b.scope_id::text AS scope, b.available FROM usage_budgets b
    WHERE b.workspace_id = $1 AND (b.period_start <= now() AND b.covers_until > now()) AND b.task_id IS NULL
    UNION ALL
    SELECT 'task', 0 WHERE EXISTS (SELECT FROM usage_budgets b
      WHERE b.workspace_id = $1 AND (b.period_start <= now() AND b.covers_until > now()) AND b.task_id IS NOT NULL)) l) AS available),
agent AS MATERIALIZED (
  SELECT a.id, a.lifecycle, a.mode, a.model, a.capabilities, a.dedicated_to, a.task_types, w.position,
    CASE WHEN a.mode = 'pull' AND (a.lifecycle <> 'TERMINATED' AND NOT (a.lifecycle = 'DRAINING' OR a.lifecycle = 'ERROR' OR (a.mode = 'push' AND NOT a.coordinator_enabled) OR (a.mode = 'push' AND a.command = '{}') OR (a.mode = 'push' AND coalesce(a.resting_until > now(), false)) OR (CASE WHEN a.model IS NOT NULL
    THEN provider_limit_end_of_agent(a.workspace_id, a.id, a.model) END) IS NOT NULL)) AND (EXISTS (SELECT FROM workspaces used WHERE used.id = $1
    AND used.archived_at IS NULL) AND NOT (EXISTS (SELECT FROM installation_pauses p
      WHERE p.ended_at IS NULL AND (p.until IS NULL OR p.until > now()))
    OR EXISTS (SELECT FROM pauses p WHERE p.workspace_id = $1 AND p.task_type IS NULL
      AND p.ended_at IS NULL AND (p.until IS NULL OR p.until > now()))) AND NOT EXISTS (SELECT FROM workspace_throttles h
      WHERE h.workspace_id = $1 AND h.scope_id = $1
        AND h.max_runs <= (SELECT coalesce(sum(a.live_runs), 0) FROM agents a WHERE a.workspace_id = $1)) AND NOT EXISTS (SELECT FROM usage_budgets b
    WHERE b.workspace_id = $1 AND b.scope_id = $1
    AND (b.period_start <= now() AND b.covers_until > now()) AND b.available <= 0))
      THEN greatest(least(w.max, a.max_concurrent_tasks - a.live_runs), 0) ELSE 0 END AS room,
    (a.lifecycle <> 'TERMINATED' AND NOT (a.lifecycle = 'DRAINING' OR a.lifecycle = 'ERROR' OR (a.mode = 'push' AND NOT a.coordinator_enabled) OR (a.mode = 'push' AND a.command = '{}') OR (a.mode = 'push' AND coalesce(a.resting_until > now(), false)) OR (CASE WHEN a.model IS NOT NULL
    THEN provider_limit_end_of_agent(a.workspace_id, a.id, a.model) END) IS NOT NULL)) AS takes_work, NOT a.live_runs < a.max_concurrent_tasks AS is_full,
    coalesce(w.lease_seconds, CASE WHEN heard.alive THEN a.stale_threshold_seconds END, $5::int) AS seconds,
    w.lease_seconds IS NULL AND coalesce(heard.alive, false) AS by_heartbeat,
    a.mode = 'pull' AND coalesce(heard.unresponsive, false) AS unresponsive
  FROM unnest($2::uuid[], $3::int[], $4::int[]) WITH ORDINALITY AS w (agent_id, max, lease_seconds, position)
  JOIN agents a ON a.workspace_id = $1 AND a.id = w.agent_id
  LEFT JOIN LATERAL (
    -- Registering stamps a first heartbeat with the next one at infinity: none is owed yet.
    SELECT h.last_seen_at > now() - make_interval(secs => a.stale_threshold_seconds)
      AND h.next_expected_at IS DISTINCT FROM 'infinity' AS alive,
      h.next_expected_at = 'infinity'
      AND h.last_seen_at < now() - make_interval(secs => a.stale_threshold_seconds / 4.0) AS unresponsive
    FROM agent_heartbeats h WHERE h.workspace_id = $1 AND h.agent_id = a.id) heard ON true
  ORDER BY a.id
  FOR NO KEY UPDATE OF a
),
share AS MATERIALIZED (
  SELECT a.id, a.room, a.seconds, a.by_heartbeat, a.model, sum(a.room) OVER (ORDER BY a.position) - a.room AS before
  FROM agent a
  WHERE a.room > 0 AND (a.capabilities, a.dedicated_to, a.task_types) = (SELECT a.capabilities, a.dedicated_to, a.task_types FROM agent a WHERE room > 0 ORDER BY position LIMIT 1)
),
together AS MATERIALIZED (
  SELECT sum(a.room) AS room, a.capabilities, a.dedicated_to, a.task_types FROM agent a JOIN share USING (id) GROUP BY a.capabilities, a.dedicated_to, a.task_types
),
best AS MATERIALIZED (
  SELECT head.*
  FROM together o JOIN capability_sets s ON s.workspace_id = $1 AND (s.capabilities <@ o.capabilities AND s.capabilities @> o.dedicated_to)
  CROSS JOIN LATERAL (
    SELECT t.id, t.queue_rank, t.project_id, t.milestone_id, t.estimated_tokens FROM agent_tasks t
    WHERE t.workspace_id = $1 AND t.capability_key = s.key
      AND (t.status = 'PENDING'
      AND (t.queue_expires_at IS NULL OR t.queue_expires_at > now())
      AND (t.task_type || '') <> ALL ((ARRAY(SELECT p.task_type::text FROM pauses p WHERE p.workspace_id = $1
    AND p.task_type IS NOT NULL AND p.ended_at IS NULL AND (p.until IS NULL OR p.until > now())))::text[])
      AND coalesce(t.project_id, t.workspace_id) <> ALL (ARRAY(SELECT h.project_id FROM workspace_throttles h
      WHERE h.workspace_id = $1 AND h.project_id IS NOT NULL
        AND h.max_runs <= (SELECT count(*) FROM task_runs lr
        JOIN agent_tasks lt ON lt.workspace_id = lr.workspace_id AND lt.id = lr.task_id
        WHERE lr.workspace_id = $1 AND lr.state IN ('ASSIGNED', 'WORKING', 'STALE')
          AND lt.project_id = h.project_id)))
      AND (NOT EXISTS (SELECT FROM provider_limits l
    WHERE l.workspace_id = $1 AND l.over_at > now()) OR NOT EXISTS (SELECT FROM limits_of_task(t.workspace_id, t.id, '[{"minPriority":9,"tier":"opus"},{"minComplexity":9,"tier":"opus"},{"taskType":"boilerplate","tier":"haiku"},{"maxEstimatedTokens":"9999","tier":"haiku"},{"tier":"sonnet"}]', '{"haiku":"claude-haiku-4-5","sonnet":"claude-sonnet-4-6","opus":"claude-opus-4-6"}', '(?<=.)(?:-(?:\d{8}|\d{4}-\d{2}-\d{2}|\d{3}|latest|preview)(?:-[^@:]*)?)?(?:@[^@]*|:\d+)?$',
      t.task_type, t.priority, t.project_id, t.estimated_complexity,
      CASE WHEN t.estimate_source <> 'default' THEN t.estimated_tokens END,
      t.agent IS NOT NULL)))
      AND t.unmet_dependencies = 0
      AND ((SELECT available FROM budgets) IS NULL OR (
    greatest(t.estimated_tokens, 1) <= least(9223372036854775807, ((SELECT available FROM budgets) ->> t.workspace_id::text)::bigint,
      ((SELECT available FROM budgets) ->> t.project_id::text)::bigint,
      ((SELECT available FROM budgets) ->> t.milestone_id::text)::bigint)
    AND (NOT (SELECT available FROM budgets) ? 'task' OR NOT EXISTS (SELECT FROM usage_budgets b
      WHERE b.workspace_id = t.workspace_id AND b.scope_id = t.id AND (b.period_start <= now() AND b.covers_until > now())
        AND b.available < greatest(t.estimated_tokens, 1))))))
      AND (o.task_types = '{}' OR t.task_type = ANY(o.task_types)) AND ($6::boolean IS NOT TRUE OR t.updated_at <= now())
    ORDER BY t.queue_rank
    LIMIT o.room
    FOR NO KEY UPDATE OF t SKIP LOCKED) head
  ORDER BY head.queue_rank
  LIMIT (SELECT room FROM together)
),
chosen AS MATERIALIZED (
  SELECT b.id, uuidv7() AS run_id, s.id AS agent_id, s.seconds, s.by_heartbeat, s.model, b.project_id, b.milestone_id, b.estimated_tokens
  FROM (SELECT id, row_number() OVER (ORDER BY queue_rank, id) AS number, best.project_id, best.milestone_id, best.estimated_tokens FROM best) b
  JOIN share s ON b.number > s.before AND b.number <= s.before + s.room
),
wide_budget AS MATERIALIZED (
  SELECT b.id, b.scope_id, b.available FROM usage_budgets b
  WHERE (b.workspace_id, b.scope_id) IN (SELECT $1, unnest(ARRAY[$1, c.project_id, c.milestone_id]) FROM chosen c)
    AND (b.period_start <= now() AND b.covers_until > now())
),
wanted AS (
  SELECT c.*, b.id AS budget_id, b.id IS NULL OR b.available >= greatest(1,
    sum(c.estimated_tokens)
      OVER (PARTITION BY b.id ORDER BY c.run_id ROWS UNBOUNDED PRECEDING)) AS fits
  FROM chosen c LEFT JOIN LATERAL (
    SELECT b.id, b.available FROM wide_budget b WHERE b.scope_id IN ($1, c.project_id, c.milestone_id)
    UNION ALL
    SELECT b.id, b.available FROM usage_budgets b
    WHERE b.workspace_id = $1 AND b.scope_id = c.id AND (b.period_start <= now() AND b.covers_until > now())) b ON true
),
throttled AS (
  SELECT id FROM (
    SELECT c.id, (h.max_runs - CASE WHEN h.project_id IS NULL THEN (SELECT coalesce(sum(a.live_runs), 0) FROM agents a WHERE a.workspace_id = h.workspace_id)
      ELSE (SELECT count(*) FROM task_runs lr
        JOIN agent_tasks lt ON lt.workspace_id = lr.workspace_id AND lt.id = lr.task_id
        WHERE lr.workspace_id = h.workspace_id AND lr.state IN ('ASSIGNED', 'WORKING', 'STALE')
          AND lt.project_id = h.project_id) END) < row_number()
      OVER (PARTITION BY h.workspace_id, h.scope_id ORDER BY c.run_id) AS is_beyond
    FROM chosen c JOIN workspace_throttles h
      ON h.workspace_id = $1 AND h.scope_id IN ($1, c.project_id)) t
  WHERE is_beyond
),
afforded AS MATERIALIZED (
  SELECT * FROM (
    SELECT w.*, bool_and(w.fits) OVER task AS fit,
      array_remove(array_agg(w.budget_id) OVER task, NULL) AS budget_ids,
      row_number() OVER task AS row_of_task
    FROM wanted w
    WINDOW task AS (PARTITION BY w.id ORDER BY w.budget_id
      ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)) c
  WHERE c.row_of_task = 1 AND c.fit AND c.id NOT IN (SELECT id FROM throttled)
),
task_moved AS (
  UPDATE agent_tasks t SET
    status = 'ASSIGNED', version = t.version + 1, updated_at = now(),
    run_id = m.run_id,
    agent_id = m.agent_id,
    queue_expires_at = NULL,
    generation = t.generation + 1,
    assigned_at = now()
  FROM afforded m
  WHERE t.workspace_id = $1 AND t.id = m.id AND CASE WHEN t.status IN ('PENDING') THEN true END
  RETURNING t.workspace_id, t.id, t.version, old.status AS previous_status, t.status, t.generation,
    coalesce(t.run_id, old.run_id) AS run_id, coalesce(t.agent_id, old.agent_id) AS agent_id,
    coalesce(t.session_key, old.session_key) AS session_key, t.retry_at, t.unmet_dependencies,
    t.dependents_unsettled,
    ('agent')::text AS actor_kind, (m.agent_id)::text AS actor_id, (NULL)::text AS reason, (NULL)::text AS message, (NULL)::text AS level, (NULL)::jsonb AS details, (NULL)::text AS stack_trace, t.title, t.description, t.agent, t.instructions, t.steps, t.deliverables, t.acceptance, t.acceptance_script, t.input_context, t.checkpoint_data, t.metadata, t.secrets, t.answers, t.continues_id, t.repository_id, t.timeout_seconds, t.retry_count, t.max_retries, t.required_capabilities, t.traceparent, t.task_type, t.priority, t.project_id, t.estimated_complexity, t.estimated_tokens, t.estimate_source, t.ready_at, m.seconds, m.by_heartbeat, m.model, m.budget_ids, m.estimated_tokens AS held_tokens
),
run_moved AS (
  INSERT INTO task_runs (workspace_id, id, task_id, agent_id, generation, lease_seconds,
    lease_expires_at, lease_by_heartbeat, model, deadline_at, budget_ids, held_tokens, estimated_tokens)
  SELECT workspace_id, run_id, id, agent_id, generation, seconds,
    now() + make_interval(secs => seconds), by_heartbeat, model,
    now() + make_interval(secs => timeout_seconds), budget_ids, held_tokens, held_tokens
  FROM task_moved
),
agent_busier AS (
  UPDATE agents a SET live_runs = a.live_runs + s.runs
  FROM (SELECT workspace_id, agent_id, count(*)::int AS runs FROM task_moved GROUP BY 1, 2) s
  WHERE a.workspace_id = s.workspace_id AND a.id = s.agent_id
),
journaled AS (
  INSERT INTO journal (workspace_id, event, task_id, version, previous_status, new_status, run_id, run_version,
    previous_state, new_state, end_reason, generation, agent_id, actor_kind, actor_id, reason, level, message,
    details, session_key, stack_trace, retry_at)
  SELECT m.workspace_id, 'task.status_changed', m.id, m.version, m.previous_status, m.status, m.run_id, 1, NULL, 'ASSIGNED', NULL, m.generation, m.agent_id, m.actor_kind, m.actor_id, m.reason, m.level, m.message, m.details, m.session_key, m.stack_trace, m.retry_at
    FROM task_moved m
)
SELECT a.id AS agent_id, a.lifecycle, a.mode, a.capabilities, a.dedicated_to, a.task_types, a.unresponsive, a.room > 0 AND m.id IS NULL AND (a.id NOT IN (SELECT id FROM share)
    OR (SELECT count(*) FROM best) > (SELECT count(*) FROM chosen)) AS deferred,
  CASE WHEN NOT a.takes_work THEN CASE a.lifecycle WHEN 'ERROR' THEN 'agent_in_error' ELSE 'provider_limited' END
       WHEN a.is_full THEN 'agent_full'
       ELSE coalesce(CASE WHEN a.room = 0 THEN CASE WHEN NOT (EXISTS (SELECT FROM workspaces used WHERE used.id = $1
    AND used.archived_at IS NULL)) THEN 'workspace_archived' WHEN NOT (NOT (EXISTS (SELECT FROM installation_pauses p
      WHERE p.ended_at IS NULL AND (p.until IS NULL OR p.until > now()))
    OR EXISTS (SELECT FROM pauses p WHERE p.workspace_id = $1 AND p.task_type IS NULL
      AND p.ended_at IS NULL AND (p.until IS NULL OR p.until > now())))) THEN 'paused' WHEN NOT (NOT EXISTS (SELECT FROM workspace_throttles h
      WHERE h.workspace_id = $1 AND h.scope_id = $1
        AND h.max_runs <= (SELECT coalesce(sum(a.live_runs), 0) FROM agents a WHERE a.workspace_id = $1))) THEN 'throttled' WHEN NOT (NOT EXISTS (SELECT FROM usage_budgets b
    WHERE b.workspace_id = $1 AND b.scope_id = $1
    AND (b.period_start <= now() AND b.covers_until > now()) AND b.available <= 0)) THEN 'budget' END END, 'nothing_ready') END AS why,
  (ARRAY(SELECT p.task_type::text FROM pauses p WHERE p.workspace_id = $1
    AND p.task_type IS NOT NULL AND p.ended_at IS NULL AND (p.until IS NULL OR p.until > now())) <> '{}' OR EXISTS (SELECT FROM workspace_throttles h
      WHERE h.workspace_id = $1 AND h.project_id IS NOT NULL) OR EXISTS (SELECT FROM provider_limits l
    WHERE l.workspace_id = $1 AND l.over_at > now()) OR EXISTS (SELECT FROM usage_budgets b WHERE b.workspace_id = $1)) AS some_held, NOT (EXISTS (SELECT FROM workspaces used WHERE used.id = $1
      AND used.archived_at IS NULL AND NOT used.may_hold_tasks)
    AND NOT EXISTS (SELECT FROM installation_pauses p
      WHERE p.ended_at IS NULL AND (p.until IS NULL OR p.until > now()))) AS is_held,
  m.run_id, m.generation, m.model, now() + make_interval(secs => m.seconds) AS lease_expires_at,
  now() + make_interval(secs => m.timeout_seconds) AS deadline_at, m.id,
  extract(epoch FROM now() - greatest(m.ready_at, (m.answers -> -1 ->> 'answeredAt')::timestamptz))::float8 AS waited_seconds,
  m.title, m.description, m.agent, m.instructions, m.steps, m.deliverables, m.acceptance, m.acceptance_script, m.input_context, m.checkpoint_data, m.metadata, m.secrets, m.answers, m.continues_id, m.repository_id, m.timeout_seconds, m.retry_count, m.max_retries, m.required_capabilities, m.traceparent, m.task_type, m.priority, m.project_id, m.estimated_complexity, m.estimated_tokens, m.estimate_source, ARRAY(
    SELECT g.tag FROM agent_task_tags g WHERE g.workspace_id = $1 AND g.task_id = m.id ORDER BY g.tag) AS tags,
  CASE WHEN (SELECT w.network FROM workspaces w WHERE w.id = $1) <> 'none' THEN (
    SELECT jsonb_build_array(jsonb_build_array(w.network, w.allowed_hosts)) ||
      CASE WHEN m.project_id IS NULL THEN '[]' ELSE (
        SELECT jsonb_build_array(jsonb_build_array(p.network, p.allowed_hosts)) FROM projects p
        WHERE p.workspace_id = $1 AND p.id = m.project_id) END
    FROM workspaces w WHERE w.id = $1) END AS network_levels,
  (SELECT set_config('app.holds', coalesce(jsonb_agg(h)::text, ''), true)
  FROM (
    SELECT m.workspace_id, i.id, sum(m.held_tokens) AS tokens FROM task_moved m CROSS
      JOIN LATERAL unnest(m.budget_ids) AS i (id)
    GROUP BY 1, 2) h) IS NOT NULL AS noted
FROM agent a LEFT JOIN task_moved m ON m.agent_id = a.id
-- Run ids are created in the order of the queue, and sort by their creation time.
ORDER BY m.run_id

-- claim_given
WITH mark AS MATERIALIZED (SELECT NOT (EXISTS (SELECT FROM workspaces used WHERE used.id = $1
      AND used.archived_at IS NULL AND NOT used.may_hold_tasks)
    AND NOT EXISTS (SELECT FROM installation_pauses p
      WHERE p.ended_at IS NULL AND (p.until IS NULL OR p.until > now()))) AS is_held),
agent AS MATERIALIZED (
  SELECT a.id, a.lifecycle, a.mode, a.model, a.capabilities, a.dedicated_to, a.task_types, w.position,
    CASE WHEN a.mode = 'pull' AND (a.lifecycle <> 'TERMINATED' AND NOT (a.lifecycle = 'DRAINING' OR a.lifecycle = 'ERROR' OR (a.mode = 'push' AND NOT a.coordinator_enabled) OR (a.mode = 'push' AND a.command = '{}') OR (a.mode = 'push' AND coalesce(a.resting_until > now(), false)))) AND NOT (SELECT is_held FROM mark)
      THEN greatest(least(w.max, a.max_concurrent_tasks - a.live_runs), 0) ELSE 0 END AS room,
    (a.lifecycle <> 'TERMINATED' AND NOT (a.lifecycle = 'DRAINING' OR a.lifecycle = 'ERROR' OR (a.mode = 'push' AND NOT a.coordinator_enabled) OR (a.mode = 'push' AND a.command = '{}') OR (a.mode = 'push' AND coalesce(a.resting_until > now(), false)))) AS takes_work, NOT a.live_runs < a.max_concurrent_tasks AS is_full,
    coalesce(w.lease_seconds, CASE WHEN heard.alive THEN a.stale_threshold_seconds END, $5::int) AS seconds,
    w.lease_seconds IS NULL AND coalesce(heard.alive, false) AS by_heartbeat,
    a.mode = 'pull' AND coalesce(heard.unresponsive, false) AS unresponsive
  FROM (SELECT ($2::uuid[])[1] AS agent_id, ($3::int[])[1] AS max, ($4::int[])[1] AS lease_seconds,
    1 AS position) w
  JOIN agents a ON a.workspace_id = $1 AND a.id = w.agent_id
  LEFT JOIN LATERAL (
    -- Registering stamps a first heartbeat with the next one at infinity: none is owed yet.
    SELECT h.last_seen_at > now() - make_interval(secs => a.stale_threshold_seconds)
      AND h.next_expected_at IS DISTINCT FROM 'infinity' AS alive,
      h.next_expected_at = 'infinity'
      AND h.last_seen_at < now() - make_interval(secs => a.stale_threshold_seconds / 4.0) AS unresponsive
    FROM agent_heartbeats h WHERE h.workspace_id = $1 AND h.agent_id = a.id) heard ON true
  ORDER BY a.id
  FOR NO KEY UPDATE OF a
),
best AS MATERIALIZED (
  SELECT t.id FROM agent o JOIN agent_tasks t ON t.workspace_id = $1 AND t.id = $7 AND o.room > 0
  WHERE (t.required_capabilities <@ o.capabilities AND t.required_capabilities @> o.dedicated_to) AND (o.task_types = '{}' OR t.task_type = ANY(o.task_types))
    AND ($6::boolean IS NOT TRUE OR t.updated_at <= now())
    AND (t.status = 'PENDING' AND (t.queue_expires_at IS NULL OR t.queue_expires_at > now()) AND t.unmet_dependencies = 0)
  FOR NO KEY UPDATE OF t SKIP LOCKED
),
chosen AS (
  SELECT b.id, uuidv7() AS run_id, a.id AS agent_id, a.seconds, a.by_heartbeat, a.model
  FROM best b CROSS JOIN agent a
),
task_moved AS (
  UPDATE agent_tasks t SET
    status = 'ASSIGNED', version = t.version + 1, updated_at = now(),
    run_id = m.run_id,
    agent_id = m.agent_id,
    queue_expires_at = NULL,
    generation = t.generation + 1,
    assigned_at = now()
  FROM chosen m
  WHERE t.workspace_id = $1 AND t.id = m.id AND CASE WHEN t.status IN ('PENDING') THEN true END
  RETURNING t.workspace_id, t.id, t.version, old.status AS previous_status, t.status, t.generation,
    coalesce(t.run_id, old.run_id) AS run_id, coalesce(t.agent_id, old.agent_id) AS agent_id,
    coalesce(t.session_key, old.session_key) AS session_key, t.retry_at, t.unmet_dependencies,
    t.dependents_unsettled,
    ('agent')::text AS actor_kind, (m.agent_id)::text AS actor_id, (NULL)::text AS reason, (NULL)::text AS message, (NULL)::text AS level, (NULL)::jsonb AS details, (NULL)::text AS stack_trace, t.title, t.description, t.agent, t.instructions, t.steps, t.deliverables, t.acceptance, t.acceptance_script, t.input_context, t.checkpoint_data, t.metadata, t.secrets, t.answers, t.continues_id, t.repository_id, t.timeout_seconds, t.retry_count, t.max_retries, t.required_capabilities, t.traceparent, t.task_type, t.priority, t.project_id, t.estimated_complexity, t.estimated_tokens, t.estimate_source, t.ready_at, m.seconds, m.by_heartbeat, m.model
),
run_moved AS (
  INSERT INTO task_runs (workspace_id, id, task_id, agent_id, generation, lease_seconds,
    lease_expires_at, lease_by_heartbeat, model, deadline_at)
  SELECT workspace_id, run_id, id, agent_id, generation, seconds,
    now() + make_interval(secs => seconds), by_heartbeat, model,
    now() + make_interval(secs => timeout_seconds)
  FROM task_moved
),
agent_busier AS (
  UPDATE agents a SET live_runs = a.live_runs + s.runs
  FROM (SELECT workspace_id, agent_id, count(*)::int AS runs FROM task_moved GROUP BY 1, 2) s
  WHERE a.workspace_id = s.workspace_id AND a.id = s.agent_id
),
journaled AS (
  INSERT INTO journal (workspace_id, event, task_id, version, previous_status, new_status, run_id, run_version,
    previous_state, new_state, end_reason, generation, agent_id, actor_kind, actor_id, reason, level, message,
    details, session_key, stack_trace, retry_at)
  SELECT m.workspace_id, 'task.status_changed', m.id, m.version, m.previous_status, m.status, m.run_id, 1, NULL, 'ASSIGNED', NULL, m.generation, m.agent_id, m.actor_kind, m.actor_id, m.reason, m.level, m.message, m.details, m.session_key, m.stack_trace, m.retry_at
    FROM task_moved m
)
SELECT a.id AS agent_id, a.lifecycle, a.mode, a.capabilities, a.dedicated_to, a.task_types, a.unresponsive, false AS deferred,
  CASE WHEN NOT a.takes_work THEN CASE a.lifecycle WHEN 'ERROR' THEN 'agent_in_error' ELSE 'provider_limited' END
       WHEN a.is_full THEN 'agent_full'
       ELSE coalesce(CASE WHEN a.room = 0 THEN NULL::text END, 'nothing_ready') END AS why,
  false AS some_held, (SELECT is_held FROM mark) AS is_held,
  m.run_id, m.generation, m.model, now() + make_interval(secs => m.seconds) AS lease_expires_at,
  now() + make_interval(secs => m.timeout_seconds) AS deadline_at, m.id,
  extract(epoch FROM now() - greatest(m.ready_at, (m.answers -> -1 ->> 'answeredAt')::timestamptz))::float8 AS waited_seconds,
  m.title, m.description, m.agent, m.instructions, m.steps, m.deliverables, m.acceptance, m.acceptance_script, m.input_context, m.checkpoint_data, m.metadata, m.secrets, m.answers, m.continues_id, m.repository_id, m.timeout_seconds, m.retry_count, m.max_retries, m.required_capabilities, m.traceparent, m.task_type, m.priority, m.project_id, m.estimated_complexity, m.estimated_tokens, m.estimate_source, ARRAY(
    SELECT g.tag FROM agent_task_tags g WHERE g.workspace_id = $1 AND g.task_id = m.id ORDER BY g.tag) AS tags,
  CASE WHEN (SELECT w.network FROM workspaces w WHERE w.id = $1) <> 'none' THEN (
    SELECT jsonb_build_array(jsonb_build_array(w.network, w.allowed_hosts)) ||
      CASE WHEN m.project_id IS NULL THEN '[]' ELSE (
        SELECT jsonb_build_array(jsonb_build_array(p.network, p.allowed_hosts)) FROM projects p
        WHERE p.workspace_id = $1 AND p.id = m.project_id) END
    FROM workspaces w WHERE w.id = $1) END AS network_levels
FROM agent a LEFT JOIN task_moved m ON m.agent_id = a.id
-- Run ids are created in the order of the queue, and sort by their creation time.
ORDER BY m.run_id

-- claim_given_holding
WITH budgets AS MATERIALIZED (SELECT (SELECT jsonb_object_agg(l.scope, l.available) FROM (
    SELECT b.scope_id::text AS scope, b.available FROM usage_budgets b
    WHERE b.workspace_id = $1 AND (b.period_start <= now() AND b.covers_until > now()) AND b.task_id IS NULL
    UNION ALL
    SELECT 'task', 0 WHERE EXISTS (SELECT FROM usage_budgets b
      WHERE b.workspace_id = $1 AND (b.period_start <= now() AND b.covers_until > now()) AND b.task_id IS NOT NULL)) l) AS available),
agent AS MATERIALIZED (
  SELECT a.id, a.lifecycle, a.mode, a.model, a.capabilities, a.dedicated_to, a.task_types, w.position,
    CASE WHEN a.mode = 'pull' AND (a.lifecycle <> 'TERMINATED' AND NOT (a.lifecycle = 'DRAINING' OR a.lifecycle = 'ERROR' OR (a.mode = 'push' AND NOT a.coordinator_enabled) OR (a.mode = 'push' AND a.command = '{}') OR (a.mode = 'push' AND coalesce(a.resting_until > now(), false)) OR (CASE WHEN a.model IS NOT NULL
    THEN provider_limit_end_of_agent(a.workspace_id, a.id, a.model) END) IS NOT NULL)) AND (EXISTS (SELECT FROM workspaces used WHERE used.id = $1
    AND used.archived_at IS NULL) AND NOT (EXISTS (SELECT FROM installation_pauses p
      WHERE p.ended_at IS NULL AND (p.until IS NULL OR p.until > now()))
    OR EXISTS (SELECT FROM pauses p WHERE p.workspace_id = $1 AND p.task_type IS NULL
      AND p.ended_at IS NULL AND (p.until IS NULL OR p.until > now()))) AND NOT EXISTS (SELECT FROM workspace_throttles h
      WHERE h.workspace_id = $1 AND h.scope_id = $1
        AND h.max_runs <= (SELECT coalesce(sum(a.live_runs), 0) FROM agents a WHERE a.workspace_id = $1)) AND NOT EXISTS (SELECT FROM usage_budgets b
    WHERE b.workspace_id = $1 AND b.scope_id = $1
    AND (b.period_start <= now() AND b.covers_until > now()) AND b.available <= 0))
      THEN greatest(least(w.max, a.max_concurrent_tasks - a.live_runs), 0) ELSE 0 END AS room,
    (a.lifecycle <> 'TERMINATED' AND NOT (a.lifecycle = 'DRAINING' OR a.lifecycle = 'ERROR' OR (a.mode = 'push' AND NOT a.coordinator_enabled) OR (a.mode = 'push' AND a.command = '{}') OR (a.mode = 'push' AND coalesce(a.resting_until > now(), false)) OR (CASE WHEN a.model IS NOT NULL
    THEN provider_limit_end_of_agent(a.workspace_id, a.id, a.model) END) IS NOT NULL)) AS takes_work, NOT a.live_runs < a.max_concurrent_tasks AS is_full,
    coalesce(w.lease_seconds, CASE WHEN heard.alive THEN a.stale_threshold_seconds END, $5::int) AS seconds,
    w.lease_seconds IS NULL AND coalesce(heard.alive, false) AS by_heartbeat,
    a.mode = 'pull' AND coalesce(heard.unresponsive, false) AS unresponsive
  FROM (SELECT ($2::uuid[])[1] AS agent_id, ($3::int[])[1] AS max, ($4::int[])[1] AS lease_seconds,
    1 AS position) w
  JOIN agents a ON a.workspace_id = $1 AND a.id = w.agent_id
  LEFT JOIN LATERAL (
    -- Registering stamps a first heartbeat with the next one at infinity: none is owed yet.
    SELECT h.last_seen_at > now() - make_interval(secs => a.stale_threshold_seconds)
      AND h.next_expected_at IS DISTINCT FROM 'infinity' AS alive,
      h.next_expected_at = 'infinity'
      AND h.last_seen_at < now() - make_interval(secs => a.stale_threshold_seconds / 4.0) AS unresponsive
    FROM agent_heartbeats h WHERE h.workspace_id = $1 AND h.agent_id = a.id) heard ON true
  ORDER BY a.id
  FOR NO KEY UPDATE OF a
),
best AS MATERIALIZED (
  SELECT t.id, t.project_id, t.milestone_id, t.estimated_tokens FROM agent o JOIN agent_tasks t ON t.workspace_id = $1 AND t.id = $7 AND o.room > 0
  WHERE (t.required_capabilities <@ o.capabilities AND t.required_capabilities @> o.dedicated_to) AND (o.task_types = '{}' OR t.task_type = ANY(o.task_types))
    AND ($6::boolean IS NOT TRUE OR t.updated_at <= now())
    AND (t.status = 'PENDING'
      AND (t.queue_expires_at IS NULL OR t.queue_expires_at > now())
      AND (t.task_type || '') <> ALL ((ARRAY(SELECT p.task_type::text FROM pauses p WHERE p.workspace_id = $1
    AND p.task_type IS NOT NULL AND p.ended_at IS NULL AND (p.until IS NULL OR p.until > now())))::text[])
      AND coalesce(t.project_id, t.workspace_id) <> ALL (ARRAY(SELECT h.project_id FROM workspace_throttles h
      WHERE h.workspace_id = $1 AND h.project_id IS NOT NULL
        AND h.max_runs <= (SELECT count(*) FROM task_runs lr
        JOIN agent_tasks lt ON lt.workspace_id = lr.workspace_id AND lt.id = lr.task_id
        WHERE lr.workspace_id = $1 AND lr.state IN ('ASSIGNED', 'WORKING', 'STALE')
          AND lt.project_id = h.project_id)))
      AND (NOT EXISTS (SELECT FROM provider_limits l
    WHERE l.workspace_id = $1 AND l.over_at > now()) OR NOT EXISTS (SELECT FROM limits_of_task(t.workspace_id, t.id, '[{"minPriority":9,"tier":"opus"},{"minComplexity":9,"tier":"opus"},{"taskType":"boilerplate","tier":"haiku"},{"maxEstimatedTokens":"9999","tier":"haiku"},{"tier":"sonnet"}]', '{"haiku":"claude-haiku-4-5","sonnet":"claude-sonnet-4-6","opus":"claude-opus-4-6"}', '(?<=.)(?:-(?:\d{8}|\d{4}-\d{2}-\d{2}|\d{3}|latest|preview)(?:-[^@:]*)?)?(?:@[^@]*|:\d+)?$',
      t.task_type, t.priority, t.project_id, t.estimated_complexity,
      CASE WHEN t.estimate_source <> 'default' THEN t.estimated_tokens END,
      t.agent IS NOT NULL)))
      AND t.unmet_dependencies = 0
      AND ((SELECT available FROM budgets) IS NULL OR (
    greatest(t.estimated_tokens, 1) <= least(9223372036854775807, ((SELECT available FROM budgets) ->> t.workspace_id::text)::bigint,
      ((SELECT available FROM budgets) ->> t.project_id::text)::bigint,
      ((SELECT available FROM budgets) ->> t.milestone_id::text)::bigint)
    AND (NOT (SELECT available FROM budgets) ? 'task' OR NOT EXISTS (SELECT FROM usage_budgets b
      WHERE b.workspace_id = t.workspace_id AND b.scope_id = t.id AND (b.period_start <= now() AND b.covers_until > now())
        AND b.available < greatest(t.estimated_tokens, 1))))))
  FOR NO KEY UPDATE OF t SKIP LOCKED
),
chosen AS (
  SELECT b.id, uuidv7() AS run_id, a.id AS agent_id, a.seconds, a.by_heartbeat, a.model, b.project_id, b.milestone_id, b.estimated_tokens
  FROM best b CROSS JOIN agent a
),
wide_budget AS MATERIALIZED (
  SELECT b.id, b.scope_id, b.available FROM usage_budgets b
  WHERE (b.workspace_id, b.scope_id) IN (SELECT $1, unnest(ARRAY[$1, c.project_id, c.milestone_id]) FROM chosen c)
    AND (b.period_start <= now() AND b.covers_until > now())
),
wanted AS (
  SELECT c.*, b.id AS budget_id, b.id IS NULL OR b.available >= greatest(1,
    sum(c.estimated_tokens)
      OVER (PARTITION BY b.id ORDER BY c.run_id ROWS UNBOUNDED PRECEDING)) AS fits
  FROM chosen c LEFT JOIN LATERAL (
    SELECT b.id, b.available FROM wide_budget b WHERE b.scope_id IN ($1, c.project_id, c.milestone_id)
    UNION ALL
    SELECT b.id, b.available FROM usage_budgets b
    WHERE b.workspace_id = $1 AND b.scope_id = c.id AND (b.period_start <= now() AND b.covers_until > now())) b ON true
),
throttled AS (
  SELECT id FROM (
    SELECT c.id, (h.max_runs - CASE WHEN h.project_id IS NULL THEN (SELECT coalesce(sum(a.live_runs), 0) FROM agents a WHERE a.workspace_id = h.workspace_id)
      ELSE (SELECT count(*) FROM task_runs lr
        JOIN agent_tasks lt ON lt.workspace_id = lr.workspace_id AND lt.id = lr.task_id
        WHERE lr.workspace_id = h.workspace_id AND lr.state IN ('ASSIGNED', 'WORKING', 'STALE')
          AND lt.project_id = h.project_id) END) < row_number()
      OVER (PARTITION BY h.workspace_id, h.scope_id ORDER BY c.run_id) AS is_beyond
    FROM chosen c JOIN workspace_throttles h
      ON h.workspace_id = $1 AND h.scope_id IN ($1, c.project_id)) t
  WHERE is_beyond
),
afforded AS MATERIALIZED (
  SELECT * FROM (
    SELECT w.*, bool_and(w.fits) OVER task AS fit,
      array_remove(array_agg(w.budget_id) OVER task, NULL) AS budget_ids,
      row_number() OVER task AS row_of_task
    FROM wanted w
    WINDOW task AS (PARTITION BY w.id ORDER BY w.budget_id
      ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)) c
  WHERE c.row_of_task = 1 AND c.fit AND c.id NOT IN (SELECT id FROM throttled)
),
task_moved AS (
  UPDATE agent_tasks t SET
    status = 'ASSIGNED', version = t.version + 1, updated_at = now(),
    run_id = m.run_id,
    agent_id = m.agent_id,
    queue_expires_at = NULL,
    generation = t.generation + 1,
    assigned_at = now()
  FROM afforded m
  WHERE t.workspace_id = $1 AND t.id = m.id AND CASE WHEN t.status IN ('PENDING') THEN true END
  RETURNING t.workspace_id, t.id, t.version, old.status AS previous_status, t.status, t.generation,
    coalesce(t.run_id, old.run_id) AS run_id, coalesce(t.agent_id, old.agent_id) AS agent_id,
    coalesce(t.session_key, old.session_key) AS session_key, t.retry_at, t.unmet_dependencies,
    t.dependents_unsettled,
    ('agent')::text AS actor_kind, (m.agent_id)::text AS actor_id, (NULL)::text AS reason, (NULL)::text AS message, (NULL)::text AS level, (NULL)::jsonb AS details, (NULL)::text AS stack_trace, t.title, t.description, t.agent, t.instructions, t.steps, t.deliverables, t.acceptance, t.acceptance_script, t.input_context, t.checkpoint_data, t.metadata, t.secrets, t.answers, t.continues_id, t.repository_id, t.timeout_seconds, t.retry_count, t.max_retries, t.required_capabilities, t.traceparent, t.task_type, t.priority, t.project_id, t.estimated_complexity, t.estimated_tokens, t.estimate_source, t.ready_at, m.seconds, m.by_heartbeat, m.model, m.budget_ids, m.estimated_tokens AS held_tokens
),
run_moved AS (
  INSERT INTO task_runs (workspace_id, id, task_id, agent_id, generation, lease_seconds,
    lease_expires_at, lease_by_heartbeat, model, deadline_at, budget_ids, held_tokens, estimated_tokens)
  SELECT workspace_id, run_id, id, agent_id, generation, seconds,
    now() + make_interval(secs => seconds), by_heartbeat, model,
    now() + make_interval(secs => timeout_seconds), budget_ids, held_tokens, held_tokens
  FROM task_moved
),
agent_busier AS (
  UPDATE agents a SET live_runs = a.live_runs + s.runs
  FROM (SELECT workspace_id, agent_id, count(*)::int AS runs FROM task_moved GROUP BY 1, 2) s
  WHERE a.workspace_id = s.workspace_id AND a.id = s.agent_id
),
journaled AS (
  INSERT INTO journal (workspace_id, event, task_id, version, previous_status, new_status, run_id, run_version,
    previous_state, new_state, end_reason, generation, agent_id, actor_kind, actor_id, reason, level, message,
    details, session_key, stack_trace, retry_at)
  SELECT m.workspace_id, 'task.status_changed', m.id, m.version, m.previous_status, m.status, m.run_id, 1, NULL, 'ASSIGNED', NULL, m.generation, m.agent_id, m.actor_kind, m.actor_id, m.reason, m.level, m.message, m.details, m.session_key, m.stack_trace, m.retry_at
    FROM task_moved m
)
SELECT a.id AS agent_id, a.lifecycle, a.mode, a.capabilities, a.dedicated_to, a.task_types, a.unresponsive, false AS deferred,
  CASE WHEN NOT a.takes_work THEN CASE a.lifecycle WHEN 'ERROR' THEN 'agent_in_error' ELSE 'provider_limited' END
       WHEN a.is_full THEN 'agent_full'
       ELSE coalesce(CASE WHEN a.room = 0 THEN CASE WHEN NOT (EXISTS (SELECT FROM workspaces used WHERE used.id = $1
    AND used.archived_at IS NULL)) THEN 'workspace_archived' WHEN NOT (NOT (EXISTS (SELECT FROM installation_pauses p
      WHERE p.ended_at IS NULL AND (p.until IS NULL OR p.until > now()))
    OR EXISTS (SELECT FROM pauses p WHERE p.workspace_id = $1 AND p.task_type IS NULL
      AND p.ended_at IS NULL AND (p.until IS NULL OR p.until > now())))) THEN 'paused' WHEN NOT (NOT EXISTS (SELECT FROM workspace_throttles h
      WHERE h.workspace_id = $1 AND h.scope_id = $1
        AND h.max_runs <= (SELECT coalesce(sum(a.live_runs), 0) FROM agents a WHERE a.workspace_id = $1))) THEN 'throttled' WHEN NOT (NOT EXISTS (SELECT FROM usage_budgets b
    WHERE b.workspace_id = $1 AND b.scope_id = $1
    AND (b.period_start <= now() AND b.covers_until > now()) AND b.available <= 0)) THEN 'budget' END END, 'nothing_ready') END AS why,
  (ARRAY(SELECT p.task_type::text FROM pauses p WHERE p.workspace_id = $1
    AND p.task_type IS NOT NULL AND p.ended_at IS NULL AND (p.until IS NULL OR p.until > now())) <> '{}' OR EXISTS (SELECT FROM workspace_throttles h
      WHERE h.workspace_id = $1 AND h.project_id IS NOT NULL) OR EXISTS (SELECT FROM provider_limits l
    WHERE l.workspace_id = $1 AND l.over_at > now()) OR EXISTS (SELECT FROM usage_budgets b WHERE b.workspace_id = $1)) AS some_held, NOT (EXISTS (SELECT FROM workspaces used WHERE used.id = $1
      AND used.archived_at IS NULL AND NOT used.may_hold_tasks)
    AND NOT EXISTS (SELECT FROM installation_pauses p
      WHERE p.ended_at IS NULL AND (p.until IS NULL OR p.until > now()))) AS is_held,
  m.run_id, m.generation, m.model, now() + make_interval(secs => m.seconds) AS lease_expires_at,
  now() + make_interval(secs => m.timeout_seconds) AS deadline_at, m.id,
  extract(epoch FROM now() - greatest(m.ready_at, (m.answers -> -1 ->> 'answeredAt')::timestamptz))::float8 AS waited_seconds,
  m.title, m.description, m.agent, m.instructions, m.steps, m.deliverables, m.acceptance, m.acceptance_script, m.input_context, m.checkpoint_data, m.metadata, m.secrets, m.answers, m.continues_id, m.repository_id, m.timeout_seconds, m.retry_count, m.max_retries, m.required_capabilities, m.traceparent, m.task_type, m.priority, m.project_id, m.estimated_complexity, m.estimated_tokens, m.estimate_source, ARRAY(
    SELECT g.tag FROM agent_task_tags g WHERE g.workspace_id = $1 AND g.task_id = m.id ORDER BY g.tag) AS tags,
  CASE WHEN (SELECT w.network FROM workspaces w WHERE w.id = $1) <> 'none' THEN (
    SELECT jsonb_build_array(jsonb_build_array(w.network, w.allowed_hosts)) ||
      CASE WHEN m.project_id IS NULL THEN '[]' ELSE (
        SELECT jsonb_build_array(jsonb_build_array(p.network, p.allowed_hosts)) FROM projects p
        WHERE p.workspace_id = $1 AND p.id = m.project_id) END
    FROM workspaces w WHERE w.id = $1) END AS network_levels,
  (SELECT set_config('app.holds', coalesce(jsonb_agg(h)::text, ''), true)
  FROM (
    SELECT m.workspace_id, i.id, sum(m.held_tokens) AS tokens FROM task_moved m CROSS
      JOIN LATERAL unnest(m.budget_ids) AS i (id)
    GROUP BY 1, 2) h) IS NOT NULL AS noted
FROM agent a LEFT JOIN task_moved m ON m.agent_id = a.id
-- Run ids are created in the order of the queue, and sort by their creation time.
ORDER BY m.run_id

-- claim_many
WITH mark AS MATERIALIZED (SELECT NOT (EXISTS (SELECT FROM workspaces used WHERE used.id = $1
      AND used.archived_at IS NULL AND NOT used.may_hold_tasks)
    AND NOT EXISTS (SELECT FROM installation_pauses p
      WHERE p.ended_at IS NULL AND (p.until IS NULL OR p.until > now()))) AS is_held),
agent AS MATERIALIZED (
  SELECT a.id, a.lifecycle, a.mode, a.model, a.capabilities, a.dedicated_to, a.task_types, w.position,
    CASE WHEN a.mode = 'pull' AND (a.lifecycle <> 'TERMINATED' AND NOT (a.lifecycle = 'DRAINING' OR a.lifecycle = 'ERROR' OR (a.mode = 'push' AND NOT a.coordinator_enabled) OR (a.mode = 'push' AND a.command = '{}') OR (a.mode = 'push' AND coalesce(a.resting_until > now(), false)))) AND NOT (SELECT is_held FROM mark)
      THEN greatest(least(w.max, a.max_concurrent_tasks - a.live_runs), 0) ELSE 0 END AS room,
    (a.lifecycle <> 'TERMINATED' AND NOT (a.lifecycle = 'DRAINING' OR a.lifecycle = 'ERROR' OR (a.mode = 'push' AND NOT a.coordinator_enabled) OR (a.mode = 'push' AND a.command = '{}') OR (a.mode = 'push' AND coalesce(a.resting_until > now(), false)))) AS takes_work, NOT a.live_runs < a.max_concurrent_tasks AS is_full,
    coalesce(w.lease_seconds, CASE WHEN heard.alive THEN a.stale_threshold_seconds END, $5::int) AS seconds,
    w.lease_seconds IS NULL AND coalesce(heard.alive, false) AS by_heartbeat,
    a.mode = 'pull' AND coalesce(heard.unresponsive, false) AS unresponsive
  FROM unnest($2::uuid[], $3::int[], $4::int[]) WITH ORDINALITY AS w (agent_id, max, lease_seconds, position)
  JOIN agents a ON a.workspace_id = $1 AND a.id = w.agent_id
  LEFT JOIN LATERAL (
    -- Registering stamps a first heartbeat with the next one at infinity: none is owed yet.
    SELECT h.last_seen_at > now() - make_interval(secs => a.stale_threshold_seconds)
      AND h.next_expected_at IS DISTINCT FROM 'infinity' AS alive,
      h.next_expected_at = 'infinity'
      AND h.last_seen_at < now() - make_interval(secs => a.stale_threshold_seconds / 4.0) AS unresponsive
    FROM agent_heartbeats h WHERE h.workspace_id = $1 AND h.agent_id = a.id) heard ON true
  ORDER BY a.id
  FOR NO KEY UPDATE OF a
),
share AS MATERIALIZED (
  SELECT a.id, a.room, a.seconds, a.by_heartbeat, a.model, sum(a.room) OVER (ORDER BY a.position) - a.room AS before
  FROM agent a
  WHERE a.room > 0 AND (a.capabilities, a.dedicated_to, a.task_types) = (SELECT a.capabilities, a.dedicated_to, a.task_types FROM agent a WHERE room > 0 ORDER BY position LIMIT 1)
),
together AS MATERIALIZED (
  SELECT sum(a.room) AS room, a.capabilities, a.dedicated_to, a.task_types FROM agent a JOIN share USING (id) GROUP BY a.capabilities, a.dedicated_to, a.task_types
),
best AS MATERIALIZED (
  SELECT head.*
  FROM together o JOIN capability_sets s ON s.workspace_id = $1 AND (s.capabilities <@ o.capabilities AND s.capabilities @> o.dedicated_to)
  CROSS JOIN LATERAL (
    SELECT t.id, t.queue_rank, CASE WHEN pg_column_compression(t.description) IS NULL THEN coalesce(pg_column_size(t.description), 0)
    ELSE octet_length(t.description::text) END + CASE WHEN pg_column_compression(t.instructions) IS NULL THEN coalesce(pg_column_size(t.instructions), 0)
    ELSE octet_length(t.instructions::text) END + CASE WHEN pg_column_compression(t.agent) IS NULL THEN coalesce(pg_column_size(t.agent), 0)
    ELSE octet_length(t.agent::text) END + CASE WHEN pg_column_compression(t.steps) IS NULL THEN coalesce(pg_column_size(t.steps), 0)
    ELSE octet_length(t.steps::text) END + CASE WHEN pg_column_compression(t.deliverables) IS NULL THEN coalesce(pg_column_size(t.deliverables), 0)
    ELSE octet_length(t.deliverables::text) END + CASE WHEN pg_column_compression(t.acceptance) IS NULL THEN coalesce(pg_column_size(t.acceptance), 0)
    ELSE octet_length(t.acceptance::text) END + CASE WHEN pg_column_compression(t.acceptance_script) IS NULL THEN coalesce(pg_column_size(t.acceptance_script), 0)
    ELSE octet_length(t.acceptance_script::text) END + CASE WHEN pg_column_compression(t.input_context) IS NULL THEN coalesce(pg_column_size(t.input_context), 0)
    ELSE octet_length(t.input_context::text) END + CASE WHEN pg_column_compression(t.metadata) IS NULL THEN coalesce(pg_column_size(t.metadata), 0)
    ELSE octet_length(t.metadata::text) END + CASE WHEN pg_column_compression(t.secrets) IS NULL THEN coalesce(pg_column_size(t.secrets), 0)
    ELSE octet_length(t.secrets::text) END + CASE WHEN pg_column_compression(t.checkpoint_data) IS NULL THEN coalesce(pg_column_size(t.checkpoint_data), 0)
    ELSE octet_length(t.checkpoint_data::text) END + CASE WHEN pg_column_compression(t.answers) IS NULL THEN coalesce(pg_column_size(t.answers), 0)
    ELSE octet_length(t.answers::text) END AS bytes FROM agent_tasks t
    WHERE t.workspace_id = $1 AND t.capability_key = s.key
      AND (t.status = 'PENDING' AND (t.queue_expires_at IS NULL OR t.queue_expires_at > now()) AND t.unmet_dependencies = 0)
      AND (o.task_types = '{}' OR t.task_type = ANY(o.task_types)) AND ($6::boolean IS NOT TRUE OR t.updated_at <= now())
    ORDER BY t.queue_rank
    LIMIT o.room
    FOR NO KEY UPDATE OF t SKIP LOCKED) head
  ORDER BY head.queue_rank
  LIMIT (SELECT room FROM together)
),
chosen AS MATERIALIZED (
  SELECT b.id, uuidv7() AS run_id, s.id AS agent_id, s.seconds, s.by_heartbeat, s.model
  FROM (SELECT id, number FROM (
      SELECT id, row_number() OVER line AS number, sum(bytes) OVER line - bytes AS before
      FROM best WINDOW line AS (ORDER BY queue_rank, id ROWS UNBOUNDED PRECEDING)) b
    WHERE before < 33554432) b
  JOIN share s ON b.number > s.before AND b.number <= s.before + s.room
),
task_moved AS (
  UPDATE agent_tasks t SET
    status = 'ASSIGNED', version = t.version + 1, updated_at = now(),
    run_id = m.run_id,
    agent_id = m.agent_id,
    queue_expires_at = NULL,
    generation = t.generation + 1,
    assigned_at = now()
  FROM chosen m
  WHERE t.workspace_id = $1 AND t.id = m.id AND CASE WHEN t.status IN ('PENDING') THEN true END
  RETURNING t.workspace_id, t.id, t.version, old.status AS previous_status, t.status, t.generation,
    coalesce(t.run_id, old.run_id) AS run_id, coalesce(t.agent_id, old.agent_id) AS agent_id,
    coalesce(t.session_key, old.session_key) AS session_key, t.retry_at, t.unmet_dependencies,
    t.dependents_unsettled,
    ('agent')::text AS actor_kind, (m.agent_id)::text AS actor_id, (NULL)::text AS reason, (NULL)::text AS message, (NULL)::text AS level, (NULL)::jsonb AS details, (NULL)::text AS stack_trace, t.title, t.description, t.agent, t.instructions, t.steps, t.deliverables, t.acceptance, t.acceptance_script, t.input_context, t.checkpoint_data, t.metadata, t.secrets, t.answers, t.continues_id, t.repository_id, t.timeout_seconds, t.retry_count, t.max_retries, t.required_capabilities, t.traceparent, t.task_type, t.priority, t.project_id, t.estimated_complexity, t.estimated_tokens, t.estimate_source, t.ready_at, m.seconds, m.by_heartbeat, m.model
),
run_moved AS (
  INSERT INTO task_runs (workspace_id, id, task_id, agent_id, generation, lease_seconds,
    lease_expires_at, lease_by_heartbeat, model, deadline_at)
  SELECT workspace_id, run_id, id, agent_id, generation, seconds,
    now() + make_interval(secs => seconds), by_heartbeat, model,
    now() + make_interval(secs => timeout_seconds)
  FROM task_moved
),
agent_busier AS (
  UPDATE agents a SET live_runs = a.live_runs + s.runs
  FROM (SELECT workspace_id, agent_id, count(*)::int AS runs FROM task_moved GROUP BY 1, 2) s
  WHERE a.workspace_id = s.workspace_id AND a.id = s.agent_id
),
journaled AS (
  INSERT INTO journal (workspace_id, event, task_id, version, previous_status, new_status, run_id, run_version,
    previous_state, new_state, end_reason, generation, agent_id, actor_kind, actor_id, reason, level, message,
    details, session_key, stack_trace, retry_at)
  SELECT m.workspace_id, 'task.status_changed', m.id, m.version, m.previous_status, m.status, m.run_id, 1, NULL, 'ASSIGNED', NULL, m.generation, m.agent_id, m.actor_kind, m.actor_id, m.reason, m.level, m.message, m.details, m.session_key, m.stack_trace, m.retry_at
    FROM task_moved m
)
SELECT a.id AS agent_id, a.lifecycle, a.mode, a.capabilities, a.dedicated_to, a.task_types, a.unresponsive, a.room > 0 AND m.id IS NULL AND (a.id NOT IN (SELECT id FROM share)
    OR (SELECT count(*) FROM best) > (SELECT count(*) FROM chosen)) AS deferred,
  CASE WHEN NOT a.takes_work THEN CASE a.lifecycle WHEN 'ERROR' THEN 'agent_in_error' ELSE 'provider_limited' END
       WHEN a.is_full THEN 'agent_full'
       ELSE coalesce(CASE WHEN a.room = 0 THEN NULL::text END, 'nothing_ready') END AS why,
  false AS some_held, (SELECT is_held FROM mark) AS is_held,
  m.run_id, m.generation, m.model, now() + make_interval(secs => m.seconds) AS lease_expires_at,
  now() + make_interval(secs => m.timeout_seconds) AS deadline_at, m.id,
  extract(epoch FROM now() - greatest(m.ready_at, (m.answers -> -1 ->> 'answeredAt')::timestamptz))::float8 AS waited_seconds,
  m.title, m.description, m.agent, m.instructions, m.steps, m.deliverables, m.acceptance, m.acceptance_script, m.input_context, m.checkpoint_data, m.metadata, m.secrets, m.answers, m.continues_id, m.repository_id, m.timeout_seconds, m.retry_count, m.max_retries, m.required_capabilities, m.traceparent, m.task_type, m.priority, m.project_id, m.estimated_complexity, m.estimated_tokens, m.estimate_source, ARRAY(
    SELECT g.tag FROM agent_task_tags g WHERE g.workspace_id = $1 AND g.task_id = m.id ORDER BY g.tag) AS tags,
  CASE WHEN (SELECT w.network FROM workspaces w WHERE w.id = $1) <> 'none' THEN (
    SELECT jsonb_build_array(jsonb_build_array(w.network, w.allowed_hosts)) ||
      CASE WHEN m.project_id IS NULL THEN '[]' ELSE (
        SELECT jsonb_build_array(jsonb_build_array(p.network, p.allowed_hosts)) FROM projects p
        WHERE p.workspace_id = $1 AND p.id = m.project_id) END
    FROM workspaces w WHERE w.id = $1) END AS network_levels
FROM agent a LEFT JOIN task_moved m ON m.agent_id = a.id
-- Run ids are created in the order of the queue, and sort by their creation time.
ORDER BY m.run_id

-- claim_many_holding
WITH budgets AS MATERIALIZED (SELECT (SELECT jsonb_object_agg(l.scope, l.available) FROM (
    SELECT b.scope_id::text AS scope, b.available FROM usage_budgets b
    WHERE b.workspace_id = $1 AND (b.period_start <= now() AND b.covers_until > now()) AND b.task_id IS NULL
    UNION ALL
    SELECT 'task', 0 WHERE EXISTS (SELECT FROM usage_budgets b
      WHERE b.workspace_id = $1 AND (b.period_start <= now() AND b.covers_until > now()) AND b.task_id IS NOT NULL)) l) AS available),
agent AS MATERIALIZED (
  SELECT a.id, a.lifecycle, a.mode, a.model, a.capabilities, a.dedicated_to, a.task_types, w.position,
    CASE WHEN a.mode = 'pull' AND (a.lifecycle <> 'TERMINATED' AND NOT (a.lifecycle = 'DRAINING' OR a.lifecycle = 'ERROR' OR (a.mode = 'push' AND NOT a.coordinator_enabled) OR (a.mode = 'push' AND a.command = '{}') OR (a.mode = 'push' AND coalesce(a.resting_until > now(), false)) OR (CASE WHEN a.model IS NOT NULL
    THEN provider_limit_end_of_agent(a.workspace_id, a.id, a.model) END) IS NOT NULL)) AND (EXISTS (SELECT FROM workspaces used WHERE used.id = $1
    AND used.archived_at IS NULL) AND NOT (EXISTS (SELECT FROM installation_pauses p
      WHERE p.ended_at IS NULL AND (p.until IS NULL OR p.until > now()))
    OR EXISTS (SELECT FROM pauses p WHERE p.workspace_id = $1 AND p.task_type IS NULL
      AND p.ended_at IS NULL AND (p.until IS NULL OR p.until > now()))) AND NOT EXISTS (SELECT FROM workspace_throttles h
      WHERE h.workspace_id = $1 AND h.scope_id = $1
        AND h.max_runs <= (SELECT coalesce(sum(a.live_runs), 0) FROM agents a WHERE a.workspace_id = $1)) AND NOT EXISTS (SELECT FROM usage_budgets b
    WHERE b.workspace_id = $1 AND b.scope_id = $1
    AND (b.period_start <= now() AND b.covers_until > now()) AND b.available <= 0))
      THEN greatest(least(w.max, a.max_concurrent_tasks - a.live_runs), 0) ELSE 0 END AS room,
    (a.lifecycle <> 'TERMINATED' AND NOT (a.lifecycle = 'DRAINING' OR a.lifecycle = 'ERROR' OR (a.mode = 'push' AND NOT a.coordinator_enabled) OR (a.mode = 'push' AND a.command = '{}') OR (a.mode = 'push' AND coalesce(a.resting_until > now(), false)) OR (CASE WHEN a.model IS NOT NULL
    THEN provider_limit_end_of_agent(a.workspace_id, a.id, a.model) END) IS NOT NULL)) AS takes_work, NOT a.live_runs < a.max_concurrent_tasks AS is_full,
    coalesce(w.lease_seconds, CASE WHEN heard.alive THEN a.stale_threshold_seconds END, $5::int) AS seconds,
    w.lease_seconds IS NULL AND coalesce(heard.alive, false) AS by_heartbeat,
    a.mode = 'pull' AND coalesce(heard.unresponsive, false) AS unresponsive
  FROM unnest($2::uuid[], $3::int[], $4::int[]) WITH ORDINALITY AS w (agent_id, max, lease_seconds, position)
  JOIN agents a ON a.workspace_id = $1 AND a.id = w.agent_id
  LEFT JOIN LATERAL (
    -- Registering stamps a first heartbeat with the next one at infinity: none is owed yet.
    SELECT h.last_seen_at > now() - make_interval(secs => a.stale_threshold_seconds)
      AND h.next_expected_at IS DISTINCT FROM 'infinity' AS alive,
      h.next_expected_at = 'infinity'
      AND h.last_seen_at < now() - make_interval(secs => a.stale_threshold_seconds / 4.0) AS unresponsive
    FROM agent_heartbeats h WHERE h.workspace_id = $1 AND h.agent_id = a.id) heard ON true
  ORDER BY a.id
  FOR NO KEY UPDATE OF a
),
share AS MATERIALIZED (
  SELECT a.id, a.room, a.seconds, a.by_heartbeat, a.model, sum(a.room) OVER (ORDER BY a.position) - a.room AS before
  FROM agent a
  WHERE a.room > 0 AND (a.capabilities, a.dedicated_to, a.task_types) = (SELECT a.capabilities, a.dedicated_to, a.task_types FROM agent a WHERE room > 0 ORDER BY position LIMIT 1)
),
together AS MATERIALIZED (
  SELECT sum(a.room) AS room, a.capabilities, a.dedicated_to, a.task_types FROM agent a JOIN share USING (id) GROUP BY a.capabilities, a.dedicated_to, a.task_types
),
best AS MATERIALIZED (
  SELECT head.*
  FROM together o JOIN capability_sets s ON s.workspace_id = $1 AND (s.capabilities <@ o.capabilities AND s.capabilities @> o.dedicated_to)
  CROSS JOIN LATERAL (
    SELECT t.id, t.queue_rank, t.project_id, t.milestone_id, t.estimated_tokens, CASE WHEN pg_column_compression(t.description) IS NULL THEN coalesce(pg_column_size(t.description), 0)
    ELSE octet_length(t.description::text) END + CASE WHEN pg_column_compression(t.instructions) IS NULL THEN coalesce(pg_column_size(t.instructions), 0)
    ELSE octet_length(t.instructions::text) END + CASE WHEN pg_column_compression(t.agent) IS NULL THEN coalesce(pg_column_size(t.agent), 0)
    ELSE octet_length(t.agent::text) END + CASE WHEN pg_column_compression(t.steps) IS NULL THEN coalesce(pg_column_size(t.steps), 0)
    ELSE octet_length(t.steps::text) END + CASE WHEN pg_column_compression(t.deliverables) IS NULL THEN coalesce(pg_column_size(t.deliverables), 0)
    ELSE octet_length(t.deliverables::text) END + CASE WHEN pg_column_compression(t.acceptance) IS NULL THEN coalesce(pg_column_size(t.acceptance), 0)
    ELSE octet_length(t.acceptance::text) END + CASE WHEN pg_column_compression(t.acceptance_script) IS NULL THEN coalesce(pg_column_size(t.acceptance_script), 0)
    ELSE octet_length(t.acceptance_script::text) END + CASE WHEN pg_column_compression(t.input_context) IS NULL THEN coalesce(pg_column_size(t.input_context), 0)
    ELSE octet_length(t.input_context::text) END + CASE WHEN pg_column_compression(t.metadata) IS NULL THEN coalesce(pg_column_size(t.metadata), 0)
    ELSE octet_length(t.metadata::text) END + CASE WHEN pg_column_compression(t.secrets) IS NULL THEN coalesce(pg_column_size(t.secrets), 0)
    ELSE octet_length(t.secrets::text) END + CASE WHEN pg_column_compression(t.checkpoint_data) IS NULL THEN coalesce(pg_column_size(t.checkpoint_data), 0)
    ELSE octet_length(t.checkpoint_data::text) END + CASE WHEN pg_column_compression(t.answers) IS NULL THEN coalesce(pg_column_size(t.answers), 0)
    ELSE octet_length(t.answers::text) END AS bytes FROM agent_tasks t
    WHERE t.workspace_id = $1 AND t.capability_key = s.key
      AND (t.status = 'PENDING'
      AND (t.queue_expires_at IS NULL OR t.queue_expires_at > now())
      AND (t.task_type || '') <> ALL ((ARRAY(SELECT p.task_type::text FROM pauses p WHERE p.workspace_id = $1
    AND p.task_type IS NOT NULL AND p.ended_at IS NULL AND (p.until IS NULL OR p.until > now())))::text[])
      AND coalesce(t.project_id, t.workspace_id) <> ALL (ARRAY(SELECT h.project_id FROM workspace_throttles h
      WHERE h.workspace_id = $1 AND h.project_id IS NOT NULL
        AND h.max_runs <= (SELECT count(*) FROM task_runs lr
        JOIN agent_tasks lt ON lt.workspace_id = lr.workspace_id AND lt.id = lr.task_id
        WHERE lr.workspace_id = $1 AND lr.state IN ('ASSIGNED', 'WORKING', 'STALE')
          AND lt.project_id = h.project_id)))
      AND (NOT EXISTS (SELECT FROM provider_limits l
    WHERE l.workspace_id = $1 AND l.over_at > now()) OR NOT EXISTS (SELECT FROM limits_of_task(t.workspace_id, t.id, '[{"minPriority":9,"tier":"opus"},{"minComplexity":9,"tier":"opus"},{"taskType":"boilerplate","tier":"haiku"},{"maxEstimatedTokens":"9999","tier":"haiku"},{"tier":"sonnet"}]', '{"haiku":"claude-haiku-4-5","sonnet":"claude-sonnet-4-6","opus":"claude-opus-4-6"}', '(?<=.)(?:-(?:\d{8}|\d{4}-\d{2}-\d{2}|\d{3}|latest|preview)(?:-[^@:]*)?)?(?:@[^@]*|:\d+)?$',
      t.task_type, t.priority, t.project_id, t.estimated_complexity,
      CASE WHEN t.estimate_source <> 'default' THEN t.estimated_tokens END,
      t.agent IS NOT NULL)))
      AND t.unmet_dependencies = 0
      AND ((SELECT available FROM budgets) IS NULL OR (
    greatest(t.estimated_tokens, 1) <= least(9223372036854775807, ((SELECT available FROM budgets) ->> t.workspace_id::text)::bigint,
      ((SELECT available FROM budgets) ->> t.project_id::text)::bigint,
      ((SELECT available FROM budgets) ->> t.milestone_id::text)::bigint)
    AND (NOT (SELECT available FROM budgets) ? 'task' OR NOT EXISTS (SELECT FROM usage_budgets b
      WHERE b.workspace_id = t.workspace_id AND b.scope_id = t.id AND (b.period_start <= now() AND b.covers_until > now())
        AND b.available < greatest(t.estimated_tokens, 1))))))
      AND (o.task_types = '{}' OR t.task_type = ANY(o.task_types)) AND ($6::boolean IS NOT TRUE OR t.updated_at <= now())
    ORDER BY t.queue_rank
    LIMIT o.room
    FOR NO KEY UPDATE OF t SKIP LOCKED) head
  ORDER BY head.queue_rank
  LIMIT (SELECT room FROM together)
),
chosen AS MATERIALIZED (
  SELECT b.id, uuidv7() AS run_id, s.id AS agent_id, s.seconds, s.by_heartbeat, s.model, b.project_id, b.milestone_id, b.estimated_tokens
  FROM (SELECT id, number, b.project_id, b.milestone_id, b.estimated_tokens FROM (
      SELECT id, row_number() OVER line AS number, sum(bytes) OVER line - bytes AS before, best.project_id, best.milestone_id, best.estimated_tokens
      FROM best WINDOW line AS (ORDER BY queue_rank, id ROWS UNBOUNDED PRECEDING)) b
    WHERE before < 33554432) b
  JOIN share s ON b.number > s.before AND b.number <= s.before + s.room
),
wide_budget AS MATERIALIZED (
  SELECT b.id, b.scope_id, b.available FROM usage_budgets b
  WHERE (b.workspace_id, b.scope_id) IN (SELECT $1, unnest(ARRAY[$1, c.project_id, c.milestone_id]) FROM chosen c)
    AND (b.period_start <= now() AND b.covers_until > now())
),
wanted AS (
  SELECT c.*, b.id AS budget_id, b.id IS NULL OR b.available >= greatest(1,
    sum(c.estimated_tokens)
      OVER (PARTITION BY b.id ORDER BY c.run_id ROWS UNBOUNDED PRECEDING)) AS fits
  FROM chosen c LEFT JOIN LATERAL (
    SELECT b.id, b.available FROM wide_budget b WHERE b.scope_id IN ($1, c.project_id, c.milestone_id)
    UNION ALL
    SELECT b.id, b.available FROM usage_budgets b
    WHERE b.workspace_id = $1 AND b.scope_id = c.id AND (b.period_start <= now() AND b.covers_until > now())) b ON true
),
throttled AS (
  SELECT id FROM (
    SELECT c.id, (h.max_runs - CASE WHEN h.project_id IS NULL THEN (SELECT coalesce(sum(a.live_runs), 0) FROM agents a WHERE a.workspace_id = h.workspace_id)
      ELSE (SELECT count(*) FROM task_runs lr
        JOIN agent_tasks lt ON lt.workspace_id = lr.workspace_id AND lt.id = lr.task_id
        WHERE lr.workspace_id = h.workspace_id AND lr.state IN ('ASSIGNED', 'WORKING', 'STALE')
          AND lt.project_id = h.project_id) END) < row_number()
      OVER (PARTITION BY h.workspace_id, h.scope_id ORDER BY c.run_id) AS is_beyond
    FROM chosen c JOIN workspace_throttles h
      ON h.workspace_id = $1 AND h.scope_id IN ($1, c.project_id)) t
  WHERE is_beyond
),
afforded AS MATERIALIZED (
  SELECT * FROM (
    SELECT w.*, bool_and(w.fits) OVER task AS fit,
      array_remove(array_agg(w.budget_id) OVER task, NULL) AS budget_ids,
      row_number() OVER task AS row_of_task
    FROM wanted w
    WINDOW task AS (PARTITION BY w.id ORDER BY w.budget_id
      ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)) c
  WHERE c.row_of_task = 1 AND c.fit AND c.id NOT IN (SELECT id FROM throttled)
),
task_moved AS (
  UPDATE agent_tasks t SET
    status = 'ASSIGNED', version = t.version + 1, updated_at = now(),
    run_id = m.run_id,
    agent_id = m.agent_id,
    queue_expires_at = NULL,
    generation = t.generation + 1,
    assigned_at = now()
  FROM afforded m
  WHERE t.workspace_id = $1 AND t.id = m.id AND CASE WHEN t.status IN ('PENDING') THEN true END
  RETURNING t.workspace_id, t.id, t.version, old.status AS previous_status, t.status, t.generation,
    coalesce(t.run_id, old.run_id) AS run_id, coalesce(t.agent_id, old.agent_id) AS agent_id,
    coalesce(t.session_key, old.session_key) AS session_key, t.retry_at, t.unmet_dependencies,
    t.dependents_unsettled,
    ('agent')::text AS actor_kind, (m.agent_id)::text AS actor_id, (NULL)::text AS reason, (NULL)::text AS message, (NULL)::text AS level, (NULL)::jsonb AS details, (NULL)::text AS stack_trace, t.title, t.description, t.agent, t.instructions, t.steps, t.deliverables, t.acceptance, t.acceptance_script, t.input_context, t.checkpoint_data, t.metadata, t.secrets, t.answers, t.continues_id, t.repository_id, t.timeout_seconds, t.retry_count, t.max_retries, t.required_capabilities, t.traceparent, t.task_type, t.priority, t.project_id, t.estimated_complexity, t.estimated_tokens, t.estimate_source, t.ready_at, m.seconds, m.by_heartbeat, m.model, m.budget_ids, m.estimated_tokens AS held_tokens
),
run_moved AS (
  INSERT INTO task_runs (workspace_id, id, task_id, agent_id, generation, lease_seconds,
    lease_expires_at, lease_by_heartbeat, model, deadline_at, budget_ids, held_tokens, estimated_tokens)
  SELECT workspace_id, run_id, id, agent_id, generation, seconds,
    now() + make_interval(secs => seconds), by_heartbeat, model,
    now() + make_interval(secs => timeout_seconds), budget_ids, held_tokens, held_tokens
  FROM task_moved
),
agent_busier AS (
  UPDATE agents a SET live_runs = a.live_runs + s.runs
  FROM (SELECT workspace_id, agent_id, count(*)::int AS runs FROM task_moved GROUP BY 1, 2) s
  WHERE a.workspace_id = s.workspace_id AND a.id = s.agent_id
),
journaled AS (
  INSERT INTO journal (workspace_id, event, task_id, version, previous_status, new_status, run_id, run_version,
    previous_state, new_state, end_reason, generation, agent_id, actor_kind, actor_id, reason, level, message,
    details, session_key, stack_trace, retry_at)
  SELECT m.workspace_id, 'task.status_changed', m.id, m.version, m.previous_status, m.status, m.run_id, 1, NULL, 'ASSIGNED', NULL, m.generation, m.agent_id, m.actor_kind, m.actor_id, m.reason, m.level, m.message, m.details, m.session_key, m.stack_trace, m.retry_at
    FROM task_moved m
)
SELECT a.id AS agent_id, a.lifecycle, a.mode, a.capabilities, a.dedicated_to, a.task_types, a.unresponsive, a.room > 0 AND m.id IS NULL AND (a.id NOT IN (SELECT id FROM share)
    OR (SELECT count(*) FROM best) > (SELECT count(*) FROM chosen)) AS deferred,
  CASE WHEN NOT a.takes_work THEN CASE a.lifecycle WHEN 'ERROR' THEN 'agent_in_error' ELSE 'provider_limited' END
       WHEN a.is_full THEN 'agent_full'
       ELSE coalesce(CASE WHEN a.room = 0 THEN CASE WHEN NOT (EXISTS (SELECT FROM workspaces used WHERE used.id = $1
    AND used.archived_at IS NULL)) THEN 'workspace_archived' WHEN NOT (NOT (EXISTS (SELECT FROM installation_pauses p
      WHERE p.ended_at IS NULL AND (p.until IS NULL OR p.until > now()))
    OR EXISTS (SELECT FROM pauses p WHERE p.workspace_id = $1 AND p.task_type IS NULL
      AND p.ended_at IS NULL AND (p.until IS NULL OR p.until > now())))) THEN 'paused' WHEN NOT (NOT EXISTS (SELECT FROM workspace_throttles h
      WHERE h.workspace_id = $1 AND h.scope_id = $1
        AND h.max_runs <= (SELECT coalesce(sum(a.live_runs), 0) FROM agents a WHERE a.workspace_id = $1))) THEN 'throttled' WHEN NOT (NOT EXISTS (SELECT FROM usage_budgets b
    WHERE b.workspace_id = $1 AND b.scope_id = $1
    AND (b.period_start <= now() AND b.covers_until > now()) AND b.available <= 0)) THEN 'budget' END END, 'nothing_ready') END AS why,
  (ARRAY(SELECT p.task_type::text FROM pauses p WHERE p.workspace_id = $1
    AND p.task_type IS NOT NULL AND p.ended_at IS NULL AND (p.until IS NULL OR p.until > now())) <> '{}' OR EXISTS (SELECT FROM workspace_throttles h
      WHERE h.workspace_id = $1 AND h.project_id IS NOT NULL) OR EXISTS (SELECT FROM provider_limits l
    WHERE l.workspace_id = $1 AND l.over_at > now()) OR EXISTS (SELECT FROM usage_budgets b WHERE b.workspace_id = $1)) AS some_held, NOT (EXISTS (SELECT FROM workspaces used WHERE used.id = $1
      AND used.archived_at IS NULL AND NOT used.may_hold_tasks)
    AND NOT EXISTS (SELECT FROM installation_pauses p
      WHERE p.ended_at IS NULL AND (p.until IS NULL OR p.until > now()))) AS is_held,
  m.run_id, m.generation, m.model, now() + make_interval(secs => m.seconds) AS lease_expires_at,
  now() + make_interval(secs => m.timeout_seconds) AS deadline_at, m.id,
  extract(epoch FROM now() - greatest(m.ready_at, (m.answers -> -1 ->> 'answeredAt')::timestamptz))::float8 AS waited_seconds,
  m.title, m.description, m.agent, m.instructions, m.steps, m.deliverables, m.acceptance, m.acceptance_script, m.input_context, m.checkpoint_data, m.metadata, m.secrets, m.answers, m.continues_id, m.repository_id, m.timeout_seconds, m.retry_count, m.max_retries, m.required_capabilities, m.traceparent, m.task_type, m.priority, m.project_id, m.estimated_complexity, m.estimated_tokens, m.estimate_source, ARRAY(
    SELECT g.tag FROM agent_task_tags g WHERE g.workspace_id = $1 AND g.task_id = m.id ORDER BY g.tag) AS tags,
  CASE WHEN (SELECT w.network FROM workspaces w WHERE w.id = $1) <> 'none' THEN (
    SELECT jsonb_build_array(jsonb_build_array(w.network, w.allowed_hosts)) ||
      CASE WHEN m.project_id IS NULL THEN '[]' ELSE (
        SELECT jsonb_build_array(jsonb_build_array(p.network, p.allowed_hosts)) FROM projects p
        WHERE p.workspace_id = $1 AND p.id = m.project_id) END
    FROM workspaces w WHERE w.id = $1) END AS network_levels,
  (SELECT set_config('app.holds', coalesce(jsonb_agg(h)::text, ''), true)
  FROM (
    SELECT m.workspace_id, i.id, sum(m.held_tokens) AS tokens FROM task_moved m CROSS
      JOIN LATERAL unnest(m.budget_ids) AS i (id)
    GROUP BY 1, 2) h) IS NOT NULL AS noted
FROM agent a LEFT JOIN task_moved m ON m.agent_id = a.id
-- Run ids are created in the order of the queue, and sort by their creation time.
ORDER BY m.run_id

-- close_spawns
WITH over AS MATERIALIZED (
  SELECT s.workspace_id, s.run_id
  FROM session_spawns s JOIN task_runs r ON r.workspace_id = s.workspace_id AND r.id = s.run_id
  WHERE s.state IN ('PENDING', 'SPAWNED') AND r.ended_at IS NOT NULL
    AND (s.locked_until IS NULL OR s.locked_until <= now())
  LIMIT $1
  FOR NO KEY UPDATE OF s SKIP LOCKED
)
UPDATE session_spawns s SET settled_at = coalesce(s.settled_at, now()),
  state = CASE s.state WHEN 'PENDING' THEN 'CANCELLED' ELSE 'ENDED' END
FROM over o WHERE s.workspace_id = o.workspace_id AND s.run_id = o.run_id
RETURNING s.workspace_id

-- complete_all_runs
WITH report AS MATERIALIZED (
  SELECT * FROM jsonb_to_recordset($2::jsonb) AS c (run_id uuid, agent_id uuid, actor_kind text,
    actor_id text, output_result jsonb, summary text)
  WHERE num_nonnulls(c.run_id) = 1
),
held AS MATERIALIZED (
  SELECT r.task_id, r.id AS run_id, c.actor_kind, c.actor_id, c.output_result, c.summary
  FROM report c
  JOIN task_runs r ON r.workspace_id = $1 AND r.id = c.run_id AND r.agent_id = c.agent_id
  WHERE CASE WHEN r.state IN ('ASSIGNED', 'WORKING', 'STALE') THEN true END AND EXISTS (SELECT FROM workspaces used WHERE used.id = $1
    AND used.archived_at IS NULL) AND (r.deadline_at <= now() - interval '60 seconds' AND r.state IN ('ASSIGNED', 'WORKING', 'STALE')) IS NOT TRUE
  ORDER BY r.task_id
),
task_moved AS (
  UPDATE agent_tasks t SET
    status = 'COMPLETED', version = t.version + 1, updated_at = now(),
    output_result = coalesce(m.output_result, t.output_result),
    summary = coalesce(m.summary, t.summary),
    run_id = NULL,
    progress_percent = 100,
    current_step = NULL,
    completed_at = now(),
    dependents_unsettled = t.has_dependents
  FROM held m
  WHERE t.workspace_id = $1 AND t.id = m.task_id AND CASE WHEN t.status IN ('ASSIGNED', 'RUNNING', 'PAUSED') THEN true END AND t.run_id = m.run_id AND t.repository_id IS NULL
      AND (t.acceptance_script IS NULL OR m.actor_kind = 'agent')
  RETURNING t.workspace_id, t.id, t.version, old.status AS previous_status, t.status, t.generation,
    coalesce(t.run_id, old.run_id) AS run_id, coalesce(t.agent_id, old.agent_id) AS agent_id,
    coalesce(t.session_key, old.session_key) AS session_key, t.retry_at, t.unmet_dependencies,
    t.dependents_unsettled,
    m.actor_kind AS actor_kind, m.actor_id AS actor_id, (NULL)::text AS reason, (NULL)::text AS message, (NULL)::text AS level, (NULL)::jsonb AS details, (NULL)::text AS stack_trace
),
run_moved AS (
  UPDATE task_runs r SET state = 'COMPLETED', version = r.version + 1,
    last_report_at = now(), ended_at = now(), end_reason = ('completed')::text, ended_by = ('agent')::text, held_tokens = 0
  FROM task_moved m
  WHERE r.workspace_id = $1 AND r.id = m.run_id AND CASE WHEN r.state IN ('ASSIGNED', 'WORKING', 'STALE') THEN true END
  RETURNING r.workspace_id, r.id, r.task_id, r.agent_id, r.generation, r.version, r.end_reason,
    old.state AS previous_state, r.state, r.ended_at, old.held_tokens AS released_tokens, r.budget_ids, m.version AS task_version, m.previous_status, m.status, m.actor_kind, m.actor_id, m.reason, m.level, m.message, m.details, m.session_key, m.stack_trace, m.retry_at
),
freed AS MATERIALIZED (
  SELECT a.workspace_id, a.id, f.runs FROM agents a JOIN (
    SELECT workspace_id, agent_id, count(*)::int AS runs FROM run_moved
    WHERE ended_at IS NOT NULL GROUP BY 1, 2) f
    ON a.workspace_id = f.workspace_id AND a.id = f.agent_id
  ORDER BY a.id, a.workspace_id FOR NO KEY UPDATE OF a
),
agent_freed AS (
  -- A count that is too low must not fail the report of an agent: reconcile_states counts again.
  UPDATE agents a SET live_runs = greatest(a.live_runs - f.runs, 0) FROM freed f
  WHERE a.workspace_id = f.workspace_id AND a.id = f.id
),
released AS MATERIALIZED (
  SELECT b.workspace_id, b.id, h.tokens FROM usage_budgets b JOIN (
    SELECT r.workspace_id, i.id, sum(r.released_tokens) AS tokens
    FROM run_moved r CROSS JOIN LATERAL unnest(r.budget_ids) AS i (id)
    WHERE r.ended_at IS NOT NULL AND r.released_tokens > 0 AND (SELECT count(*) FROM freed) >= 0
    GROUP BY 1, 2) h ON b.workspace_id = h.workspace_id AND b.id = h.id
  ORDER BY b.id FOR NO KEY UPDATE OF b
),
budget_released AS (
  -- A sum that is too low must not fail the report of an agent: an invariant finds it.
  UPDATE usage_budgets b SET reserved = greatest(b.reserved - l.tokens, 0), updated_at = now()
    FROM released l
  WHERE b.workspace_id = l.workspace_id AND b.id = l.id
),
journaled AS (
  INSERT INTO journal (workspace_id, event, task_id, version, previous_status, new_status, run_id, run_version,
    previous_state, new_state, end_reason, generation, agent_id, actor_kind, actor_id, reason, level, message,
    details, session_key, stack_trace, retry_at)
  SELECT r.workspace_id, 'task.status_changed', r.task_id, r.task_version, r.previous_status,
    r.status, r.id,
    r.version, r.previous_state, r.state, r.end_reason, r.generation, r.agent_id, r.actor_kind, r.actor_id, r.reason, r.level, r.message, r.details, r.session_key, r.stack_trace, r.retry_at
      FROM run_moved r
)
SELECT m.run_id, m.agent_id, m.id AS task_id, m.version, m.dependents_unsettled
FROM (SELECT CASE WHEN (SELECT count(*) FROM task_moved) = (SELECT count(*) FROM report) THEN true
  ELSE run_not_completed() END AS complete) c
LEFT JOIN task_moved m ON c.complete

-- complete_runs
WITH report AS MATERIALIZED (
  SELECT * FROM jsonb_to_recordset($2::jsonb) AS c (run_id uuid, agent_id uuid, actor_kind text,
    actor_id text, output_result jsonb, summary text)
  WHERE num_nonnulls(c.run_id) = 1
),
held AS MATERIALIZED (
  SELECT r.task_id, r.id AS run_id, c.actor_kind, c.actor_id, c.output_result, c.summary
  FROM report c
  JOIN task_runs r ON r.workspace_id = $1 AND r.id = c.run_id AND r.agent_id = c.agent_id
  WHERE CASE WHEN r.state IN ('ASSIGNED', 'WORKING', 'STALE') THEN true END AND EXISTS (SELECT FROM workspaces used WHERE used.id = $1
    AND used.archived_at IS NULL) AND (r.deadline_at <= now() - interval '60 seconds' AND r.state IN ('ASSIGNED', 'WORKING', 'STALE')) IS NOT TRUE
  ORDER BY r.task_id
),
task_moved AS (
  UPDATE agent_tasks t SET
    status = 'COMPLETED', version = t.version + 1, updated_at = now(),
    output_result = coalesce(m.output_result, t.output_result),
    summary = coalesce(m.summary, t.summary),
    run_id = NULL,
    progress_percent = 100,
    current_step = NULL,
    completed_at = now(),
    dependents_unsettled = t.has_dependents
  FROM held m
  WHERE t.workspace_id = $1 AND t.id = m.task_id AND CASE WHEN t.status IN ('ASSIGNED', 'RUNNING', 'PAUSED') THEN true END AND t.run_id = m.run_id AND t.repository_id IS NULL
      AND (t.acceptance_script IS NULL OR m.actor_kind = 'agent')
  RETURNING t.workspace_id, t.id, t.version, old.status AS previous_status, t.status, t.generation,
    coalesce(t.run_id, old.run_id) AS run_id, coalesce(t.agent_id, old.agent_id) AS agent_id,
    coalesce(t.session_key, old.session_key) AS session_key, t.retry_at, t.unmet_dependencies,
    t.dependents_unsettled,
    m.actor_kind AS actor_kind, m.actor_id AS actor_id, (NULL)::text AS reason, (NULL)::text AS message, (NULL)::text AS level, (NULL)::jsonb AS details, (NULL)::text AS stack_trace
),
run_moved AS (
  UPDATE task_runs r SET state = 'COMPLETED', version = r.version + 1,
    last_report_at = now(), ended_at = now(), end_reason = ('completed')::text, ended_by = ('agent')::text, held_tokens = 0
  FROM task_moved m
  WHERE r.workspace_id = $1 AND r.id = m.run_id AND CASE WHEN r.state IN ('ASSIGNED', 'WORKING', 'STALE') THEN true END
  RETURNING r.workspace_id, r.id, r.task_id, r.agent_id, r.generation, r.version, r.end_reason,
    old.state AS previous_state, r.state, r.ended_at, old.held_tokens AS released_tokens, r.budget_ids, m.version AS task_version, m.previous_status, m.status, m.actor_kind, m.actor_id, m.reason, m.level, m.message, m.details, m.session_key, m.stack_trace, m.retry_at
),
freed AS MATERIALIZED (
  SELECT a.workspace_id, a.id, f.runs FROM agents a JOIN (
    SELECT workspace_id, agent_id, count(*)::int AS runs FROM run_moved
    WHERE ended_at IS NOT NULL GROUP BY 1, 2) f
    ON a.workspace_id = f.workspace_id AND a.id = f.agent_id
  ORDER BY a.id, a.workspace_id FOR NO KEY UPDATE OF a
),
agent_freed AS (
  -- A count that is too low must not fail the report of an agent: reconcile_states counts again.
  UPDATE agents a SET live_runs = greatest(a.live_runs - f.runs, 0) FROM freed f
  WHERE a.workspace_id = f.workspace_id AND a.id = f.id
),
released AS MATERIALIZED (
  SELECT b.workspace_id, b.id, h.tokens FROM usage_budgets b JOIN (
    SELECT r.workspace_id, i.id, sum(r.released_tokens) AS tokens
    FROM run_moved r CROSS JOIN LATERAL unnest(r.budget_ids) AS i (id)
    WHERE r.ended_at IS NOT NULL AND r.released_tokens > 0 AND (SELECT count(*) FROM freed) >= 0
    GROUP BY 1, 2) h ON b.workspace_id = h.workspace_id AND b.id = h.id
  ORDER BY b.id FOR NO KEY UPDATE OF b
),
budget_released AS (
  -- A sum that is too low must not fail the report of an agent: an invariant finds it.
  UPDATE usage_budgets b SET reserved = greatest(b.reserved - l.tokens, 0), updated_at = now()
    FROM released l
  WHERE b.workspace_id = l.workspace_id AND b.id = l.id
),
journaled AS (
  INSERT INTO journal (workspace_id, event, task_id, version, previous_status, new_status, run_id, run_version,
    previous_state, new_state, end_reason, generation, agent_id, actor_kind, actor_id, reason, level, message,
    details, session_key, stack_trace, retry_at)
  SELECT r.workspace_id, 'task.status_changed', r.task_id, r.task_version, r.previous_status,
    r.status, r.id,
    r.version, r.previous_state, r.state, r.end_reason, r.generation, r.agent_id, r.actor_kind, r.actor_id, r.reason, r.level, r.message, r.details, r.session_key, r.stack_trace, r.retry_at
      FROM run_moved r
)
SELECT run_id, agent_id, id AS task_id, version, dependents_unsettled FROM task_moved

-- deliver_messages
WITH run AS MATERIALIZED (
  SELECT r.id, r.task_id, r.session_key FROM task_runs r JOIN agent_tasks t
    ON t.workspace_id = r.workspace_id AND t.id = r.task_id
  WHERE r.workspace_id = $1 AND r.id = $2 AND r.agent_id = $3 AND t.run_id = r.id AND EXISTS (SELECT FROM workspaces used WHERE used.id = $1
    AND used.archived_at IS NULL)
),
m AS (
  UPDATE run_messages m SET state = 'delivered', closed_at = now() FROM run
  WHERE m.workspace_id = $1 AND m.run_id = run.id AND m.sequence = ANY ($6::int[])
    AND m.state = 'waiting'
  RETURNING m.*
),
logged AS (
  INSERT INTO task_log_lines (workspace_id, task_id, run_id, agent_id, level, event, message, details, actor_kind, actor_id, session_key)
  SELECT $1, run.task_id, run.id, $3, 'INFO', 'message_delivered', m.text, jsonb_strip_nulls(jsonb_build_object('messageId', m.id, 'position', m.sequence,
        'type', m.type, 'data', m.data, 'deliver', m.deliver, 'sender', m.sender)), $4, $5, run.session_key
  FROM run JOIN m ON m.question_id IS NULL ORDER BY m.sequence
)
SELECT (SELECT count(*)::int FROM m) AS delivered FROM run

-- given_task
SELECT t.status FROM agents a JOIN agent_tasks t ON t.workspace_id = $1 AND t.id = $3
WHERE a.workspace_id = $1 AND a.id = $2
  AND (t.agent_id = a.id OR (t.required_capabilities <@ a.capabilities AND t.required_capabilities @> a.dedicated_to)
    AND (a.task_types = '{}' OR t.task_type = ANY(a.task_types)))

-- hear_agents
UPDATE agent_heartbeats h SET last_seen_at = now() FROM (
  SELECT agent_id FROM agent_heartbeats WHERE workspace_id = $1 AND agent_id = ANY($2::uuid[])
  FOR NO KEY UPDATE SKIP LOCKED) u
WHERE h.workspace_id = $1 AND h.agent_id = u.agent_id

-- heartbeat_for_agents
UPDATE agent_heartbeats h SET last_seen_at = greatest(h.last_seen_at, now()), status = 'healthy',
  next_expected_at = now() + make_interval(secs => a.heartbeat_interval_seconds)
FROM (SELECT workspace_id, id, heartbeat_interval_seconds FROM agents
  WHERE (workspace_id, id) IN (SELECT * FROM unnest($1::uuid[], $2::uuid[])
    UNION SELECT workspace_id, agent_id FROM session_spawns WHERE state = 'PENDING')
  ORDER BY workspace_id, id) a
WHERE h.workspace_id = a.workspace_id AND h.agent_id = a.id
RETURNING h.agent_id

-- held_sessions
SELECT held.run_id, s.workspace_id, s.agent_id,
  CASE WHEN r.id IS NULL OR r.ended_at IS NOT NULL OR t.run_id IS DISTINCT FROM r.id
         OR s.gateway_id <> $2 THEN 'stop'
       WHEN t.status = 'PAUSED' AND r.pause_requested_at IS NOT NULL THEN 'pause'
       WHEN t.status = 'RUNNING'
         AND (r.hung_warned_at IS NOT NULL OR EXISTS (SELECT FROM usage_budgets b
    WHERE b.workspace_id = t.workspace_id AND b.reached_percent >= 90
      AND b.consumed * 10.0 > b.allocated * 9.0 AND (b.period_start <= now() AND b.covers_until > now())
      AND b.scope_id = ANY (ARRAY[t.workspace_id, t.project_id, t.milestone_id, t.id]))) THEN 'warn' END AS action,
  CASE WHEN r.id IS NULL THEN 'unknown_run'
       WHEN r.ended_at IS NOT NULL OR t.run_id IS DISTINCT
         FROM r.id THEN coalesce(r.end_reason, 'stale_run')
       WHEN s.gateway_id <> $2 THEN 'spawned_elsewhere'
       WHEN t.status = 'PAUSED' THEN coalesce(t.pause_reason, 'paused')
       WHEN r.hung_warned_at IS NOT NULL THEN 'hung'
       ELSE 'budget' END AS reason
FROM unnest($1::uuid[]) AS held (run_id)
LEFT JOIN session_spawns s ON s.run_id = held.run_id
LEFT JOIN task_runs r ON r.workspace_id = s.workspace_id AND r.id = s.run_id
LEFT JOIN agent_tasks t ON t.workspace_id = r.workspace_id AND t.id = r.task_id

-- held_tasks_wait
SELECT head.why
FROM agents a
JOIN capability_sets s ON s.workspace_id = $1 AND (s.capabilities <@ a.capabilities AND s.capabilities @> a.dedicated_to)
CROSS JOIN LATERAL (VALUES (s.key), ('!' || s.key)) queue (key)
CROSS JOIN LATERAL (
  SELECT CASE WHEN NOT ((t.task_type || '') <> ALL ((ARRAY(SELECT p.task_type::text FROM pauses p WHERE p.workspace_id = $1
    AND p.task_type IS NOT NULL AND p.ended_at IS NULL AND (p.until IS NULL OR p.until > now())))::text[])) THEN 'paused' WHEN NOT (coalesce(t.project_id, t.workspace_id) <> ALL (ARRAY(SELECT h.project_id FROM workspace_throttles h
      WHERE h.workspace_id = $1 AND h.project_id IS NOT NULL
        AND h.max_runs <= (SELECT count(*) FROM task_runs lr
        JOIN agent_tasks lt ON lt.workspace_id = lr.workspace_id AND lt.id = lr.task_id
        WHERE lr.workspace_id = $1 AND lr.state IN ('ASSIGNED', 'WORKING', 'STALE')
          AND lt.project_id = h.project_id)))) THEN 'throttled' WHEN NOT ((NOT EXISTS (SELECT FROM provider_limits l
    WHERE l.workspace_id = $1 AND l.over_at > now()) OR NOT EXISTS (SELECT FROM limits_of_task(t.workspace_id, t.id, '[{"minPriority":9,"tier":"opus"},{"minComplexity":9,"tier":"opus"},{"taskType":"boilerplate","tier":"haiku"},{"maxEstimatedTokens":"9999","tier":"haiku"},{"tier":"sonnet"}]', '{"haiku":"claude-haiku-4-5","sonnet":"claude-sonnet-4-6","opus":"claude-opus-4-6"}', '(?<=.)(?:-(?:\d{8}|\d{4}-\d{2}-\d{2}|\d{3}|latest|preview)(?:-[^@:]*)?)?(?:@[^@]*|:\d+)?$',
      t.task_type, t.priority, t.project_id, t.estimated_complexity,
      CASE WHEN t.estimate_source <> 'default' THEN t.estimated_tokens END,
      t.agent IS NOT NULL)))) THEN 'provider_limited' WHEN NOT (((SELECT jsonb_object_agg(l.scope, l.available) FROM (
    SELECT b.scope_id::text AS scope, b.available FROM usage_budgets b
    WHERE b.workspace_id = $1 AND (b.period_start <= now() AND b.covers_until > now()) AND b.task_id IS NULL
    UNION ALL
    SELECT 'task', 0 WHERE EXISTS (SELECT FROM usage_budgets b
      WHERE b.workspace_id = $1 AND (b.period_start <= now() AND b.covers_until > now()) AND b.task_id IS NOT NULL)) l) IS NULL OR (
    greatest(t.estimated_tokens, 1) <= least(9223372036854775807, ((SELECT jsonb_object_agg(l.scope, l.available) FROM (
    SELECT b.scope_id::text AS scope, b.available FROM usage_budgets b
    WHERE b.workspace_id = $1 AND (b.period_start <= now() AND b.covers_until > now()) AND b.task_id IS NULL
    UNION ALL
    SELECT 'task', 0 WHERE EXISTS (SELECT FROM usage_budgets b
      WHERE b.workspace_id = $1 AND (b.period_start <= now() AND b.covers_until > now()) AND b.task_id IS NOT NULL)) l) ->> t.workspace_id::text)::bigint,
      ((SELECT jsonb_object_agg(l.scope, l.available) FROM (
    SELECT b.scope_id::text AS scope, b.available FROM usage_budgets b
    WHERE b.workspace_id = $1 AND (b.period_start <= now() AND b.covers_until > now()) AND b.task_id IS NULL
    UNION ALL
    SELECT 'task', 0 WHERE EXISTS (SELECT FROM usage_budgets b
      WHERE b.workspace_id = $1 AND (b.period_start <= now() AND b.covers_until > now()) AND b.task_id IS NOT NULL)) l) ->> t.project_id::text)::bigint,
      ((SELECT jsonb_object_agg(l.scope, l.available) FROM (
    SELECT b.scope_id::text AS scope, b.available FROM usage_budgets b
    WHERE b.workspace_id = $1 AND (b.period_start <= now() AND b.covers_until > now()) AND b.task_id IS NULL
    UNION ALL
    SELECT 'task', 0 WHERE EXISTS (SELECT FROM usage_budgets b
      WHERE b.workspace_id = $1 AND (b.period_start <= now() AND b.covers_until > now()) AND b.task_id IS NOT NULL)) l) ->> t.milestone_id::text)::bigint)
    AND (NOT (SELECT jsonb_object_agg(l.scope, l.available) FROM (
    SELECT b.scope_id::text AS scope, b.available FROM usage_budgets b
    WHERE b.workspace_id = $1 AND (b.period_start <= now() AND b.covers_until > now()) AND b.task_id IS NULL
    UNION ALL
    SELECT 'task', 0 WHERE EXISTS (SELECT FROM usage_budgets b
      WHERE b.workspace_id = $1 AND (b.period_start <= now() AND b.covers_until > now()) AND b.task_id IS NOT NULL)) l) ? 'task' OR NOT EXISTS (SELECT FROM usage_budgets b
      WHERE b.workspace_id = t.workspace_id AND b.scope_id = t.id AND (b.period_start <= now() AND b.covers_until > now())
        AND b.available < greatest(t.estimated_tokens, 1)))))) THEN 'budget' END AS why FROM agent_tasks t
  WHERE t.workspace_id = $1 AND t.capability_key = queue.key
    AND (t.status = 'PENDING' AND t.unmet_dependencies = 0) AND (a.task_types = '{}' OR t.task_type = ANY(a.task_types))
    AND CASE WHEN NOT ((t.task_type || '') <> ALL ((ARRAY(SELECT p.task_type::text FROM pauses p WHERE p.workspace_id = $1
    AND p.task_type IS NOT NULL AND p.ended_at IS NULL AND (p.until IS NULL OR p.until > now())))::text[])) THEN 'paused' WHEN NOT (coalesce(t.project_id, t.workspace_id) <> ALL (ARRAY(SELECT h.project_id FROM workspace_throttles h
      WHERE h.workspace_id = $1 AND h.project_id IS NOT NULL
        AND h.max_runs <= (SELECT count(*) FROM task_runs lr
        JOIN agent_tasks lt ON lt.workspace_id = lr.workspace_id AND lt.id = lr.task_id
        WHERE lr.workspace_id = $1 AND lr.state IN ('ASSIGNED', 'WORKING', 'STALE')
          AND lt.project_id = h.project_id)))) THEN 'throttled' WHEN NOT ((NOT EXISTS (SELECT FROM provider_limits l
    WHERE l.workspace_id = $1 AND l.over_at > now()) OR NOT EXISTS (SELECT FROM limits_of_task(t.workspace_id, t.id, '[{"minPriority":9,"tier":"opus"},{"minComplexity":9,"tier":"opus"},{"taskType":"boilerplate","tier":"haiku"},{"maxEstimatedTokens":"9999","tier":"haiku"},{"tier":"sonnet"}]', '{"haiku":"claude-haiku-4-5","sonnet":"claude-sonnet-4-6","opus":"claude-opus-4-6"}', '(?<=.)(?:-(?:\d{8}|\d{4}-\d{2}-\d{2}|\d{3}|latest|preview)(?:-[^@:]*)?)?(?:@[^@]*|:\d+)?$',
      t.task_type, t.priority, t.project_id, t.estimated_complexity,
      CASE WHEN t.estimate_source <> 'default' THEN t.estimated_tokens END,
      t.agent IS NOT NULL)))) THEN 'provider_limited' WHEN NOT (((SELECT jsonb_object_agg(l.scope, l.available) FROM (
    SELECT b.scope_id::text AS scope, b.available FROM usage_budgets b
    WHERE b.workspace_id = $1 AND (b.period_start <= now() AND b.covers_until > now()) AND b.task_id IS NULL
    UNION ALL
    SELECT 'task', 0 WHERE EXISTS (SELECT FROM usage_budgets b
      WHERE b.workspace_id = $1 AND (b.period_start <= now() AND b.covers_until > now()) AND b.task_id IS NOT NULL)) l) IS NULL OR (
    greatest(t.estimated_tokens, 1) <= least(9223372036854775807, ((SELECT jsonb_object_agg(l.scope, l.available) FROM (
    SELECT b.scope_id::text AS scope, b.available FROM usage_budgets b
    WHERE b.workspace_id = $1 AND (b.period_start <= now() AND b.covers_until > now()) AND b.task_id IS NULL
    UNION ALL
    SELECT 'task', 0 WHERE EXISTS (SELECT FROM usage_budgets b
      WHERE b.workspace_id = $1 AND (b.period_start <= now() AND b.covers_until > now()) AND b.task_id IS NOT NULL)) l) ->> t.workspace_id::text)::bigint,
      ((SELECT jsonb_object_agg(l.scope, l.available) FROM (
    SELECT b.scope_id::text AS scope, b.available FROM usage_budgets b
    WHERE b.workspace_id = $1 AND (b.period_start <= now() AND b.covers_until > now()) AND b.task_id IS NULL
    UNION ALL
    SELECT 'task', 0 WHERE EXISTS (SELECT FROM usage_budgets b
      WHERE b.workspace_id = $1 AND (b.period_start <= now() AND b.covers_until > now()) AND b.task_id IS NOT NULL)) l) ->> t.project_id::text)::bigint,
      ((SELECT jsonb_object_agg(l.scope, l.available) FROM (
    SELECT b.scope_id::text AS scope, b.available FROM usage_budgets b
    WHERE b.workspace_id = $1 AND (b.period_start <= now() AND b.covers_until > now()) AND b.task_id IS NULL
    UNION ALL
    SELECT 'task', 0 WHERE EXISTS (SELECT FROM usage_budgets b
      WHERE b.workspace_id = $1 AND (b.period_start <= now() AND b.covers_until > now()) AND b.task_id IS NOT NULL)) l) ->> t.milestone_id::text)::bigint)
    AND (NOT (SELECT jsonb_object_agg(l.scope, l.available) FROM (
    SELECT b.scope_id::text AS scope, b.available FROM usage_budgets b
    WHERE b.workspace_id = $1 AND (b.period_start <= now() AND b.covers_until > now()) AND b.task_id IS NULL
    UNION ALL
    SELECT 'task', 0 WHERE EXISTS (SELECT FROM usage_budgets b
      WHERE b.workspace_id = $1 AND (b.period_start <= now() AND b.covers_until > now()) AND b.task_id IS NOT NULL)) l) ? 'task' OR NOT EXISTS (SELECT FROM usage_budgets b
      WHERE b.workspace_id = t.workspace_id AND b.scope_id = t.id AND (b.period_start <= now() AND b.covers_until > now())
        AND b.available < greatest(t.estimated_tokens, 1)))))) THEN 'budget' END IS NOT NULL
  LIMIT 1) head
WHERE a.workspace_id = $1 AND a.id = $2
LIMIT 1

-- last_gateway_heartbeat
SELECT max(last_seen_at) AS at, coalesce(bool_or(recent), false) AS heard,
  (count(*) FILTER (WHERE draining AND recent))::int AS draining
FROM gateways, LATERAL (SELECT last_seen_at > now() - make_interval(secs => $1::float8)) AS r (recent)

-- lock_lost_sessions
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
  (t.status = 'PAUSED' AND t.paused_for = 'question') AS waits_for_answer, (t.status = 'PAUSED' AND t.paused_for = 'review') AS waits_for_review, s.gateway_boot_id IS DISTINCT FROM $2::uuid AS of_earlier_life
FROM session_spawns s
JOIN task_runs r ON r.workspace_id = s.workspace_id AND r.id = s.run_id AND r.ended_at IS NULL
JOIN agent_tasks t ON t.workspace_id = r.workspace_id AND t.id = r.task_id AND t.run_id = r.id
WHERE s.state = 'SPAWNED' AND s.gateway_id = $1 AND s.run_id <> ALL ($3::uuid[])
  AND (s.gateway_boot_id IS DISTINCT FROM $2::uuid OR s.gateway_sequence < $4::bigint)
  AND EXISTS (SELECT FROM gateways g WHERE g.id = $1 AND g.boot_id = $2::uuid)
ORDER BY t.workspace_id, t.id
LIMIT $5
FOR NO KEY UPDATE OF t SKIP LOCKED

-- lock_push_agents
WITH push AS MATERIALIZED (
  SELECT a.workspace_id, a.id, a.live_runs, capabilities, dedicated_to, task_types,
    a.live_runs < a.max_concurrent_tasks AND (a.lifecycle <> 'TERMINATED' AND NOT (a.lifecycle = 'DRAINING' OR a.lifecycle = 'ERROR' OR (a.mode = 'push' AND NOT a.coordinator_enabled) OR (a.mode = 'push' AND a.command = '{}') OR (a.mode = 'push' AND coalesce(a.resting_until > now(), false)) OR (CASE WHEN a.model IS NOT NULL
    THEN provider_limit_end_of_agent(a.workspace_id, a.id, a.model) END) IS NOT NULL)) AS free,
    (sum(a.live_runs) OVER (PARTITION BY a.workspace_id))::int AS workspace_runs
  FROM agents a WHERE a.mode = 'push' AND a.lifecycle <> 'TERMINATED'
),
kind AS MATERIALIZED (
  SELECT DISTINCT workspace_id, capabilities, dedicated_to, task_types FROM push WHERE free
),
filled AS MATERIALIZED (
  SELECT q.* FROM (
    SELECT c.workspace_id, c.key, c.capabilities
    FROM (SELECT DISTINCT workspace_id FROM kind) d
    JOIN capability_sets c ON c.workspace_id = d.workspace_id
    WHERE EXISTS (SELECT FROM kind k WHERE k.workspace_id = c.workspace_id
      AND (c.capabilities <@ k.capabilities AND c.capabilities @> k.dedicated_to)) OFFSET 0) q
  WHERE EXISTS (SELECT FROM agent_tasks t WHERE t.workspace_id = q.workspace_id
    AND t.capability_key = q.key AND (t.status = 'PENDING' AND (t.queue_expires_at IS NULL OR t.queue_expires_at > now()) AND t.unmet_dependencies = 0))
),
waiting AS MATERIALIZED (
  SELECT c.*, w.paused, w.budgets
  FROM (SELECT d.workspace_id, ARRAY(SELECT p.task_type::text FROM pauses p WHERE p.workspace_id = d.workspace_id
    AND p.task_type IS NOT NULL AND p.ended_at IS NULL AND (p.until IS NULL OR p.until > now())) AS paused, (SELECT jsonb_object_agg(l.scope, l.available) FROM (
    SELECT b.scope_id::text AS scope, b.available FROM usage_budgets b
    WHERE b.workspace_id = d.workspace_id AND (b.period_start <= now() AND b.covers_until > now()) AND b.task_id IS NULL
    UNION ALL
    SELECT 'task', 0 WHERE EXISTS (SELECT FROM usage_budgets b
      WHERE b.workspace_id = d.workspace_id AND (b.period_start <= now() AND b.covers_until > now()) AND b.task_id IS NOT NULL)) l) AS budgets
    FROM (SELECT DISTINCT workspace_id FROM filled) d
    WHERE (EXISTS (SELECT FROM workspaces used WHERE used.id = d.workspace_id
    AND used.archived_at IS NULL) AND NOT (EXISTS (SELECT FROM installation_pauses p
      WHERE p.ended_at IS NULL AND (p.until IS NULL OR p.until > now()))
    OR EXISTS (SELECT FROM pauses p WHERE p.workspace_id = d.workspace_id AND p.task_type IS NULL
      AND p.ended_at IS NULL AND (p.until IS NULL OR p.until > now()))) AND NOT EXISTS (SELECT FROM workspace_throttles h
      WHERE h.workspace_id = d.workspace_id AND h.scope_id = d.workspace_id
        AND h.max_runs <= (SELECT coalesce(sum(a.live_runs), 0) FROM agents a WHERE a.workspace_id = d.workspace_id)) AND NOT EXISTS (SELECT FROM usage_budgets b
    WHERE b.workspace_id = d.workspace_id AND b.scope_id = d.workspace_id
    AND (b.period_start <= now() AND b.covers_until > now()) AND b.available <= 0)) OFFSET 0) w
  JOIN filled c ON c.workspace_id = w.workspace_id
  WHERE EXISTS (SELECT FROM agent_tasks t WHERE t.workspace_id = c.workspace_id AND t.capability_key = c.key
    AND (t.status = 'PENDING'
      AND (t.queue_expires_at IS NULL OR t.queue_expires_at > now())
      AND (t.task_type || '') <> ALL (w.paused)
      AND coalesce(t.project_id, t.workspace_id) <> ALL (ARRAY(SELECT h.project_id FROM workspace_throttles h
      WHERE h.workspace_id = c.workspace_id AND h.project_id IS NOT NULL
        AND h.max_runs <= (SELECT count(*) FROM task_runs lr
        JOIN agent_tasks lt ON lt.workspace_id = lr.workspace_id AND lt.id = lr.task_id
        WHERE lr.workspace_id = c.workspace_id AND lr.state IN ('ASSIGNED', 'WORKING', 'STALE')
          AND lt.project_id = h.project_id)))
      AND (NOT EXISTS (SELECT FROM provider_limits l
    WHERE l.workspace_id = c.workspace_id AND l.over_at > now()) OR NOT EXISTS (SELECT FROM limits_of_task(t.workspace_id, t.id, '[{"minPriority":9,"tier":"opus"},{"minComplexity":9,"tier":"opus"},{"taskType":"boilerplate","tier":"haiku"},{"maxEstimatedTokens":"9999","tier":"haiku"},{"tier":"sonnet"}]', '{"haiku":"claude-haiku-4-5","sonnet":"claude-sonnet-4-6","opus":"claude-opus-4-6"}', '(?<=.)(?:-(?:\d{8}|\d{4}-\d{2}-\d{2}|\d{3}|latest|preview)(?:-[^@:]*)?)?(?:@[^@]*|:\d+)?$',
      t.task_type, t.priority, t.project_id, t.estimated_complexity,
      CASE WHEN t.estimate_source <> 'default' THEN t.estimated_tokens END,
      t.agent IS NOT NULL)))
      AND t.unmet_dependencies = 0
      AND (w.budgets IS NULL OR (
    greatest(t.estimated_tokens, 1) <= least(9223372036854775807, (w.budgets ->> t.workspace_id::text)::bigint,
      (w.budgets ->> t.project_id::text)::bigint,
      (w.budgets ->> t.milestone_id::text)::bigint)
    AND (NOT w.budgets ? 'task' OR NOT EXISTS (SELECT FROM usage_budgets b
      WHERE b.workspace_id = t.workspace_id AND b.scope_id = t.id AND (b.period_start <= now() AND b.covers_until > now())
        AND b.available < greatest(t.estimated_tokens, 1)))))))
),
able AS MATERIALIZED (
  SELECT k.*
  FROM kind k
  WHERE EXISTS (SELECT FROM waiting q WHERE q.workspace_id = k.workspace_id
    AND (q.capabilities <@ k.capabilities AND q.capabilities @> k.dedicated_to)
    AND (k.task_types = '{}' OR EXISTS (
      SELECT FROM agent_tasks t WHERE t.workspace_id = q.workspace_id AND t.capability_key = q.key
    AND (t.status = 'PENDING'
      AND (t.queue_expires_at IS NULL OR t.queue_expires_at > now())
      AND (t.task_type || '') <> ALL (q.paused)
      AND coalesce(t.project_id, t.workspace_id) <> ALL (ARRAY(SELECT h.project_id FROM workspace_throttles h
      WHERE h.workspace_id = q.workspace_id AND h.project_id IS NOT NULL
        AND h.max_runs <= (SELECT count(*) FROM task_runs lr
        JOIN agent_tasks lt ON lt.workspace_id = lr.workspace_id AND lt.id = lr.task_id
        WHERE lr.workspace_id = q.workspace_id AND lr.state IN ('ASSIGNED', 'WORKING', 'STALE')
          AND lt.project_id = h.project_id)))
      AND (NOT EXISTS (SELECT FROM provider_limits l
    WHERE l.workspace_id = q.workspace_id AND l.over_at > now()) OR NOT EXISTS (SELECT FROM limits_of_task(t.workspace_id, t.id, '[{"minPriority":9,"tier":"opus"},{"minComplexity":9,"tier":"opus"},{"taskType":"boilerplate","tier":"haiku"},{"maxEstimatedTokens":"9999","tier":"haiku"},{"tier":"sonnet"}]', '{"haiku":"claude-haiku-4-5","sonnet":"claude-sonnet-4-6","opus":"claude-opus-4-6"}', '(?<=.)(?:-(?:\d{8}|\d{4}-\d{2}-\d{2}|\d{3}|latest|preview)(?:-[^@:]*)?)?(?:@[^@]*|:\d+)?$',
      t.task_type, t.priority, t.project_id, t.estimated_complexity,
      CASE WHEN t.estimate_source <> 'default' THEN t.estimated_tokens END,
      t.agent IS NOT NULL)))
      AND t.unmet_dependencies = 0
      AND (q.budgets IS NULL OR (
    greatest(t.estimated_tokens, 1) <= least(9223372036854775807, (q.budgets ->> t.workspace_id::text)::bigint,
      (q.budgets ->> t.project_id::text)::bigint,
      (q.budgets ->> t.milestone_id::text)::bigint)
    AND (NOT q.budgets ? 'task' OR NOT EXISTS (SELECT FROM usage_budgets b
      WHERE b.workspace_id = t.workspace_id AND b.scope_id = t.id AND (b.period_start <= now() AND b.covers_until > now())
        AND b.available < greatest(t.estimated_tokens, 1)))))) AND t.task_type = ANY(k.task_types))))
),
picked AS MATERIALIZED (
  SELECT p.workspace_id, p.id, p.workspace_runs
  FROM (SELECT p.*, row_number() OVER (PARTITION BY workspace_id ORDER BY live_runs, id) AS turn
    FROM push p JOIN able USING (workspace_id, capabilities, dedicated_to, task_types) WHERE free) p
  ORDER BY p.turn, p.workspace_runs
  LIMIT $1
)
SELECT a.workspace_id, a.id, a.capabilities, a.dedicated_to, a.task_types, a.live_runs,
  a.max_concurrent_tasks, p.workspace_runs
FROM picked p JOIN agents a ON a.workspace_id = p.workspace_id AND a.id = p.id
WHERE a.live_runs < a.max_concurrent_tasks AND (a.lifecycle <> 'TERMINATED' AND NOT (a.lifecycle = 'DRAINING' OR a.lifecycle = 'ERROR' OR (a.mode = 'push' AND NOT a.coordinator_enabled) OR (a.mode = 'push' AND a.command = '{}') OR (a.mode = 'push' AND coalesce(a.resting_until > now(), false)) OR (CASE WHEN a.model IS NOT NULL
    THEN provider_limit_end_of_agent(a.workspace_id, a.id, a.model) END) IS NOT NULL))
ORDER BY a.id
FOR NO KEY UPDATE OF a SKIP LOCKED

-- lock_ready_tasks
WITH queue AS MATERIALIZED (
  SELECT c.workspace_id, c.key, s.task_types, sum(s.want)::int AS want,
    ARRAY(SELECT p.task_type::text FROM pauses p WHERE p.workspace_id = c.workspace_id
    AND p.task_type IS NOT NULL AND p.ended_at IS NULL AND (p.until IS NULL OR p.until > now())) AS paused,
    (SELECT jsonb_object_agg(l.scope, l.available) FROM (
    SELECT b.scope_id::text AS scope, b.available FROM usage_budgets b
    WHERE b.workspace_id = c.workspace_id AND (b.period_start <= now() AND b.covers_until > now()) AND b.task_id IS NULL
    UNION ALL
    SELECT 'task', 0 WHERE EXISTS (SELECT FROM usage_budgets b
      WHERE b.workspace_id = c.workspace_id AND (b.period_start <= now() AND b.covers_until > now()) AND b.task_id IS NOT NULL)) l) AS budgets
  FROM jsonb_to_recordset($1::jsonb) AS s (workspace_id uuid,
    capabilities text[], dedicated_to text[], task_types text[], want int)
  JOIN capability_sets c ON c.workspace_id = s.workspace_id AND (c.capabilities <@ s.capabilities AND c.capabilities @> s.dedicated_to)
  GROUP BY c.workspace_id, c.key, s.task_types
)
-- Agents of all types and agents of one type can find the same task.
SELECT DISTINCT head.workspace_id, head.id, head.task_type, head.required_capabilities,
  head.queue_rank
FROM queue q CROSS JOIN LATERAL (
  SELECT t.workspace_id, t.id, t.task_type, t.required_capabilities, t.queue_rank FROM agent_tasks t
  WHERE t.workspace_id = q.workspace_id AND t.capability_key = q.key
    AND (t.status = 'PENDING'
      AND (t.queue_expires_at IS NULL OR t.queue_expires_at > now())
      AND (t.task_type || '') <> ALL (q.paused)
      AND coalesce(t.project_id, t.workspace_id) <> ALL (ARRAY(SELECT h.project_id FROM workspace_throttles h
      WHERE h.workspace_id = q.workspace_id AND h.project_id IS NOT NULL
        AND h.max_runs <= (SELECT count(*) FROM task_runs lr
        JOIN agent_tasks lt ON lt.workspace_id = lr.workspace_id AND lt.id = lr.task_id
        WHERE lr.workspace_id = q.workspace_id AND lr.state IN ('ASSIGNED', 'WORKING', 'STALE')
          AND lt.project_id = h.project_id)))
      AND (NOT EXISTS (SELECT FROM provider_limits l
    WHERE l.workspace_id = q.workspace_id AND l.over_at > now()) OR NOT EXISTS (SELECT FROM limits_of_task(t.workspace_id, t.id, '[{"minPriority":9,"tier":"opus"},{"minComplexity":9,"tier":"opus"},{"taskType":"boilerplate","tier":"haiku"},{"maxEstimatedTokens":"9999","tier":"haiku"},{"tier":"sonnet"}]', '{"haiku":"claude-haiku-4-5","sonnet":"claude-sonnet-4-6","opus":"claude-opus-4-6"}', '(?<=.)(?:-(?:\d{8}|\d{4}-\d{2}-\d{2}|\d{3}|latest|preview)(?:-[^@:]*)?)?(?:@[^@]*|:\d+)?$',
      t.task_type, t.priority, t.project_id, t.estimated_complexity,
      CASE WHEN t.estimate_source <> 'default' THEN t.estimated_tokens END,
      t.agent IS NOT NULL)))
      AND t.unmet_dependencies = 0
      AND (q.budgets IS NULL OR (
    greatest(t.estimated_tokens, 1) <= least(9223372036854775807, (q.budgets ->> t.workspace_id::text)::bigint,
      (q.budgets ->> t.project_id::text)::bigint,
      (q.budgets ->> t.milestone_id::text)::bigint)
    AND (NOT q.budgets ? 'task' OR NOT EXISTS (SELECT FROM usage_budgets b
      WHERE b.workspace_id = t.workspace_id AND b.scope_id = t.id AND (b.period_start <= now() AND b.covers_until > now())
        AND b.available < greatest(t.estimated_tokens, 1))))))
    AND (q.task_types = '{}' OR t.task_type = ANY(q.task_types))
  ORDER BY t.queue_rank
  LIMIT q.want
  FOR NO KEY UPDATE OF t SKIP LOCKED) head

-- lock_runs_of_agent
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
FROM task_runs r JOIN agent_tasks t ON t.workspace_id = r.workspace_id AND t.id = r.task_id
  AND t.run_id = r.id
WHERE r.workspace_id = $1 AND r.agent_id = $2 AND r.state IN ('ASSIGNED', 'WORKING', 'STALE')
ORDER BY t.id
FOR NO KEY UPDATE OF t

-- message_target
SELECT r.task_id, r.agent_id, t.run_id IS NOT DISTINCT FROM r.id AS is_live, t.agent IS NOT NULL AS hears
FROM task_runs r JOIN agent_tasks t ON t.workspace_id = r.workspace_id AND t.id = r.task_id
WHERE r.workspace_id = $1 AND r.id = $2

-- messages_of_run
SELECT m.id, m.run_id, m.sequence AS position, m.type, m.text, m.data, m.deliver, m.question_id, m.sender,
  m.state, m.sent_at, m.closed_at FROM run_messages m
WHERE m.workspace_id = $1 AND m.run_id = $2 AND m.sequence > $3
ORDER BY m.sequence LIMIT $4

-- note_basic_gateway
INSERT INTO gateways (id, boot_id, started_at, capacity, running, queued)
  VALUES ($1, $2, now(), $3, 0, 0)
ON CONFLICT (id) DO UPDATE SET capacity = excluded.capacity, last_seen_at = now()
RETURNING id

-- note_conflicts
UPDATE task_runs r SET conflict_seen_at = now() FROM agent_tasks t
WHERE r.workspace_id = $1 AND r.id = ANY($2::uuid[]) AND r.agent_id = $3
  AND t.workspace_id = $1 AND t.id = r.task_id AND (t.generation > r.generation AND r.conflict_seen_at IS NULL
  AND (r.end_reason IN ('orphaned', 'cancelled', 'budget_exceeded') OR r.state = 'FAILED'
    AND coalesce(r.ended_by, '') <> 'agent'
    AND NOT (coalesce(r.ended_by, '') = 'gateway'
      AND r.end_reason NOT IN ('gateway_restart', 'infrastructure'))))
RETURNING r.id

-- note_conflicts_of_heartbeats
WITH rival AS MATERIALIZED (
  SELECT h.workspace_id, h.agent_id, t.id AS task_id, t.generation
  FROM jsonb_to_recordset($1::jsonb) AS m (workspace_id uuid, id uuid)
  JOIN agent_heartbeats h ON h.workspace_id = m.workspace_id AND h.agent_id = m.id
  JOIN agents a ON a.workspace_id = h.workspace_id AND a.id = h.agent_id
  JOIN agent_tasks t ON t.workspace_id = h.workspace_id AND t.id = h.current_task_id
  WHERE (t.run_id IS NOT NULL AND t.agent_id IS DISTINCT FROM h.agent_id) AND h.last_seen_at > t.assigned_at + make_interval(secs => 2 * a.heartbeat_interval_seconds)
),
latest AS MATERIALIZED (
  SELECT DISTINCT ON (r.workspace_id, r.task_id, r.agent_id) r.workspace_id, r.id
  FROM rival v JOIN task_runs r ON r.workspace_id = v.workspace_id AND r.task_id = v.task_id
    AND r.agent_id = v.agent_id AND r.generation < v.generation
  ORDER BY r.workspace_id, r.task_id, r.agent_id, r.generation DESC
)
UPDATE task_runs r SET conflict_seen_at = now()
FROM latest l, agent_tasks t
WHERE r.workspace_id = l.workspace_id AND r.id = l.id
  AND t.workspace_id = r.workspace_id AND t.id = r.task_id AND (t.generation > r.generation AND r.conflict_seen_at IS NULL
  AND (r.end_reason IN ('orphaned', 'cancelled', 'budget_exceeded') OR r.state = 'FAILED'
    AND coalesce(r.ended_by, '') <> 'agent'
    AND NOT (coalesce(r.ended_by, '') = 'gateway'
      AND r.end_reason NOT IN ('gateway_restart', 'infrastructure'))))
RETURNING r.id

-- note_conflicts_of_sessions
UPDATE task_runs r SET conflict_seen_at = now()
FROM session_spawns s, agent_tasks t
WHERE s.run_id = ANY($1::uuid[]) AND r.workspace_id = s.workspace_id AND r.id = s.run_id
  AND t.workspace_id = r.workspace_id AND t.id = r.task_id AND (t.generation > r.generation AND r.conflict_seen_at IS NULL
  AND (r.end_reason IN ('orphaned', 'cancelled', 'budget_exceeded') OR r.state = 'FAILED'
    AND coalesce(r.ended_by, '') <> 'agent'
    AND NOT (coalesce(r.ended_by, '') = 'gateway'
      AND r.end_reason NOT IN ('gateway_restart', 'infrastructure'))))
RETURNING r.id

-- note_models
UPDATE task_runs r SET model = c.model
FROM unnest($2::uuid[], $3::text[]) AS c (run_id, model)
WHERE r.workspace_id = $1 AND r.id = c.run_id

-- note_session
WITH held AS MATERIALIZED (
  SELECT t.id FROM agent_tasks t
  WHERE t.workspace_id = $1 AND t.run_id = $2 AND EXISTS (SELECT FROM workspaces used WHERE used.id = $1
    AND used.archived_at IS NULL)
    AND t.id = (SELECT r.task_id FROM task_runs r WHERE r.workspace_id = $1 AND r.id = $2
      AND r.agent_id = $3)
  FOR NO KEY UPDATE
),
of_task AS (
  UPDATE agent_tasks t SET session_key = $4 FROM held
  WHERE t.workspace_id = $1 AND t.id = held.id AND t.session_key IS NULL AND $4::text IS NOT NULL
)
UPDATE task_runs r SET session_key = coalesce(r.session_key, $4), branch = coalesce(r.branch, $5)
FROM held
WHERE r.workspace_id = $1 AND r.id = $2
  AND (r.session_key IS NULL AND $4::text IS NOT NULL OR r.branch IS NULL AND $5::text IS NOT NULL)
RETURNING r.id

-- only_run_of_agent
SELECT (SELECT CASE WHEN count(*) = 1 THEN (array_agg(r.id))[1] END FROM task_runs r
  WHERE r.workspace_id = $1 AND r.task_id = t.id AND r.agent_id = $3) AS id
FROM agent_tasks t WHERE t.workspace_id = $1 AND t.id = $2

-- postpone_spawn
UPDATE session_spawns SET next_attempt_at = now() + make_interval(secs => $3::float8),
  last_error = coalesce($4, last_error), locked_until = NULL,
  attempts = CASE WHEN $5::boolean THEN attempts ELSE attempts - 1 END
WHERE workspace_id = $1 AND run_id = $2 AND state = 'PENDING'
RETURNING run_id

-- record_gateway_heartbeat
WITH heartbeat AS (
  INSERT INTO gateways AS g (id, boot_id, started_at, version, capacity, running, queued, draining,
    last_sequence, others)
  VALUES ($1, $2, $3, $4, $5, $6::int, $7::int, $8, $9, greatest($6::int + $7::int - $11::int, 0))
  ON CONFLICT (id) DO UPDATE SET boot_id = excluded.boot_id, started_at = excluded.started_at,
    version = excluded.version, capacity = excluded.capacity, running = excluded.running,
    queued = excluded.queued, draining = excluded.draining, last_seen_at = now(),
    last_sequence = excluded.last_sequence, others = excluded.others,
    restarts = g.restarts + (g.boot_id <> excluded.boot_id)::int
  WHERE CASE WHEN g.boot_id = excluded.boot_id THEN excluded.last_sequence > g.last_sequence
    ELSE excluded.started_at > g.started_at
      OR g.last_seen_at < now() - make_interval(secs => $10::float8) END
  RETURNING old.boot_id IS DISTINCT FROM new.boot_id AS begins,
    coalesce(old.boot_id <> new.boot_id, false) AS restarted
)
SELECT b.begins IS NOT NULL AS newest, coalesce(b.begins, false) AS begins,
  coalesce(b.restarted, false) AS restarted, now() AS now
FROM (VALUES (1)) one LEFT JOIN heartbeat b ON true

-- renew_lease
WITH held AS MATERIALIZED (
  SELECT t.id FROM agent_tasks t
  WHERE t.workspace_id = $1 AND t.run_id = $2 AND EXISTS (SELECT FROM workspaces used WHERE used.id = $1
    AND used.archived_at IS NULL)
    AND t.id = (SELECT r.task_id FROM task_runs r WHERE r.workspace_id = $1 AND r.id = $2
      AND r.agent_id = $3)
  FOR NO KEY UPDATE
)
UPDATE task_runs r SET
  lease_seconds = coalesce($4::int, r.lease_seconds),
  lease_expires_at = now() + make_interval(secs => coalesce($4::int, r.lease_seconds)),
  renewals = r.renewals + 1,
  last_report_at = now()
FROM held
WHERE r.workspace_id = $1 AND r.id = $2 AND r.renewals < $5::int
RETURNING r.lease_expires_at, r.renewals

-- renew_session_leases
WITH heard AS MATERIALIZED (
  SELECT * FROM jsonb_to_recordset($1::jsonb)
    AS b (workspace_id uuid, agent_id uuid, run_id uuid, task_id uuid)
),
meant AS MATERIALIZED (
  SELECT b.workspace_id, b.run_id, b.agent_id FROM heard b WHERE b.run_id IS NOT NULL
  UNION
  SELECT b.workspace_id, only_one.id, b.agent_id FROM heard b
  CROSS JOIN LATERAL (SELECT (array_agg(o.id))[1] AS id FROM task_runs o
    WHERE o.workspace_id = b.workspace_id AND o.task_id = b.task_id AND o.agent_id = b.agent_id
    HAVING count(*) = 1) only_one
  WHERE b.run_id IS NULL
),
held AS MATERIALIZED (
  SELECT r.workspace_id, r.id, r.task_id FROM meant m
  JOIN task_runs r ON r.workspace_id = m.workspace_id AND r.id = m.run_id
    AND r.agent_id = m.agent_id
  WHERE r.state IN ('ASSIGNED', 'WORKING', 'STALE') AND (NOT r.lease_by_heartbeat AND EXISTS (SELECT FROM session_spawns ss
    WHERE ss.workspace_id = r.workspace_id AND ss.run_id = r.id))
  ORDER BY r.workspace_id, r.id
  FOR NO KEY UPDATE OF r SKIP LOCKED
)
UPDATE task_runs r SET lease_expires_at = now() + make_interval(secs => r.lease_seconds),
  last_report_at = now(),
  deadline_at = coalesce(r.deadline_at, now() + make_interval(secs => t.timeout_seconds))
FROM held JOIN agent_tasks t ON t.workspace_id = held.workspace_id AND t.id = held.task_id
WHERE r.workspace_id = held.workspace_id AND r.id = held.id
RETURNING r.id AS run_id

-- report_progress
WITH run AS MATERIALIZED (
  SELECT r.id, r.task_id, r.agent_id FROM task_runs r
  WHERE r.workspace_id = $1 AND r.id = $2 AND r.agent_id = $3 AND EXISTS (SELECT FROM workspaces used WHERE used.id = $1
    AND used.archived_at IS NULL)
),
reported AS (
  UPDATE agent_tasks t SET
    progress_percent = coalesce($6::int, t.progress_percent),
    current_step = coalesce($7::text, t.current_step),
    checkpoint_data = coalesce($8::jsonb, t.checkpoint_data),
    estimated_completion_at = coalesce($9::timestamptz, t.estimated_completion_at),
    updated_at = now()
  FROM run
  WHERE t.workspace_id = $1 AND t.id = run.task_id AND t.run_id = run.id
    AND (t.status <> 'ASSIGNED' OR NOT $10::boolean)
  RETURNING t.id, t.status, t.progress_percent, t.current_step, t.session_key
),
heard AS (
  UPDATE task_runs r SET last_report_at = now(), last_progress_at = now(), hung_warned_at = NULL
    FROM reported
  WHERE r.workspace_id = $1 AND r.id = $2
),
journaled AS (
  INSERT INTO journal (workspace_id, event, log_event, task_id, run_id, agent_id, level, message, details, actor_kind, actor_id, session_key)
  SELECT $1, 'task.progress', CASE WHEN $8::jsonb IS NULL THEN 'progress_update' ELSE 'checkpoint' END, p.id, $2, $3, 'DEBUG', p.current_step, jsonb_build_object('progressPercent', p.progress_percent), $4, $5, p.session_key
  FROM reported p
)
SELECT id AS task_id, progress_percent, status FROM reported

-- routed_model_of_run
SELECT r.model
FROM task_runs r JOIN agent_tasks t ON t.workspace_id = r.workspace_id AND t.id = r.task_id
WHERE r.workspace_id = $1 AND r.id = $2 AND r.model IS NOT NULL AND t.agent ->> 'model' IS NULL

-- run_of_task
SELECT r.id FROM task_runs r WHERE r.workspace_id = $1 AND r.id = $2 AND r.task_id = $3

-- run_signals
WITH held AS MATERIALIZED (
  SELECT unnest($3::uuid[]) AS run_id
  UNION SELECT r.id FROM task_runs r
  WHERE $4::boolean AND r.workspace_id = $1 AND r.agent_id = $2 AND r.state IN ('ASSIGNED', 'WORKING', 'STALE')
  UNION SELECT r.id FROM task_runs r
  WHERE $4::boolean AND r.workspace_id = $1 AND r.agent_id = $2 AND r.ended_by <> 'agent'
    AND r.ended_at > now() - interval '60 seconds'
)
SELECT a.lifecycle, held.run_id,
  CASE WHEN held.run_id IS NULL THEN NULL
       WHEN t.run_id IS DISTINCT FROM held.run_id OR r.agent_id IS DISTINCT FROM a.id THEN 'stop'
       WHEN (r.deadline_at <= now() AND r.state IN ('ASSIGNED', 'WORKING', 'STALE')) THEN 'stop'
       WHEN t.status = 'PAUSED' AND r.pause_requested_at IS NOT NULL THEN 'pause'
       WHEN t.status = 'RUNNING'
         AND (r.hung_warned_at IS NOT NULL OR EXISTS (SELECT FROM usage_budgets b
    WHERE b.workspace_id = t.workspace_id AND b.reached_percent >= 90
      AND b.consumed * 10.0 > b.allocated * 9.0 AND (b.period_start <= now() AND b.covers_until > now())
      AND b.scope_id = ANY (ARRAY[t.workspace_id, t.project_id, t.milestone_id, t.id]))) THEN 'warn' END AS action,
  CASE WHEN t.run_id IS DISTINCT FROM held.run_id THEN coalesce(r.end_reason, 'unknown_run')
       WHEN (r.deadline_at <= now() AND r.state IN ('ASSIGNED', 'WORKING', 'STALE')) THEN 'timeout'
       WHEN t.status = 'PAUSED' THEN coalesce(t.pause_reason, 'paused')
       WHEN r.hung_warned_at IS NOT NULL THEN 'hung'
       ELSE 'budget' END AS reason,
  coalesce(r.pause_after_turn, false) AS after_turn,
  coalesce((t.generation > r.generation AND r.conflict_seen_at IS NULL
  AND (r.end_reason IN ('orphaned', 'cancelled', 'budget_exceeded') OR r.state = 'FAILED'
    AND coalesce(r.ended_by, '') <> 'agent'
    AND NOT (coalesce(r.ended_by, '') = 'gateway'
      AND r.end_reason NOT IN ('gateway_restart', 'infrastructure')))), false) AS in_conflict,
  (extract(epoch FROM r.deadline_at - now()) * 1000)::float8 AS time_left_ms
FROM agents a
LEFT JOIN held ON true
LEFT JOIN task_runs r ON r.workspace_id = $1 AND r.id = held.run_id AND r.agent_id = a.id
LEFT JOIN agent_tasks t ON t.workspace_id = $1 AND t.id = r.task_id
WHERE a.workspace_id = $1 AND a.id = $2

-- run_situation
WITH noted AS (
  UPDATE task_runs r SET conflict_seen_at = now() FROM agent_tasks t
  WHERE r.workspace_id = $1 AND r.id = $2 AND r.agent_id = $3
    AND t.workspace_id = $1 AND t.id = r.task_id AND (t.generation > r.generation AND r.conflict_seen_at IS NULL
  AND (r.end_reason IN ('orphaned', 'cancelled', 'budget_exceeded') OR r.state = 'FAILED'
    AND coalesce(r.ended_by, '') <> 'agent'
    AND NOT (coalesce(r.ended_by, '') = 'gateway'
      AND r.end_reason NOT IN ('gateway_restart', 'infrastructure'))))
)
SELECT r.task_id, r.state AS run_state,
  coalesce(r.end_reason, CASE WHEN NOT EXISTS (SELECT FROM workspaces used WHERE used.id = $1
    AND used.archived_at IS NULL) THEN 'workspace_archived'
    WHEN (r.deadline_at <= now() - interval '60 seconds' AND r.state IN ('ASSIGNED', 'WORKING', 'STALE')) THEN 'timeout' END) AS end_reason,
  coalesce(r.end_reason = 'timeout' AND r.ended_at >= r.deadline_at, false) AS ended_past_deadline,
    t.status AS task_status, t.version AS task_version,
  t.run_id IS NOT DISTINCT FROM r.id AND EXISTS (SELECT FROM workspaces used WHERE used.id = $1
    AND used.archived_at IS NULL)
    AND (r.deadline_at <= now() - interval '60 seconds' AND r.state IN ('ASSIGNED', 'WORKING', 'STALE')) IS NOT TRUE AS is_live,
  t.repository_id IS NOT NULL AS has_change,
  t.acceptance_script IS NOT NULL AS has_acceptance
FROM task_runs r JOIN agent_tasks t ON t.workspace_id = r.workspace_id AND t.id = r.task_id
WHERE r.workspace_id = $1 AND r.id = $2 AND r.agent_id = $3

-- served_workspaces
SELECT DISTINCT a.workspace_id FROM agents a
WHERE a.mode = 'push' AND a.lifecycle <> 'TERMINATED' AND a.command <> '{}'

-- session_places
SELECT run_id, workspace_id, agent_id, gateway_id FROM session_spawns
WHERE run_id = ANY($1::uuid[])

-- settle_spawn
UPDATE session_spawns SET state = $3, last_error = coalesce($4, last_error), gateway_id = $5,
  gateway_boot_id = $6, session_key = $7, gateway_sequence = $8, settled_at = now(), locked_until = NULL
WHERE workspace_id = $1 AND run_id = $2 AND state = 'PENDING'
RETURNING run_id

-- spawn_room
SELECT count(g.id)::int AS gateways, (coalesce(sum(g.capacity - g.others), 0) - (
    SELECT coalesce(sum(a.live_runs), 0) FROM agents a WHERE a.mode = 'push'))::int AS room
FROM gateways g
WHERE g.last_seen_at > now() - make_interval(secs => $1::float8) AND NOT g.draining

-- start_run
WITH held AS MATERIALIZED (
  SELECT t.id AS task_id, r.id AS run_id
  FROM task_runs r JOIN agent_tasks t ON t.workspace_id = r.workspace_id AND t.id = r.task_id
  WHERE r.workspace_id = $1 AND r.id = $2 AND r.agent_id = $3 AND t.run_id = r.id
    AND CASE WHEN t.status = 'ASSIGNED' THEN true END AND CASE WHEN r.state IN ('ASSIGNED', 'STALE') THEN true END
      AND EXISTS (SELECT FROM workspaces used WHERE used.id = $1
    AND used.archived_at IS NULL)
  FOR NO KEY UPDATE OF t
),
task_moved AS (
  UPDATE agent_tasks t SET
    status = 'RUNNING', version = t.version + 1, updated_at = now(),
    session_key = coalesce(($6)::text, t.session_key),
    started_at = CASE t.status WHEN 'ASSIGNED' THEN now() ELSE coalesce(t.started_at, now()) END,
    estimated_completion_at = CASE t.status
      WHEN 'ASSIGNED' THEN coalesce(now() + make_interval(mins => t.estimated_duration_minutes), t.estimated_completion_at)
      ELSE t.estimated_completion_at + (now() - t.paused_at) END,
    paused_at = NULL,
    paused_by = NULL,
    paused_for = NULL,
    paused_for_id = NULL,
    pause_reason = NULL
  FROM held m
  WHERE t.workspace_id = $1 AND t.id = m.task_id AND CASE WHEN t.status IN ('ASSIGNED', 'PAUSED') THEN true END
  RETURNING t.workspace_id, t.id, t.version, old.status AS previous_status, t.status, t.generation,
    coalesce(t.run_id, old.run_id) AS run_id, coalesce(t.agent_id, old.agent_id) AS agent_id,
    coalesce(t.session_key, old.session_key) AS session_key, t.retry_at, t.unmet_dependencies,
    t.dependents_unsettled,
    ($4)::text AS actor_kind, ($5)::text AS actor_id, (NULL)::text AS reason, (NULL)::text AS message, (NULL)::text AS level, (NULL)::jsonb AS details, (NULL)::text AS stack_trace
),
run_moved AS (
  UPDATE task_runs r SET state = 'WORKING', version = r.version + 1,
    last_report_at = now(), session_key = coalesce(($6)::text, r.session_key), branch = coalesce(($7)::text, r.branch), started_at = coalesce(r.started_at, now()), deadline_at = coalesce(r.deadline_at, now() + make_interval(secs => (
      SELECT t.timeout_seconds FROM agent_tasks t
      WHERE t.workspace_id = r.workspace_id AND t.id = r.task_id))), stale_at = NULL
  FROM task_moved m
  WHERE r.workspace_id = $1 AND r.id = m.run_id AND CASE WHEN r.state IN ('ASSIGNED', 'STALE') THEN true END
  RETURNING r.workspace_id, r.id, r.task_id, r.agent_id, r.generation, r.version, r.end_reason,
    old.state AS previous_state, r.state, r.ended_at, old.held_tokens AS released_tokens, r.budget_ids, m.version AS task_version, m.previous_status, m.status, m.actor_kind, m.actor_id, m.reason, m.level, m.message, m.details, m.session_key, m.stack_trace, m.retry_at
),
journaled AS (
  INSERT INTO journal (workspace_id, event, task_id, version, previous_status, new_status, run_id, run_version,
    previous_state, new_state, end_reason, generation, agent_id, actor_kind, actor_id, reason, level, message,
    details, session_key, stack_trace, retry_at)
  SELECT r.workspace_id, 'task.status_changed', r.task_id, r.task_version, r.previous_status,
    r.status, r.id,
    r.version, r.previous_state, r.state, r.end_reason, r.generation, r.agent_id, r.actor_kind, r.actor_id, r.reason, r.level, r.message, r.details, r.session_key, r.stack_trace, r.retry_at
      FROM run_moved r
)
SELECT id AS task_id, version FROM task_moved

-- take_due_spawns
WITH due AS MATERIALIZED (
  SELECT s.workspace_id, s.run_id FROM session_spawns s
  WHERE s.state = 'PENDING' AND s.next_attempt_at <= now()
    AND (s.locked_until IS NULL OR s.locked_until <= now())
  ORDER BY s.next_attempt_at
  LIMIT $1
  FOR NO KEY UPDATE SKIP LOCKED
),
taken AS (
  UPDATE session_spawns s SET locked_until = now() + make_interval(secs => $2::float8), attempts = s.attempts + 1
  FROM due d WHERE s.workspace_id = d.workspace_id AND s.run_id = d.run_id
  RETURNING s.workspace_id, s.run_id, s.task_id AS id, s.agent_id, s.attempts,
    old.locked_until IS NOT NULL AS broke_off, extract(epoch FROM now() - s.created_at)::float8 AS age_seconds
)
SELECT n.*, t.run_id IS NOT DISTINCT FROM n.run_id AND t.status IN ('ASSIGNED', 'RUNNING')
  AND EXISTS (SELECT FROM workspaces used WHERE used.id = n.workspace_id
    AND used.archived_at IS NULL) AND r.lease_by_heartbeat = $3::boolean AS is_current,
  r.generation, r.model, t.task_type, t.priority, t.project_id, t.estimated_complexity, t.estimated_tokens, t.estimate_source, t.title, t.description, t.input_context, t.checkpoint_data, t.answers, t.metadata, t.secrets, t.timeout_seconds,
  t.traceparent,
  a.command, a.secrets AS agent_secrets, a.metadata ->> 'network' AS agent_network,
  a.metadata -> 'allowedHosts' AS agent_allowed_hosts, a.metadata -> 'limits' AS agent_limits,
  CASE WHEN (SELECT w.network FROM workspaces w WHERE w.id = n.workspace_id) <> 'none' THEN (
    SELECT jsonb_build_array(jsonb_build_array(w.network, w.allowed_hosts)) ||
      CASE WHEN t.project_id IS NULL THEN '[]' ELSE (
        SELECT jsonb_build_array(jsonb_build_array(p.network, p.allowed_hosts)) FROM projects p
        WHERE p.workspace_id = n.workspace_id AND p.id = t.project_id) END
    FROM workspaces w WHERE w.id = n.workspace_id) END AS network_levels, a.capabilities, a.token_version
FROM taken n
JOIN task_runs r ON r.workspace_id = n.workspace_id AND r.id = n.run_id
JOIN agent_tasks t ON t.workspace_id = n.workspace_id AND t.id = n.id
JOIN agents a ON a.workspace_id = n.workspace_id AND a.id = n.agent_id

-- tasks_of_agent
WITH found AS MATERIALIZED (
  SELECT t.id, CASE WHEN pg_column_compression(t.description) IS NULL THEN coalesce(pg_column_size(t.description), 0)
    ELSE octet_length(t.description::text) END + CASE WHEN pg_column_compression(t.instructions) IS NULL THEN coalesce(pg_column_size(t.instructions), 0)
    ELSE octet_length(t.instructions::text) END + CASE WHEN pg_column_compression(t.agent) IS NULL THEN coalesce(pg_column_size(t.agent), 0)
    ELSE octet_length(t.agent::text) END + CASE WHEN pg_column_compression(t.steps) IS NULL THEN coalesce(pg_column_size(t.steps), 0)
    ELSE octet_length(t.steps::text) END + CASE WHEN pg_column_compression(t.deliverables) IS NULL THEN coalesce(pg_column_size(t.deliverables), 0)
    ELSE octet_length(t.deliverables::text) END + CASE WHEN pg_column_compression(t.acceptance) IS NULL THEN coalesce(pg_column_size(t.acceptance), 0)
    ELSE octet_length(t.acceptance::text) END + CASE WHEN pg_column_compression(t.acceptance_script) IS NULL THEN coalesce(pg_column_size(t.acceptance_script), 0)
    ELSE octet_length(t.acceptance_script::text) END + CASE WHEN pg_column_compression(t.input_context) IS NULL THEN coalesce(pg_column_size(t.input_context), 0)
    ELSE octet_length(t.input_context::text) END + CASE WHEN pg_column_compression(t.metadata) IS NULL THEN coalesce(pg_column_size(t.metadata), 0)
    ELSE octet_length(t.metadata::text) END + CASE WHEN pg_column_compression(t.secrets) IS NULL THEN coalesce(pg_column_size(t.secrets), 0)
    ELSE octet_length(t.secrets::text) END + CASE WHEN pg_column_compression(t.output_result) IS NULL THEN coalesce(pg_column_size(t.output_result), 0)
    ELSE octet_length(t.output_result::text) END + CASE WHEN pg_column_compression(t.checkpoint_data) IS NULL THEN coalesce(pg_column_size(t.checkpoint_data), 0)
    ELSE octet_length(t.checkpoint_data::text) END + CASE WHEN pg_column_compression(t.answers) IS NULL THEN coalesce(pg_column_size(t.answers), 0)
    ELSE octet_length(t.answers::text) END + CASE WHEN pg_column_compression(t.last_error) IS NULL THEN coalesce(pg_column_size(t.last_error), 0)
    ELSE octet_length(t.last_error::text) END + CASE WHEN pg_column_compression(t.summary) IS NULL THEN coalesce(pg_column_size(t.summary), 0)
    ELSE octet_length(t.summary::text) END AS bytes FROM agent_tasks t
  WHERE t.workspace_id = $1 AND t.agent_id = $2
    AND ($3::text[] IS NULL OR t.status = ANY($3))
    AND (NOT $4::boolean OR t.run_id IS NOT NULL)
    AND ($5::uuid IS NULL OR t.id < $5)
  ORDER BY t.id DESC
  LIMIT $6
),
page AS MATERIALIZED (
  SELECT id, count(*) OVER () < (SELECT count(*) FROM found) AS cut
  FROM (SELECT id, sum(bytes) OVER (ORDER BY id DESC) - bytes AS before FROM found) f
  WHERE before < 8388608
)
SELECT id, cut FROM page ORDER BY id DESC

-- tries_at_once
SELECT t.id FROM task_runs r JOIN agent_tasks t ON t.workspace_id = r.workspace_id AND t.id = r.task_id
JOIN model_routing m ON m.workspace_id = r.workspace_id AND m.fallbacks <> '[]'
WHERE r.workspace_id = $1 AND r.id = $2 AND t.agent IS NOT NULL
  AND NOT EXISTS (SELECT FROM limits_of_task(t.workspace_id, t.id, '[{"minPriority":9,"tier":"opus"},{"minComplexity":9,"tier":"opus"},{"taskType":"boilerplate","tier":"haiku"},{"maxEstimatedTokens":"9999","tier":"haiku"},{"tier":"sonnet"}]', '{"haiku":"claude-haiku-4-5","sonnet":"claude-sonnet-4-6","opus":"claude-opus-4-6"}', '(?<=.)(?:-(?:\d{8}|\d{4}-\d{2}-\d{2}|\d{3}|latest|preview)(?:-[^@:]*)?)?(?:@[^@]*|:\d+)?$',
      t.task_type, t.priority, t.project_id, t.estimated_complexity,
      CASE WHEN t.estimate_source <> 'default' THEN t.estimated_tokens END,
      t.agent IS NOT NULL))

-- waiting_messages
SELECT m.id, m.run_id, m.sequence AS position, m.type, m.text, m.data, m.deliver, m.question_id, m.sender,
  m.state, m.sent_at, m.closed_at
FROM unnest($3::uuid[], $4::int[]) AS heard (run_id, position)
JOIN task_runs r ON r.workspace_id = $1 AND r.id = heard.run_id AND r.agent_id = $2
JOIN run_messages m ON m.workspace_id = $1 AND m.run_id = heard.run_id
  AND m.sequence > heard.position AND m.state = 'waiting'
ORDER BY m.run_id, m.sequence
LIMIT $5
