-- The statements as they run. Made by `npm run generate`; change the modules that declare them.

-- attention_counts
SELECT
  (SELECT count(*)::int FROM (SELECT FROM agent_tasks WHERE workspace_id = $1 AND failure_fingerprint IS NOT NULL LIMIT 100) c) AS "failedTasks",
  (SELECT count(*)::int FROM (SELECT FROM capability_sets s CROSS JOIN LATERAL (SELECT FROM agent_tasks t
      WHERE t.workspace_id = $1 AND t.capability_key = s.key AND (t.status = 'PENDING' AND t.unmet_dependencies = 0)
      ORDER BY t.queue_rank LIMIT 100) t
    WHERE s.workspace_id = $1 AND NOT EXISTS (SELECT FROM agents a WHERE a.workspace_id = s.workspace_id AND a.lifecycle <> 'TERMINATED'
    AND (s.capabilities <@ a.capabilities AND s.capabilities @> a.dedicated_to)) LIMIT 100) c)
    AS "unclaimableTasks",
  (SELECT count(*)::int FROM (SELECT FROM questions WHERE workspace_id = $1 AND status = 'open' LIMIT 100) c) AS "openQuestions",
  (SELECT count(*)::int FROM (SELECT FROM changes WHERE workspace_id = $1 AND state = 'IN_REVIEW' LIMIT 100) c) AS "changesInReview",
  (SELECT count(*)::int FROM (SELECT FROM changes WHERE workspace_id = $1 AND (state IN ('PROVING', 'APPROVED')
    AND obstacle IS NOT NULL AND step_attempts > 0
    OR step IS NOT NULL AND (step_due_at = 'infinity'
      OR step_overdue AND step_waits_since IS NOT NULL)) LIMIT 100) c) AS "obstructedChanges",
  (SELECT count(*)::int FROM (SELECT FROM usage_budgets b WHERE workspace_id = $1 AND (b.period_start <= now() AND b.covers_until > now())
    AND reached_percent = 100 LIMIT 100) c) AS "usedUpBudgets",
  (SELECT count(*)::int FROM (SELECT FROM usage_budgets b WHERE workspace_id = $1 AND (b.period_start <= now() AND b.covers_until > now())
    AND reached_percent = 90 LIMIT 100) c) AS "endingBudgets",
  (SELECT count(*)::int FROM (SELECT FROM schedules WHERE workspace_id = $1 AND failed_at IS NOT NULL LIMIT 100) c) AS "failedSchedules",
  (SELECT count(*)::int FROM (SELECT FROM agents WHERE workspace_id = $1 AND lifecycle = 'ERROR' LIMIT 100) c) AS "silentAgents",
  (SELECT count(*)::int FROM (SELECT FROM (SELECT DISTINCT provider FROM provider_limits WHERE workspace_id = $1
    AND over_at > now()) p LIMIT 100) c) AS "refusingProviders",
  (SELECT count(*)::int FROM (SELECT FROM webhooks WHERE workspace_id = $1 AND kind = 'signed'
    AND (disabled_reason = 'gone' OR (disabled_at IS NULL AND failures > 0)) LIMIT 100) c) AS "failingWebhooks",
  (SELECT count(*)::int FROM (SELECT FROM webhooks WHERE workspace_id = $1 AND kind <> 'signed'
    AND (disabled_reason = 'gone' OR (disabled_at IS NULL AND failures > 0)) LIMIT 100) c) AS "failingNotices"

-- capable_agents
WITH capable AS MATERIALIZED (
  SELECT a.id, a.name, a.mode, a.live_runs, a.max_concurrent_tasks, h.last_seen_at, a.resting_until,
    CASE WHEN a.model IS NOT NULL
    THEN provider_limit_end_of_agent(a.workspace_id, a.id, a.model) END AS limited_until, CASE WHEN a.lifecycle = 'DRAINING' THEN 'draining'
      WHEN a.lifecycle = 'ERROR' THEN 'in_error'
      WHEN (a.mode = 'push' AND NOT a.coordinator_enabled) THEN 'disabled'
      WHEN (a.mode = 'push' AND a.command = '{}') THEN 'without_command'
      WHEN (a.mode = 'push' AND coalesce(a.resting_until > now(), false)) THEN 'cooldown'
      WHEN (CASE WHEN a.model IS NOT NULL
    THEN provider_limit_end_of_agent(a.workspace_id, a.id, a.model) END) IS NOT NULL THEN 'provider_limited'
      WHEN a.mode = 'pull' AND a.lifecycle = 'STARTING' AND h.agent_id IS NULL THEN 'unresponsive'
      WHEN coalesce(
    h.last_seen_at < now() - make_interval(secs => a.stale_threshold_seconds)
    AND CASE WHEN h.next_expected_at = 'infinity' THEN a.mode = 'pull' AND a.live_runs = 0
      ELSE (a.mode = 'pull' OR (a.live_runs > 0 AND EXISTS (SELECT FROM task_runs lr
      WHERE lr.workspace_id = a.workspace_id AND lr.agent_id = a.id AND lr.state IN ('ASSIGNED', 'WORKING', 'STALE')
        AND lr.lease_by_heartbeat))) END, false) THEN 'unresponsive'
      WHEN NOT a.live_runs < a.max_concurrent_tasks THEN 'full'
      WHEN a.mode = 'push' THEN 'assignable'
      ELSE 'free' END AS availability
  FROM agents a LEFT JOIN agent_heartbeats h ON h.workspace_id = a.workspace_id
    AND h.agent_id = a.id
  WHERE a.workspace_id = $1 AND a.lifecycle <> 'TERMINATED' AND a.capabilities @> $2::text[]
    AND (a.dedicated_to <@ $2::text[] AND (a.task_types = '{}' OR $3 = ANY(a.task_types)))
)
SELECT availability, count(*)::int AS count, sum(max_concurrent_tasks)::int AS places,
  coalesce(sum(max_concurrent_tasks) FILTER (WHERE mode = 'push'), 0)::int AS "pushPlaces",
  sum(greatest(max_concurrent_tasks - live_runs, 0))::int AS "freePlaces",
  to_jsonb((array_agg(jsonb_build_object('id', id, 'name', name, 'liveRuns', live_runs,
    'maxConcurrentTasks', max_concurrent_tasks, 'lastSeenAt', to_char(last_seen_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'restingUntil', to_char(resting_until AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'limitedUntil', to_char(limited_until AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
    ORDER BY name, id))[1:5]) AS agents
FROM capable GROUP BY availability

-- explain_task
SELECT now() AS now, t.status, t.task_type, coalesce(t.command_kind, t.task_type) AS kind, t.project_id, t.run_id, t.agent_id, t.retry_at,
  t.retry_count, t.max_retries,
  t.abort_reason, t.abort_message, t.failure_reason, t.last_error, t.paused_by, t.paused_for, t.pause_reason, t.paused_at,
  CASE
    WHEN t.paused_by ~ '^user:[0-9a-f-]{36}$' THEN (SELECT u.name FROM users u
      WHERE u.id = substr(t.paused_by, 6)::uuid)
    WHEN t.paused_by ~ '^api_key:[0-9a-f-]{36}$' THEN (SELECT k.name FROM api_keys k
      WHERE k.workspace_id = t.workspace_id AND k.id = substr(t.paused_by, 9)::uuid) END AS paused_by_name,
  t.queue_expires_at, t.required_capabilities, t.queue_rank, t.unmet_dependencies,
  CASE WHEN t.waits_for_start THEN t.start_at END AS awaited_start,
  CASE WHEN t.waits_for_slot THEN t.concurrency_key END AS awaited_key, t.concurrency_limit, t.debounce_key,
  (SELECT jsonb_build_object('taskId', p.id, 'title', p.title, 'status', p.status) FROM agent_tasks p
    WHERE p.workspace_id = t.workspace_id AND p.id = t.replayed_by_id) AS replay,
  array_remove(ARRAY[CASE WHEN NOT (EXISTS (SELECT FROM workspaces used WHERE used.id = $1
    AND used.archived_at IS NULL)) THEN 'workspace_archived' END,
    CASE WHEN NOT ((t.queue_expires_at IS NULL OR t.queue_expires_at > now())) THEN 'queue_expired' END,
    CASE WHEN NOT ((t.task_type || '') <> ALL ((ARRAY(SELECT p.task_type::text FROM pauses p WHERE p.workspace_id = $1
    AND p.task_type IS NOT NULL AND p.ended_at IS NULL AND (p.until IS NULL OR p.until > now())))::text[]) AND NOT (EXISTS (SELECT FROM installation_pauses p
      WHERE p.ended_at IS NULL AND (p.until IS NULL OR p.until > now()))
    OR EXISTS (SELECT FROM pauses p WHERE p.workspace_id = $1 AND p.task_type IS NULL
      AND p.ended_at IS NULL AND (p.until IS NULL OR p.until > now())))) THEN 'held_by_pause' END,
    CASE WHEN NOT (coalesce(t.project_id, t.workspace_id) <> ALL (ARRAY(SELECT h.project_id FROM workspace_throttles h
      WHERE h.workspace_id = $1 AND h.project_id IS NOT NULL
        AND h.max_runs <= (SELECT count(*) FROM task_runs lr
        JOIN agent_tasks lt ON lt.workspace_id = lr.workspace_id AND lt.id = lr.task_id
        WHERE lr.workspace_id = $1 AND lr.state IN ('ASSIGNED', 'WORKING', 'STALE')
          AND lt.project_id = h.project_id))) AND NOT EXISTS (SELECT FROM workspace_throttles h
      WHERE h.workspace_id = $1 AND h.scope_id = $1
        AND h.max_runs <= (SELECT coalesce(sum(a.live_runs), 0) FROM agents a WHERE a.workspace_id = $1))) THEN 'throttled' END,
    CASE WHEN NOT ((NOT EXISTS (SELECT FROM provider_limits l
    WHERE l.workspace_id = $1 AND l.over_at > now()) OR NOT EXISTS (SELECT FROM limits_of_task(t.workspace_id, t.id, '[{"minPriority":9,"tier":"opus"},{"minComplexity":9,"tier":"opus"},{"taskType":"boilerplate","tier":"haiku"},{"maxEstimatedTokens":"9999","tier":"haiku"},{"tier":"sonnet"}]', '{"haiku":"claude-haiku-4-5","sonnet":"claude-sonnet-4-6","opus":"claude-opus-4-6"}', '(?<=.)(?:-(?:\d{8}|\d{4}-\d{2}-\d{2}|\d{3}|latest|preview)(?:-[^@:]*)?)?(?:@[^@]*|:\d+)?$',
      t.task_type, t.priority, t.project_id, t.estimated_complexity,
      CASE WHEN t.estimate_source <> 'default' THEN t.estimated_tokens END,
      t.agent IS NOT NULL)))) THEN 'provider_limited' END,
    CASE WHEN NOT (t.unmet_dependencies = 0) THEN 'waiting_for_dependency' END,
    CASE WHEN NOT (((SELECT jsonb_object_agg(l.scope, l.available) FROM (
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
        AND b.available < greatest(t.estimated_tokens, 1))))) AND NOT EXISTS (SELECT FROM usage_budgets b
    WHERE b.workspace_id = $1 AND b.scope_id = $1
    AND (b.period_start <= now() AND b.covers_until > now()) AND b.available <= 0)) THEN 'budget' END], NULL) AS held_back,
  t.assigned_at, t.started_at, t.completed_at, t.failed_at, t.aborted_at, t.archived_at, run.last_run,
  unsettled.dependencies, spawn.spawn, short.budgets, limited.provider_limits,
  asked.question, submitted.change
FROM agent_tasks t
LEFT JOIN LATERAL (
  SELECT jsonb_build_object('id', r.id, 'agent_id', r.agent_id, 'agent_name', a.name, 'state', r.state,
    'generation', r.generation, 'lease_expires_at', greatest(r.lease_expires_at, CASE WHEN r.lease_by_heartbeat
  AND r.ended_at IS NULL THEN (
    SELECT h.last_seen_at + make_interval(secs => r.lease_seconds) FROM agent_heartbeats h
    WHERE h.workspace_id = r.workspace_id AND h.agent_id = r.agent_id) END),
    'pause_requested_at', r.pause_requested_at, 'ended_at', r.ended_at, 'end_reason', r.end_reason,
    'exit_code', r.exit_code, 'circle', (SELECT l.message FROM task_log_lines l
      WHERE l.workspace_id = r.workspace_id AND l.task_id = r.task_id AND l.run_id = r.id
        AND l.event = 'agent_circle' ORDER BY l.id DESC LIMIT 1)) AS last_run
  FROM task_runs r JOIN agents a ON a.workspace_id = r.workspace_id AND a.id = r.agent_id
  WHERE r.workspace_id = t.workspace_id AND r.task_id = t.id
  ORDER BY r.generation DESC LIMIT 1) run ON true
LEFT JOIN LATERAL (
  SELECT coalesce(jsonb_agg(to_jsonb(shown)), '[]') AS dependencies FROM (
    SELECT p.id AS task_id, p.title, p.status, d.policy, (p.status = 'FAILED' OR (p.status = 'ABORTED' AND p.retry_at IS NULL)
  OR (p.status = 'ARCHIVED' AND p.completed_at IS NULL)) AS ended_without_success,
      to_char(p.retry_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS retry_at
    FROM task_dependencies d JOIN agent_tasks p ON p.workspace_id = d.workspace_id
      AND p.id = d.depends_on_id
    WHERE d.workspace_id = t.workspace_id AND d.task_id = t.id AND d.settled_at IS NULL
    ORDER BY ended_without_success DESC, p.id
    LIMIT 100) shown) unsettled ON true
LEFT JOIN LATERAL (
  SELECT jsonb_build_object('attempts', s.attempts, 'last_error', s.last_error, 'since', s.created_at,
    'next_attempt_at', s.next_attempt_at) AS spawn
  FROM session_spawns s
  WHERE s.workspace_id = t.workspace_id AND s.run_id = t.run_id
    AND s.state = 'PENDING') spawn ON true
LEFT JOIN LATERAL (
  SELECT coalesce(jsonb_agg(jsonb_build_object('budgetId', b.id, 'scope', b.scope, 'scopeId', b.scope_id,
    'allocated', b.allocated::text, 'consumed', b.consumed::text, 'reserved', b.reserved::text,
    'available', b.available::text, 'needed', greatest(t.estimated_tokens, 1)::text,
    'periodEnd', to_char(b.period_end AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) ORDER BY b.available), '[]') AS budgets
  FROM usage_budgets b
  WHERE b.workspace_id = t.workspace_id AND b.scope_id = ANY (ARRAY[t.workspace_id, t.project_id, t.milestone_id, t.id])
    AND (b.period_start <= now() AND b.covers_until > now())
    AND b.available < greatest(t.estimated_tokens, 1)) short ON true
LEFT JOIN LATERAL (
  SELECT coalesce(jsonb_agg(jsonb_build_object('limitId', l.id, 'provider', l.provider, 'model',
    l.model, 'kind', l.kind,
    'until', to_char(held.free_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'isOfFallback', held.of_fallback)
      ORDER BY held.of_fallback, l.until DESC), '[]') AS provider_limits
  FROM limits_of_task(t.workspace_id, t.id, '[{"minPriority":9,"tier":"opus"},{"minComplexity":9,"tier":"opus"},{"taskType":"boilerplate","tier":"haiku"},{"maxEstimatedTokens":"9999","tier":"haiku"},{"tier":"sonnet"}]', '{"haiku":"claude-haiku-4-5","sonnet":"claude-sonnet-4-6","opus":"claude-opus-4-6"}', '(?<=.)(?:-(?:\d{8}|\d{4}-\d{2}-\d{2}|\d{3}|latest|preview)(?:-[^@:]*)?)?(?:@[^@]*|:\d+)?$',
      t.task_type, t.priority, t.project_id, t.estimated_complexity,
      CASE WHEN t.estimate_source <> 'default' THEN t.estimated_tokens END,
      t.agent IS NOT NULL) held
  JOIN provider_limits l ON l.workspace_id = t.workspace_id AND l.id = held.limit_id) limited ON true
LEFT JOIN LATERAL (
  SELECT jsonb_build_object('questionId', q.id, 'prompt', q.prompt, 'choices', q.choices,
    'deadlineAt', to_char(q.deadline_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'onDeadline', q.on_deadline, 'default', q.default_answer) AS question
  FROM questions q
  WHERE q.workspace_id = t.workspace_id AND q.task_id = t.id AND q.status = 'open') asked ON true
LEFT JOIN LATERAL (
  SELECT jsonb_build_object('state', c.state, 'repositoryId', c.repository_id, 'target', c.target,
    'obstacle', c.obstacle, 'submittedAt', to_char(c.submitted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) AS change
  FROM changes c
  WHERE c.workspace_id = t.workspace_id AND c.task_id = t.id AND t.status = 'PAUSED'
    AND t.paused_for = 'review') submitted ON true
WHERE t.workspace_id = $1 AND t.id = $2

-- held_places
WITH capable AS MATERIALIZED (
  SELECT a.id, a.name, a.mode, a.live_runs, a.max_concurrent_tasks, h.last_seen_at, a.resting_until,
    CASE WHEN a.model IS NOT NULL
    THEN provider_limit_end_of_agent(a.workspace_id, a.id, a.model) END AS limited_until, CASE WHEN a.lifecycle = 'DRAINING' THEN 'draining'
      WHEN a.lifecycle = 'ERROR' THEN 'in_error'
      WHEN (a.mode = 'push' AND NOT a.coordinator_enabled) THEN 'disabled'
      WHEN (a.mode = 'push' AND a.command = '{}') THEN 'without_command'
      WHEN (a.mode = 'push' AND coalesce(a.resting_until > now(), false)) THEN 'cooldown'
      WHEN (CASE WHEN a.model IS NOT NULL
    THEN provider_limit_end_of_agent(a.workspace_id, a.id, a.model) END) IS NOT NULL THEN 'provider_limited'
      WHEN a.mode = 'pull' AND a.lifecycle = 'STARTING' AND h.agent_id IS NULL THEN 'unresponsive'
      WHEN coalesce(
    h.last_seen_at < now() - make_interval(secs => a.stale_threshold_seconds)
    AND CASE WHEN h.next_expected_at = 'infinity' THEN a.mode = 'pull' AND a.live_runs = 0
      ELSE (a.mode = 'pull' OR (a.live_runs > 0 AND EXISTS (SELECT FROM task_runs lr
      WHERE lr.workspace_id = a.workspace_id AND lr.agent_id = a.id AND lr.state IN ('ASSIGNED', 'WORKING', 'STALE')
        AND lr.lease_by_heartbeat))) END, false) THEN 'unresponsive'
      WHEN NOT a.live_runs < a.max_concurrent_tasks THEN 'full'
      WHEN a.mode = 'push' THEN 'assignable'
      ELSE 'free' END AS availability
  FROM agents a LEFT JOIN agent_heartbeats h ON h.workspace_id = a.workspace_id
    AND h.agent_id = a.id
  WHERE a.workspace_id = $1 AND a.lifecycle <> 'TERMINATED' AND a.capabilities @> $2::text[]
    AND (a.dedicated_to <@ $2::text[] AND (a.task_types = '{}' OR $3 = ANY(a.task_types)))
)
SELECT coalesce(t.command_kind, t.task_type) AS kind,
  greatest(0, extract(epoch FROM now() - coalesce(r.started_at, r.assigned_at)))::float8 AS "elapsedSeconds"
FROM capable c
JOIN task_runs r ON r.workspace_id = $1 AND r.agent_id = c.id AND r.state IN ('ASSIGNED', 'WORKING', 'STALE')
JOIN agent_tasks t ON t.workspace_id = $1 AND t.id = r.task_id
WHERE c.availability IN ('free', 'assignable', 'full') AND c.live_runs > 0
ORDER BY r.assigned_at
LIMIT 1000

-- kind_history
SELECT requested.kind, array_agg(latest.duration) AS durations,
  coalesce(array_agg(latest.wait) FILTER (WHERE latest.wait IS NOT NULL), '{}') AS waits
FROM unnest($2::text[]) AS requested (kind) CROSS JOIN LATERAL (
  (SELECT extract(epoch FROM t.completed_at - coalesce(t.started_at, t.assigned_at))::float8 AS duration,
    extract(epoch FROM t.assigned_at - t.ready_at)::float8 AS wait
  FROM agent_tasks t
  WHERE t.workspace_id = $1 AND t.task_type = requested.kind AND t.completed_at IS NOT NULL
    AND t.assigned_at IS NOT NULL
  ORDER BY t.completed_at DESC LIMIT (SELECT 200))
  UNION ALL
  (SELECT extract(epoch FROM t.completed_at - coalesce(t.started_at, t.assigned_at))::float8 AS duration,
    extract(epoch FROM t.assigned_at - t.ready_at)::float8 AS wait
  FROM agent_tasks t
  WHERE t.workspace_id = $1 AND t.command_kind = requested.kind AND t.completed_at IS NOT NULL
    AND t.assigned_at IS NOT NULL
  ORDER BY t.completed_at DESC LIMIT (SELECT 200))) latest
GROUP BY requested.kind

-- missing_capabilities
SELECT needed.name FROM unnest($2::text[]) AS needed (name)
WHERE NOT EXISTS (
  SELECT FROM agents a
  WHERE a.workspace_id = $1 AND a.lifecycle <> 'TERMINATED' AND needed.name = ANY(a.capabilities))

-- nearest_agents
SELECT a.id, a.name, lacking.missing
FROM agents a CROSS JOIN LATERAL (
  SELECT array_agg(needed.name ORDER BY needed.name) AS missing
    FROM unnest($2::text[]) AS needed (name)
  WHERE needed.name <> ALL (a.capabilities)) lacking
WHERE a.workspace_id = $1 AND a.lifecycle <> 'TERMINATED'
ORDER BY cardinality(lacking.missing), a.name, a.id
LIMIT 3

-- pauses_of_type
SELECT jsonb_build_object('id', p.id, 'scope', p.scope, 'taskType', p.task_type, 'reason', p.reason,
  'by', p.paused_by, 'byName', p.by_name, 'since', to_char(p.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
  'until', to_char(p.until AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) AS pause
FROM (
  SELECT 1 AS place, 'everything' AS scope, NULL AS task_type, id, reason, 'operator' AS paused_by,
    NULL AS by_name, created_at, until
  FROM installation_pauses WHERE ended_at IS NULL
  UNION ALL
  SELECT CASE WHEN p.task_type IS NULL THEN 2 ELSE 3 END,
    CASE WHEN p.task_type IS NULL THEN 'workspace' ELSE 'task_type' END, p.task_type, p.id, p.reason,
    coalesce('api_key:' || p.paused_by_key, 'user:' || p.paused_by),
    CASE WHEN p.paused_by_key IS NULL THEN u.name ELSE k.name END, p.created_at, p.until
  FROM pauses p LEFT JOIN users u ON u.id = p.paused_by
  LEFT JOIN api_keys k ON k.workspace_id = p.workspace_id AND k.id = p.paused_by_key
  WHERE p.workspace_id = $1 AND p.ended_at IS NULL AND (p.task_type IS NULL OR p.task_type = $2)) p
WHERE p.until IS NULL OR p.until > now()
ORDER BY p.place, p.created_at

-- reserved_agents
SELECT a.id, a.name, a.dedicated_to AS "dedicatedTo", a.task_types AS "taskTypes"
FROM agents a
WHERE a.workspace_id = $1 AND a.lifecycle <> 'TERMINATED' AND a.capabilities @> $2::text[] AND NOT (a.dedicated_to <@ $2::text[] AND (a.task_types = '{}' OR $3 = ANY(a.task_types)))
ORDER BY a.name, a.id
LIMIT 3

-- roots_of_waiting
WITH RECURSIVE edge AS (
  SELECT d.task_id, d.depends_on_id FROM task_dependencies d
  WHERE d.workspace_id = $1 AND d.task_id = $2 AND d.settled_at IS NULL
  UNION
  SELECT d.task_id, d.depends_on_id
  FROM edge e JOIN task_dependencies d
    ON d.workspace_id = $1 AND d.task_id = e.depends_on_id AND d.settled_at IS NULL
),
seen AS MATERIALIZED (
  SELECT task_id, depends_on_id FROM edge LIMIT $3
)
SELECT p.id, p.title, p.status, p.retry_at, (p.status = 'FAILED' OR (p.status = 'ABORTED' AND p.retry_at IS NULL)
  OR (p.status = 'ARCHIVED' AND p.completed_at IS NULL)) AS ended_without_success
FROM (SELECT DISTINCT depends_on_id FROM seen WHERE task_id <> $2) s
JOIN agent_tasks p ON p.workspace_id = $1 AND p.id = s.depends_on_id
WHERE (p.unmet_dependencies = 0 OR (p.status = 'FAILED' OR (p.status = 'ABORTED' AND p.retry_at IS NULL)
  OR (p.status = 'ARCHIVED' AND p.completed_at IS NULL)))
  AND p.id NOT IN (SELECT depends_on_id FROM seen WHERE task_id = $2)
ORDER BY ended_without_success DESC, p.id
LIMIT $4

-- tasks_ahead
WITH ability AS MATERIALIZED (
  SELECT DISTINCT capabilities, dedicated_to, task_types FROM agents a
  WHERE a.workspace_id = $1 AND a.lifecycle IN ('STARTING', 'ACTIVE')
    AND a.capabilities @> $4::text[]
    AND a.dedicated_to <@ $4::text[] AND (a.task_types = '{}' OR $6 = ANY(a.task_types))
),
queue AS MATERIALIZED (
  SELECT s.key, s.capabilities FROM capability_sets s
  WHERE s.workspace_id = $1 AND (s.key = $3 OR EXISTS (SELECT FROM ability a
    WHERE (s.capabilities <@ a.capabilities AND s.capabilities @> a.dedicated_to)))
)
SELECT ahead.kind, count(*)::int AS count
FROM (
  SELECT one.kind FROM queue CROSS JOIN LATERAL (
    SELECT coalesce(q.command_kind, q.task_type) AS kind FROM agent_tasks q
    WHERE q.workspace_id = $1 AND q.capability_key = queue.key
      AND (q.status = 'PENDING' AND q.unmet_dependencies = 0) AND q.queue_rank < $2::bigint
      AND (q.task_type = $6 OR EXISTS (
        SELECT FROM ability a WHERE (queue.capabilities <@ a.capabilities AND queue.capabilities @> a.dedicated_to)
          AND (a.task_types = '{}' OR q.task_type = ANY(a.task_types))))
    ORDER BY q.queue_rank LIMIT $5) one
  LIMIT $5) ahead
GROUP BY ahead.kind
ORDER BY ahead.kind

-- waited_for
WITH RECURSIVE edge AS (
  SELECT d.task_id, d.depends_on_id, d.policy FROM task_dependencies d
  WHERE d.workspace_id = $1 AND d.task_id = $2 AND d.settled_at IS NULL
  UNION
  SELECT d.task_id, d.depends_on_id, d.policy
  FROM edge e JOIN task_dependencies d
    ON d.workspace_id = $1 AND d.task_id = e.depends_on_id AND d.settled_at IS NULL
)
SELECT e.task_id, e.policy, p.completed_at IS NOT NULL AS completed,
  (p.status = 'FAILED' OR (p.status = 'ABORTED' AND p.retry_at IS NULL)
  OR (p.status = 'ARCHIVED' AND p.completed_at IS NULL)) AS ended_without_success,
  p.id, p.task_type, coalesce(p.command_kind, p.task_type) AS kind, p.project_id, p.status, p.retry_at, p.queue_expires_at, p.unmet_dependencies, p.assigned_at,
  CASE WHEN p.waits_for_start THEN p.start_at END AS awaited_start,
  CASE WHEN p.waits_for_slot THEN p.concurrency_key END AS awaited_key, p.concurrency_limit,
  p.started_at, p.required_capabilities, p.queue_rank,
  array_remove(ARRAY[CASE WHEN NOT (EXISTS (SELECT FROM workspaces used WHERE used.id = $1
    AND used.archived_at IS NULL)) THEN 'workspace_archived' END,
    CASE WHEN NOT ((p.queue_expires_at IS NULL OR p.queue_expires_at > now())) THEN 'queue_expired' END,
    CASE WHEN NOT ((p.task_type || '') <> ALL ((ARRAY(SELECT p.task_type::text FROM pauses p WHERE p.workspace_id = $1
    AND p.task_type IS NOT NULL AND p.ended_at IS NULL AND (p.until IS NULL OR p.until > now())))::text[]) AND NOT (EXISTS (SELECT FROM installation_pauses p
      WHERE p.ended_at IS NULL AND (p.until IS NULL OR p.until > now()))
    OR EXISTS (SELECT FROM pauses p WHERE p.workspace_id = $1 AND p.task_type IS NULL
      AND p.ended_at IS NULL AND (p.until IS NULL OR p.until > now())))) THEN 'held_by_pause' END,
    CASE WHEN NOT (coalesce(p.project_id, p.workspace_id) <> ALL (ARRAY(SELECT h.project_id FROM workspace_throttles h
      WHERE h.workspace_id = $1 AND h.project_id IS NOT NULL
        AND h.max_runs <= (SELECT count(*) FROM task_runs lr
        JOIN agent_tasks lt ON lt.workspace_id = lr.workspace_id AND lt.id = lr.task_id
        WHERE lr.workspace_id = $1 AND lr.state IN ('ASSIGNED', 'WORKING', 'STALE')
          AND lt.project_id = h.project_id))) AND NOT EXISTS (SELECT FROM workspace_throttles h
      WHERE h.workspace_id = $1 AND h.scope_id = $1
        AND h.max_runs <= (SELECT coalesce(sum(a.live_runs), 0) FROM agents a WHERE a.workspace_id = $1))) THEN 'throttled' END,
    CASE WHEN NOT ((NOT EXISTS (SELECT FROM provider_limits l
    WHERE l.workspace_id = $1 AND l.over_at > now()) OR NOT EXISTS (SELECT FROM limits_of_task(p.workspace_id, p.id, '[{"minPriority":9,"tier":"opus"},{"minComplexity":9,"tier":"opus"},{"taskType":"boilerplate","tier":"haiku"},{"maxEstimatedTokens":"9999","tier":"haiku"},{"tier":"sonnet"}]', '{"haiku":"claude-haiku-4-5","sonnet":"claude-sonnet-4-6","opus":"claude-opus-4-6"}', '(?<=.)(?:-(?:\d{8}|\d{4}-\d{2}-\d{2}|\d{3}|latest|preview)(?:-[^@:]*)?)?(?:@[^@]*|:\d+)?$',
      p.task_type, p.priority, p.project_id, p.estimated_complexity,
      CASE WHEN p.estimate_source <> 'default' THEN p.estimated_tokens END,
      p.agent IS NOT NULL)))) THEN 'provider_limited' END,
    CASE WHEN NOT (p.unmet_dependencies = 0) THEN 'waiting_for_dependency' END,
    CASE WHEN NOT (((SELECT jsonb_object_agg(l.scope, l.available) FROM (
    SELECT b.scope_id::text AS scope, b.available FROM usage_budgets b
    WHERE b.workspace_id = $1 AND (b.period_start <= now() AND b.covers_until > now()) AND b.task_id IS NULL
    UNION ALL
    SELECT 'task', 0 WHERE EXISTS (SELECT FROM usage_budgets b
      WHERE b.workspace_id = $1 AND (b.period_start <= now() AND b.covers_until > now()) AND b.task_id IS NOT NULL)) l) IS NULL OR (
    greatest(p.estimated_tokens, 1) <= least(9223372036854775807, ((SELECT jsonb_object_agg(l.scope, l.available) FROM (
    SELECT b.scope_id::text AS scope, b.available FROM usage_budgets b
    WHERE b.workspace_id = $1 AND (b.period_start <= now() AND b.covers_until > now()) AND b.task_id IS NULL
    UNION ALL
    SELECT 'task', 0 WHERE EXISTS (SELECT FROM usage_budgets b
      WHERE b.workspace_id = $1 AND (b.period_start <= now() AND b.covers_until > now()) AND b.task_id IS NOT NULL)) l) ->> p.workspace_id::text)::bigint,
      ((SELECT jsonb_object_agg(l.scope, l.available) FROM (
    SELECT b.scope_id::text AS scope, b.available FROM usage_budgets b
    WHERE b.workspace_id = $1 AND (b.period_start <= now() AND b.covers_until > now()) AND b.task_id IS NULL
    UNION ALL
    SELECT 'task', 0 WHERE EXISTS (SELECT FROM usage_budgets b
      WHERE b.workspace_id = $1 AND (b.period_start <= now() AND b.covers_until > now()) AND b.task_id IS NOT NULL)) l) ->> p.project_id::text)::bigint,
      ((SELECT jsonb_object_agg(l.scope, l.available) FROM (
    SELECT b.scope_id::text AS scope, b.available FROM usage_budgets b
    WHERE b.workspace_id = $1 AND (b.period_start <= now() AND b.covers_until > now()) AND b.task_id IS NULL
    UNION ALL
    SELECT 'task', 0 WHERE EXISTS (SELECT FROM usage_budgets b
      WHERE b.workspace_id = $1 AND (b.period_start <= now() AND b.covers_until > now()) AND b.task_id IS NOT NULL)) l) ->> p.milestone_id::text)::bigint)
    AND (NOT (SELECT jsonb_object_agg(l.scope, l.available) FROM (
    SELECT b.scope_id::text AS scope, b.available FROM usage_budgets b
    WHERE b.workspace_id = $1 AND (b.period_start <= now() AND b.covers_until > now()) AND b.task_id IS NULL
    UNION ALL
    SELECT 'task', 0 WHERE EXISTS (SELECT FROM usage_budgets b
      WHERE b.workspace_id = $1 AND (b.period_start <= now() AND b.covers_until > now()) AND b.task_id IS NOT NULL)) l) ? 'task' OR NOT EXISTS (SELECT FROM usage_budgets b
      WHERE b.workspace_id = p.workspace_id AND b.scope_id = p.id AND (b.period_start <= now() AND b.covers_until > now())
        AND b.available < greatest(p.estimated_tokens, 1))))) AND NOT EXISTS (SELECT FROM usage_budgets b
    WHERE b.workspace_id = $1 AND b.scope_id = $1
    AND (b.period_start <= now() AND b.covers_until > now()) AND b.available <= 0)) THEN 'budget' END], NULL) AS held_back
FROM (SELECT * FROM edge LIMIT $3) e
JOIN agent_tasks p ON p.workspace_id = $1 AND p.id = e.depends_on_id
