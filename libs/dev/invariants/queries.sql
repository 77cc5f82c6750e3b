-- The statements as they run. Made by `npm run generate`; change the modules that declare them.

-- all_artifacts
SELECT a.id FROM artifacts a ORDER BY a.id

-- invariant_accounted_for
WITH open AS MATERIALIZED (
  SELECT t.* FROM agent_tasks t
  WHERE t.status IN ('PENDING', 'ASSIGNED', 'RUNNING', 'PAUSED')
    OR (t.status = 'ABORTED' AND t.retry_at IS NOT NULL)
),
edge AS MATERIALIZED (
  SELECT t.workspace_id, t.id, count(*)::int AS unsettled,
    bool_or(NOT p.dependents_unsettled AND (
      (p.completed_at IS NOT NULL AND p.status IN ('COMPLETED', 'ARCHIVED'))
      OR (d.policy <> 'block' AND p.completed_at IS NULL AND (p.status IN ('FAILED', 'ARCHIVED')
        OR (p.status = 'ABORTED' AND p.retry_at IS NULL))))) AS forgotten
  FROM open t
  JOIN task_dependencies d ON d.workspace_id = t.workspace_id AND d.task_id = t.id
  JOIN agent_tasks p ON p.workspace_id = d.workspace_id AND p.id = d.depends_on_id
  WHERE d.settled_at IS NULL
  GROUP BY 1, 2
)
SELECT 'task ' || t.id AS subject, problem
FROM open t
LEFT JOIN edge e ON e.workspace_id = t.workspace_id AND e.id = t.id
LEFT JOIN task_runs r ON r.workspace_id = t.workspace_id AND r.id = t.run_id AND r.task_id = t.id
  AND r.state IN ('ASSIGNED', 'WORKING', 'STALE')
LEFT JOIN agents a ON a.workspace_id = r.workspace_id AND a.id = r.agent_id
LEFT JOIN agent_heartbeats h ON h.workspace_id = r.workspace_id AND h.agent_id = r.agent_id
CROSS JOIN LATERAL (SELECT make_interval(secs => 2 * r.lease_seconds) AS twice) lease
CROSS JOIN LATERAL (VALUES
  (t.status = 'PENDING' AND t.unmet_dependencies <> coalesce(e.unsettled, 0) + t.waits_for_start::int + t.waits_for_slot::int,
    'counts ' || t.unmet_dependencies || ' unmet dependencies, but has ' || coalesce(e.unsettled, 0)),
  (t.status = 'PENDING' AND e.forgotten,
    'waits for a task that has ended, and nobody will tell it'),
  (t.status = 'PENDING' AND t.unmet_dependencies = 0 AND t.ready_at IS NULL,
    'waits in the queue, but not since any time'),
  (t.status = 'PENDING' AND t.waits_for_start AND t.start_at < now() - interval '60 seconds',
    'waits for a start that has passed'),
  (t.status = 'PENDING' AND t.queue_expires_at < now() - interval '60 seconds',
    'waits in the queue for longer than it may'),
  (t.status = 'PAUSED' AND num_nulls(t.paused_at, t.paused_by, t.paused_for) > 0,
    'is paused, but nobody knows by whom, what for and since when'),
  (t.status = 'ABORTED' AND t.abort_reason IS NULL, 'waits for its retry without a reason'),
  (t.status = 'ABORTED' AND t.retry_at < now() - interval '60 seconds', 'is overdue for its retry'),
  (t.status IN ('ASSIGNED', 'RUNNING') AND r.id IS NULL, 'is ' || t.status || ' without a live run'),
  (NOT r.lease_by_heartbeat AND r.lease_expires_at < now() - interval '60 seconds',
    'is under a lease that has passed'),
  (r.lease_by_heartbeat AND a.lifecycle IN ('ERROR', 'TERMINATED')
      AND greatest(a.error_at, a.terminated_at) < now() - interval '60 seconds',
    'is held by an agent that is gone'),
  (r.lease_by_heartbeat AND now() - interval '60 seconds' > greatest(r.lease_expires_at, h.last_seen_at + lease.twice),
    'is held by an agent that sends no more heartbeats')
) AS found (wrong, problem)
WHERE found.wrong
ORDER BY t.id
LIMIT $1

-- invariant_artifacts_add_up
SELECT 'workspace ' || u.workspace_id AS subject,
  'counts ' || u.bytes || ' bytes, and its artifacts have ' || coalesce(a.bytes, 0) AS problem
FROM artifact_usage u
LEFT JOIN (SELECT a.workspace_id, sum(a.size_bytes) AS bytes FROM artifacts a GROUP BY 1) a
  ON a.workspace_id = u.workspace_id
WHERE u.bytes <> coalesce(a.bytes, 0)
ORDER BY u.workspace_id LIMIT $1

-- invariant_bounded_attempts
WITH kept AS MATERIALIZED (
  SELECT CASE WHEN bool_or(bounds LIKE 'FOR VALUES FROM (MINVALUE)%') THEN '-infinity'
    ELSE coalesce(min((regexp_match(bounds, 'FROM \(''([^'']+)''\)'))[1]::timestamptz), '-infinity') END AS since
  FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid, pg_get_expr(c.relpartbound, c.oid) AS bounds
  WHERE i.inhparent = 'journal'::regclass
),
failed AS (
  SELECT t.workspace_id, t.id, t.max_retries, count(*) AS runs
  FROM task_runs r
  JOIN agent_tasks t ON t.workspace_id = r.workspace_id AND t.id = r.task_id
  CROSS JOIN LATERAL (
    SELECT max(l.created_at) FILTER (WHERE l.actor_kind IN ('user', 'api_key')
        AND l.new_status = 'PENDING' AND l.previous_status IN ('FAILED', 'ABORTED')) AS by_hand,
      count(*) FILTER (WHERE l.event = 'task.updated' AND l.details::text LIKE '%maxRetries%') AS changes
    FROM journal l
    WHERE l.workspace_id = t.workspace_id AND l.task_id = t.id AND l.version IS NOT NULL
  ) history
  CROSS JOIN kept
  WHERE r.state = 'FAILED' AND r.pause_requested_at IS NULL AND history.changes = 0
    AND r.assigned_at >= greatest(history.by_hand, kept.since)
  GROUP BY 1, 2, 3
)
SELECT 'task ' || id AS subject,
  'has failed in ' || runs || ' runs, and may be retried ' || max_retries || ' times' AS problem
FROM failed WHERE runs > max_retries + 1
ORDER BY id
LIMIT $1

-- invariant_bounded_concurrency
WITH held AS (
  SELECT workspace_id, agent_id, count(*)::int AS runs FROM task_runs
  WHERE state IN ('ASSIGNED', 'WORKING', 'STALE') GROUP BY 1, 2
),
step AS (
  SELECT j.workspace_id, j.agent_id, j.created_at, sum(CASE WHEN j.run_version = 1 THEN 1 ELSE -1 END)
    OVER (PARTITION BY j.workspace_id, j.agent_id ORDER BY j.id) AS runs
  FROM journal j
  WHERE j.run_version = 1 OR j.run_version IS NOT NULL AND j.new_state NOT IN ('ASSIGNED', 'WORKING', 'STALE')
    AND EXISTS (SELECT FROM journal b WHERE b.workspace_id = j.workspace_id AND b.run_id = j.run_id AND b.run_version = 1)
),
most AS (
  SELECT DISTINCT ON (workspace_id, agent_id) workspace_id, agent_id, runs, created_at
  FROM step ORDER BY workspace_id, agent_id, runs DESC
)
SELECT 'agent ' || a.id AS subject, problem
FROM agents a
LEFT JOIN held h ON h.workspace_id = a.workspace_id AND h.agent_id = a.id
LEFT JOIN most m ON m.workspace_id = a.workspace_id AND m.agent_id = a.id
CROSS JOIN LATERAL (VALUES
  (a.live_runs <> coalesce(h.runs, 0),
    'counts ' || a.live_runs || ' live runs, and has ' || coalesce(h.runs, 0)),
  (coalesce(h.runs, 0) > a.max_concurrent_tasks,
    'holds ' || h.runs || ' runs, and may hold ' || a.max_concurrent_tasks),
  (m.runs > a.max_concurrent_tasks,
    'held ' || m.runs || ' runs at ' || m.created_at || ', and may hold ' || a.max_concurrent_tasks)
) AS found (wrong, problem)
WHERE found.wrong
ORDER BY a.id
LIMIT $1

-- invariant_budgets_add_up
WITH held AS MATERIALIZED (
  SELECT r.workspace_id, i.budget_id, sum(r.held_tokens) AS tokens
  FROM task_runs r CROSS JOIN LATERAL unnest(r.budget_ids) AS i (budget_id)
  WHERE r.state IN ('ASSIGNED', 'WORKING', 'STALE') AND r.held_tokens > 0
  GROUP BY 1, 2
)
SELECT 'budget ' || b.id AS subject, problem
FROM usage_budgets b
LEFT JOIN held h ON h.workspace_id = b.workspace_id AND h.budget_id = b.id
CROSS JOIN LATERAL (
  SELECT coalesce(sum(l.total_tokens), 0) AS tokens FROM agent_usage_logs l
  WHERE l.workspace_id = b.workspace_id AND l.logged_at >= b.period_start AND l.logged_at < b.covers_until
    AND b.scope_id IN (l.workspace_id, l.project_id, l.milestone_id, l.task_id)) used
CROSS JOIN LATERAL (VALUES
  (b.reserved <> coalesce(h.tokens, 0), 'has ' || b.reserved || ' reserved, where live runs hold ' || coalesce(h.tokens, 0)),
  (b.consumed <> used.tokens AND NOT EXISTS (SELECT FROM usage_logs_kept k
      WHERE k.workspace_id = b.workspace_id AND k.since > b.period_start), 'has ' || b.consumed || ' consumed, where ' || used.tokens || ' were used')
) AS found (wrong, problem)
WHERE found.wrong
UNION ALL
SELECT 'run ' || r.id, 'has ended, and holds ' || r.held_tokens || ' tokens' FROM task_runs r
WHERE r.held_tokens > 0 AND NOT r.state IN ('ASSIGNED', 'WORKING', 'STALE')
LIMIT $1

-- invariant_changes_match_tasks
SELECT 'task ' || coalesce(t.id, c.task_id) AS subject, problem
FROM (SELECT * FROM agent_tasks t WHERE (t.status = 'PAUSED' AND t.paused_for = 'review')) t
FULL JOIN (SELECT *, state IN ('PROVING', 'IN_REVIEW', 'APPROVED') AS in_review FROM changes
  WHERE state IN ('WORKING', 'PROVING', 'IN_REVIEW', 'APPROVED')) c
  ON c.workspace_id = t.workspace_id AND c.task_id = t.id
CROSS JOIN LATERAL (VALUES
  (t.id IS NOT NULL AND c.in_review IS NOT TRUE, 'waits for a review, and has no change in review'),
  (c.in_review AND t.id IS NULL, 'has a change in review, and does not wait for it'),
  (t.run_id IS NOT NULL, 'waits for a review, and has a run'),
  (c.state = 'WORKING' AND EXISTS (SELECT FROM agent_tasks e
    WHERE e.workspace_id = c.workspace_id AND e.id = c.task_id
      AND (e.status IN ('COMPLETED', 'FAILED', 'ARCHIVED')
        OR e.status = 'ABORTED' AND e.retry_at IS NULL)), 'has ended, and its change has not')
) AS found (wrong, problem)
WHERE found.wrong
ORDER BY 1
LIMIT $1

-- invariant_dependencies_first
WITH kept AS MATERIALIZED (
  SELECT CASE WHEN bool_or(bounds LIKE 'FOR VALUES FROM (MINVALUE)%') THEN '-infinity'
    ELSE coalesce(min((regexp_match(bounds, 'FROM \(''([^'']+)''\)'))[1]::timestamptz), '-infinity') END AS since
  FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid, pg_get_expr(c.relpartbound, c.oid) AS bounds
  WHERE i.inhparent = 'journal'::regclass
)
SELECT 'task ' || d.task_id AS subject,
  'run ' || r.generation || ' began before ' || d.depends_on_id || ' had completed' AS problem
FROM task_dependencies d
JOIN task_runs r ON r.workspace_id = d.workspace_id AND r.task_id = d.task_id
  AND r.assigned_at >= d.created_at
JOIN agent_tasks p ON p.workspace_id = d.workspace_id AND p.id = d.depends_on_id
JOIN kept ON r.assigned_at >= kept.since
WHERE d.policy <> 'ignore'
  AND (p.completed_at IS NULL OR p.completed_at > r.assigned_at)
  AND NOT EXISTS (
    SELECT FROM journal done JOIN journal begun ON begun.workspace_id = r.workspace_id AND begun.task_id = r.task_id
      AND begun.run_id = r.id AND begun.run_version = 1
    WHERE done.workspace_id = p.workspace_id AND done.task_id = p.id AND done.new_status = 'COMPLETED'
      AND done.version IS NOT NULL AND done.id < begun.id)
ORDER BY d.task_id
LIMIT $1

-- invariant_heartbeats_known
SELECT heard.workspace_id, heard.id AS agent_id, a.stale_threshold_seconds,
  extract(epoch FROM now() - h.last_seen_at)::float8 AS age_seconds
FROM unnest($1::uuid[], $2::uuid[]) AS heard (workspace_id, id)
LEFT JOIN agents a ON a.workspace_id = heard.workspace_id AND a.id = heard.id
LEFT JOIN agent_heartbeats h ON h.workspace_id = a.workspace_id AND h.agent_id = a.id

-- invariant_holds_marked
SELECT 'workspace ' || w.id AS subject,
  CASE WHEN w.may_hold_tasks THEN 'is marked, and nothing holds its tasks'
    ELSE 'is not marked, and something may hold its tasks' END AS problem
FROM workspaces w
WHERE w.may_hold_tasks <> workspace_may_hold_tasks(w.id)
ORDER BY 1
LIMIT $1

-- invariant_no_orphans
SELECT subject, problem FROM (
SELECT DISTINCT 0 AS position, 'workspaces ' || c.workspace_id AS subject, 'is missing, and agent_tasks has rows of it' AS problem
FROM agent_tasks c
WHERE c.workspace_id IS NOT NULL AND NOT EXISTS (SELECT FROM workspaces p WHERE p.id = c.workspace_id)
UNION ALL
SELECT DISTINCT 1 AS position, 'users ' || c.created_by AS subject, 'is missing, and agent_tasks has rows of it' AS problem
FROM agent_tasks c
WHERE c.created_by IS NOT NULL AND NOT EXISTS (SELECT FROM users p WHERE p.id = c.created_by)
UNION ALL
SELECT DISTINCT 2 AS position, 'agents ' || c.agent_id AS subject, 'is missing, and agent_tasks has rows of it' AS problem
FROM agent_tasks c
WHERE c.agent_id IS NOT NULL AND NOT EXISTS (SELECT FROM agents p WHERE p.workspace_id = c.workspace_id AND p.id = c.agent_id)
UNION ALL
SELECT DISTINCT 3 AS position, 'task_runs ' || c.run_id AS subject, 'is missing, and agent_tasks has rows of it' AS problem
FROM agent_tasks c
WHERE c.run_id IS NOT NULL AND NOT EXISTS (SELECT FROM task_runs p WHERE p.workspace_id = c.workspace_id AND p.id = c.run_id)
UNION ALL
SELECT DISTINCT 4 AS position, 'agent_tasks ' || c.task_id AS subject, 'is missing, and task_runs has rows of it' AS problem
FROM task_runs c
WHERE c.task_id IS NOT NULL AND NOT EXISTS (SELECT FROM agent_tasks p WHERE p.workspace_id = c.workspace_id AND p.id = c.task_id)
UNION ALL
SELECT DISTINCT 5 AS position, 'agents ' || c.agent_id AS subject, 'is missing, and task_runs has rows of it' AS problem
FROM task_runs c
WHERE c.agent_id IS NOT NULL AND NOT EXISTS (SELECT FROM agents p WHERE p.workspace_id = c.workspace_id AND p.id = c.agent_id)
UNION ALL
SELECT DISTINCT 6 AS position, 'task_runs ' || c.run_id AS subject, 'is missing, and session_spawns has rows of it' AS problem
FROM session_spawns c
WHERE c.run_id IS NOT NULL AND NOT EXISTS (SELECT FROM task_runs p WHERE p.workspace_id = c.workspace_id AND p.id = c.run_id)
UNION ALL
SELECT DISTINCT 7 AS position, 'agents ' || c.agent_id AS subject, 'is missing, and agent_heartbeats has rows of it' AS problem
FROM agent_heartbeats c
WHERE c.agent_id IS NOT NULL AND NOT EXISTS (SELECT FROM agents p WHERE p.workspace_id = c.workspace_id AND p.id = c.agent_id)
UNION ALL
SELECT DISTINCT 8 AS position, 'agents ' || c.agent_id AS subject, 'is missing, and agent_heartbeat_history has rows of it' AS problem
FROM agent_heartbeat_history c
WHERE c.agent_id IS NOT NULL AND NOT EXISTS (SELECT FROM agents p WHERE p.workspace_id = c.workspace_id AND p.id = c.agent_id)
UNION ALL
SELECT DISTINCT 9 AS position, 'agent_tasks ' || c.task_id AS subject, 'is missing, and journal has rows of it' AS problem
FROM journal c
WHERE c.task_id IS NOT NULL AND NOT EXISTS (SELECT FROM agent_tasks p WHERE p.workspace_id = c.workspace_id AND p.id = c.task_id)
UNION ALL
SELECT DISTINCT 10 AS position, 'agents ' || c.agent_id AS subject, 'is missing, and journal has rows of it' AS problem
FROM journal c
WHERE c.agent_id IS NOT NULL AND NOT EXISTS (SELECT FROM agents p WHERE p.workspace_id = c.workspace_id AND p.id = c.agent_id)
UNION ALL
SELECT DISTINCT 11 AS position, 'agent_tasks ' || c.task_id AS subject, 'is missing, and task_log_lines has rows of it' AS problem
FROM task_log_lines c
WHERE c.task_id IS NOT NULL AND NOT EXISTS (SELECT FROM agent_tasks p WHERE p.workspace_id = c.workspace_id AND p.id = c.task_id)
UNION ALL
SELECT DISTINCT 12 AS position, 'agents ' || c.agent_id AS subject, 'is missing, and task_log_lines has rows of it' AS problem
FROM task_log_lines c
WHERE c.agent_id IS NOT NULL AND NOT EXISTS (SELECT FROM agents p WHERE p.workspace_id = c.workspace_id AND p.id = c.agent_id)
UNION ALL
SELECT DISTINCT 13 AS position, 'agent_tasks ' || c.task_id AS subject, 'is missing, and artifacts has rows of it' AS problem
FROM artifacts c
WHERE c.task_id IS NOT NULL AND NOT EXISTS (SELECT FROM agent_tasks p WHERE p.workspace_id = c.workspace_id AND p.id = c.task_id)
UNION ALL
SELECT DISTINCT 14 AS position, 'task_runs ' || c.run_id AS subject, 'is missing, and artifacts has rows of it' AS problem
FROM artifacts c
WHERE c.run_id IS NOT NULL AND NOT EXISTS (SELECT FROM task_runs p WHERE p.workspace_id = c.workspace_id AND p.id = c.run_id)) found
ORDER BY position, subject LIMIT $1

-- invariant_one_event_each
WITH kept AS MATERIALIZED (
  SELECT CASE WHEN bool_or(bounds LIKE 'FOR VALUES FROM (MINVALUE)%') THEN '-infinity'
    ELSE coalesce(min((regexp_match(bounds, 'FROM \(''([^'']+)''\)'))[1]::timestamptz), '-infinity') END AS since
  FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid, pg_get_expr(c.relpartbound, c.oid) AS bounds
  WHERE i.inhparent = 'journal'::regclass
),
event AS MATERIALIZED (
  SELECT j.workspace_id, v.kind, v.id, v.version, count(*) AS events
  FROM journal j CROSS JOIN LATERAL (
    SELECT 'task' AS kind, j.task_id AS id, j.version WHERE j.task_id IS NOT NULL AND j.version IS NOT NULL
    UNION ALL
    SELECT 'run', j.run_id, j.run_version WHERE j.run_version IS NOT NULL) v
  GROUP BY 1, 2, 3, 4
),
oldest AS (
  SELECT workspace_id, kind, id, min(version) AS version FROM event GROUP BY 1, 2, 3
),
subject AS (
  SELECT t.workspace_id, 'task' AS kind, t.id, t.version, t.created_at >= k.since AS is_whole
  FROM agent_tasks t CROSS JOIN kept k
  UNION ALL
  SELECT r.workspace_id, 'run', r.id, r.version, r.assigned_at >= greatest(k.since, (
    SELECT max(started_at) FROM _prisma_migrations WHERE migration_name = '20261122000000_journal'))
  FROM task_runs r CROSS JOIN kept k
),
transition AS MATERIALIZED (
  SELECT s.workspace_id, s.kind, s.id, v.version
  FROM subject s LEFT JOIN oldest o USING (workspace_id, kind, id)
  CROSS JOIN LATERAL generate_series(
    CASE WHEN s.is_whole THEN 1 ELSE coalesce(o.version, s.version + 1) END, s.version) AS v (version)
),
counted AS (
  SELECT n.consumer, n.workspace_id, n.last_number, c.position,
    count(j.id) + count(j.run_version) FILTER (WHERE j.event = 'task.status_changed') AS messages
  FROM event_numbers n JOIN event_consumers c ON c.name = n.consumer AND c.name IN ('channels', 'webhooks')
  LEFT JOIN journal j ON j.workspace_id = n.workspace_id AND j.id <= c.position
  GROUP BY 1, 2, 3, 4
)
SELECT coalesce(t.kind, e.kind) || ' ' || coalesce(t.id, e.id) AS subject,
  'version ' || coalesce(t.version, e.version) || CASE
    WHEN t.id IS NULL THEN ' has an event, and never was'
    ELSE ' has ' || coalesce(e.events, 0) || ' events' END AS problem
FROM transition t
FULL JOIN event e USING (workspace_id, kind, id, version)
WHERE coalesce(e.events, 0) <> 1 OR t.id IS NULL
UNION ALL
SELECT 'workspace ' || workspace_id, consumer || ' has numbered ' || last_number || ' messages, and the journal holds '
  || messages || ' up to ' || position
FROM counted
WHERE last_number < messages OR last_number > 2 * position
ORDER BY 1
LIMIT $1

-- invariant_one_live_run
WITH run AS MATERIALIZED (
  SELECT r.workspace_id, r.id, r.task_id, r.generation, r.state, r.assigned_at, r.ended_at,
    lead(r.assigned_at) OVER w AS next_assigned_at
  FROM task_runs r
  WINDOW w AS (PARTITION BY r.workspace_id, r.task_id ORDER BY r.generation)
),
counted AS (
  SELECT workspace_id, task_id, count(*) AS runs, max(generation) AS latest,
    count(DISTINCT generation) AS generations,
    count(*) FILTER (WHERE state IN ('ASSIGNED', 'WORKING', 'STALE')) AS live,
    (array_agg(id) FILTER (WHERE state IN ('ASSIGNED', 'WORKING', 'STALE')))[1] AS live_run
  FROM run GROUP BY 1, 2
),
moved AS (
  SELECT l.task_id, l.version, r.generation, max(r.generation) OVER w AS newest_before
  FROM journal l JOIN run r ON r.workspace_id = l.workspace_id AND r.id = l.run_id
  WHERE l.task_id IS NOT NULL AND l.version IS NOT NULL
  WINDOW w AS (PARTITION BY l.workspace_id, l.task_id ORDER BY l.version
    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
)
SELECT 'task ' || t.id AS subject, problem
FROM agent_tasks t
LEFT JOIN counted c ON c.workspace_id = t.workspace_id AND c.task_id = t.id
CROSS JOIN LATERAL (VALUES
  (c.live > 1, 'has ' || c.live || ' live runs'),
  (coalesce(c.latest, 0) <> coalesce(c.runs, 0),
    'has ' || c.runs || ' runs, and the latest is number ' || c.latest),
  (c.generations <> c.runs, 'has ' || c.runs || ' runs of ' || c.generations || ' generations'),
  (t.generation <> coalesce(c.latest, 0),
    'says ' || t.generation || ' of its generation, and its latest run ' || coalesce(c.latest, 0)),
  (t.run_id IS DISTINCT FROM c.live_run AND coalesce(c.live, 0) < 2,
    'names the run ' || coalesce(t.run_id::text, 'none') || ', and its live one is '
      || coalesce(c.live_run::text, 'none'))
) AS found (wrong, problem)
WHERE found.wrong
UNION ALL
SELECT 'task ' || m.task_id, 'version ' || m.version || ' was moved by run ' || m.generation
  || ' after run ' || m.newest_before
FROM moved m WHERE m.generation < m.newest_before
UNION ALL
SELECT 'run ' || r.id, 'an entry (' || l.event || ') was accepted after the next run had begun'
FROM agent_task_logs l JOIN run r ON r.workspace_id = l.workspace_id AND r.id = l.run_id
WHERE l.actor_kind IN ('agent', 'run') AND l.created_at > r.next_assigned_at + interval '1 second'
ORDER BY 1
LIMIT $1

-- invariant_one_open_question
SELECT 'task ' || coalesce(t.id, q.task_id) AS subject, problem
FROM (SELECT *, (t.status = 'PAUSED' AND t.paused_for = 'question') AS waits FROM agent_tasks t WHERE (t.status = 'PAUSED' AND t.paused_for = 'question')
  OR t.run_id IN (SELECT run_id FROM questions WHERE status = 'open' AND run_waits)) t
FULL JOIN (SELECT * FROM questions WHERE status = 'open') q ON q.workspace_id = t.workspace_id AND q.task_id = t.id
CROSS JOIN LATERAL (VALUES
  (q.id IS NULL, 'waits for an answer, and has no open question'),
  (t.id IS NULL, 'has an open question, and does not wait for an answer'),
  (t.waits AND t.run_id IS NOT NULL, 'waits for an answer, and has a run'),
  (t.waits AND q.run_waits, 'waits for an answer to a question of a live run'),
  (q.deadline_at < now() - interval '60 seconds', 'has an open question whose deadline has passed')
) AS found (wrong, problem)
WHERE found.wrong
ORDER BY 1
LIMIT $1

-- invariant_unbroken_log
WITH kept AS MATERIALIZED (
  SELECT CASE WHEN bool_or(bounds LIKE 'FOR VALUES FROM (MINVALUE)%') THEN '-infinity'
    ELSE coalesce(min((regexp_match(bounds, 'FROM \(''([^'']+)''\)'))[1]::timestamptz), '-infinity') END AS since
  FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid, pg_get_expr(c.relpartbound, c.oid) AS bounds
  WHERE i.inhparent = 'journal'::regclass
),
entry AS (
  SELECT j.workspace_id, j.task_id, j.id, j.version, j.event, j.previous_status, j.new_status,
    lag(j.id) OVER w AS id_before, lag(j.version) OVER w AS version_before, lag(j.new_status) OVER w AS status_before
  FROM journal j
  WHERE j.task_id IS NOT NULL AND j.version IS NOT NULL
  WINDOW w AS (PARTITION BY j.workspace_id, j.task_id ORDER BY j.version, j.id)
),
broken AS (
  SELECT e.task_id, CASE
    WHEN e.version_before IS NOT NULL AND e.version <> e.version_before + 1
      THEN 'version ' || e.version || ' follows ' || e.version_before
    WHEN e.version_before IS NULL AND e.version <> 1 AND t.created_at >= kept.since
      THEN 'version ' || e.version || ' follows 0'
    WHEN e.version = 1 AND (e.previous_status IS NOT NULL OR e.new_status <> 'PENDING')
      THEN 'it begins as ' || e.new_status
    WHEN e.id < e.id_before
      THEN 'version ' || e.version || ' stands before the one that it follows'
    WHEN e.version_before IS NOT NULL AND e.previous_status IS DISTINCT FROM e.status_before
      THEN 'version ' || e.version || ' starts from ' || coalesce(e.previous_status, 'nothing')
        || ', where the one before ended in ' || e.status_before
    WHEN e.version > 1 AND e.event = 'task.status_changed' AND (e.previous_status, e.new_status) NOT IN (('PENDING', 'ASSIGNED'), ('PENDING', 'PAUSED'), ('PENDING', 'FAILED'), ('PENDING', 'ABORTED'), ('ASSIGNED', 'RUNNING'), ('ASSIGNED', 'PENDING'), ('ASSIGNED', 'PAUSED'), ('ASSIGNED', 'COMPLETED'), ('ASSIGNED', 'ABORTED'), ('RUNNING', 'PAUSED'), ('RUNNING', 'COMPLETED'), ('RUNNING', 'FAILED'), ('RUNNING', 'ABORTED'), ('PAUSED', 'PENDING'), ('PAUSED', 'RUNNING'), ('PAUSED', 'COMPLETED'), ('PAUSED', 'FAILED'), ('PAUSED', 'ABORTED'), ('ABORTED', 'PENDING'), ('ABORTED', 'ABORTED'), ('ABORTED', 'FAILED'), ('ABORTED', 'ARCHIVED'), ('FAILED', 'PENDING'), ('FAILED', 'ARCHIVED'), ('COMPLETED', 'ARCHIVED'))
      THEN 'version ' || e.version || ' goes from ' || e.previous_status || ' to ' || e.new_status
    WHEN e.version > 1 AND e.event <> 'task.status_changed' AND e.previous_status IS DISTINCT FROM e.new_status
      THEN 'version ' || e.version || ' changes the status as ' || e.event
    END AS problem
  FROM entry e CROSS JOIN kept JOIN agent_tasks t ON t.workspace_id = e.workspace_id AND t.id = e.task_id
),
last AS (
  SELECT DISTINCT ON (e.workspace_id, e.task_id) e.workspace_id, e.task_id, e.version, e.new_status
  FROM entry e ORDER BY e.workspace_id, e.task_id, e.version DESC
)
SELECT 'task ' || b.task_id AS subject, b.problem FROM broken b WHERE b.problem IS NOT NULL
UNION ALL
SELECT 'task ' || t.id, 'is ' || t.status || ' in version ' || t.version || ', but its log ends with '
  || coalesce(l.new_status || ' in version ' || l.version, 'nothing')
FROM agent_tasks t CROSS JOIN kept LEFT JOIN last l ON l.workspace_id = t.workspace_id AND l.task_id = t.id
WHERE (l.version, l.new_status) IS DISTINCT FROM (t.version, t.status)
  AND (l.version IS NOT NULL OR t.created_at >= kept.since)
ORDER BY 1
LIMIT $1

-- invariant_usage_rollups
WITH expected AS (
  SELECT c.workspace_id, c.scope_id, c.dimension, c.key, 'day' AS grain, c.day, sum(c.input_tokens) AS input_tokens, sum(c.output_tokens) AS output_tokens, sum(c.cache_read_tokens) AS cache_read_tokens, sum(c.cache_write_tokens) AS cache_write_tokens, sum(c.cost_usd) AS cost_usd, sum(c.reports) AS reports, sum(c.reports_without_price) AS reports_without_price, sum(c.reasoning_tokens) AS reasoning_tokens, sum(c.estimated_tokens) AS estimated_tokens, sum(c.estimated_reports) AS estimated_reports
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
    WHERE l.seq <= (SELECT position FROM usage_rollup_progress)) c
  GROUP BY 1, 2, 3, 4, 6
  UNION ALL
  SELECT m.workspace_id, m.scope_id, m.dimension, m.key, 'month' AS grain,
    date_trunc('month', m.day)::date AS day, sum(m.input_tokens) AS input_tokens, sum(m.output_tokens) AS output_tokens, sum(m.cache_read_tokens) AS cache_read_tokens, sum(m.cache_write_tokens) AS cache_write_tokens, sum(m.cost_usd) AS cost_usd, sum(m.reports) AS reports, sum(m.reports_without_price) AS reports_without_price, sum(m.reasoning_tokens) AS reasoning_tokens, sum(m.estimated_tokens) AS estimated_tokens, sum(m.estimated_reports) AS estimated_reports
  FROM usage_rollups m
  WHERE m.dimension <> 'task' AND m.grain = 'day'
  GROUP BY 1, 2, 3, 4, 6
)
SELECT 'usage of ' || coalesce(r.dimension, e.dimension) || ' ' || coalesce(r.key, e.key) AS subject,
  'in the ' || coalesce(r.grain, e.grain) || ' ' || coalesce(r.day, e.day) || ' the history has '
    || coalesce(r.reports, 0) || ' reports, and there are ' || coalesce(e.reports, 0) AS problem
FROM usage_rollups r FULL JOIN expected e USING (workspace_id, scope_id, dimension, key, grain, day)
LEFT JOIN usage_logs_kept k ON k.workspace_id = coalesce(r.workspace_id, e.workspace_id)
WHERE (r.input_tokens, r.output_tokens, r.cache_read_tokens, r.cache_write_tokens, r.cost_usd, r.reports, r.reports_without_price, r.reasoning_tokens, r.estimated_tokens, r.estimated_reports) IS DISTINCT FROM (e.input_tokens, e.output_tokens, e.cache_read_tokens, e.cache_write_tokens, e.cost_usd, e.reports, e.reports_without_price, e.reasoning_tokens, e.estimated_tokens, e.estimated_reports)
  AND (coalesce(r.grain, e.grain) = 'month' OR coalesce(r.day, e.day) >= coalesce(k.since, '-infinity'))
ORDER BY 1
LIMIT $1

-- invariant_views_known
WITH later AS MATERIALIZED (
  SELECT j.workspace_id, j.task_id, j.run_id, j.agent_id FROM journal j WHERE j.id > $1::bigint
),
live AS MATERIALIZED (
  SELECT r.*, coalesce(r.session_key, r.id::text) AS session,
    row_number() OVER (PARTITION BY r.workspace_id, r.agent_id
      ORDER BY r.assigned_at DESC, r.id DESC) AS recency
  FROM task_runs r WHERE r.state IN ('ASSIGNED', 'WORKING', 'STALE')
),
retry AS (
  SELECT t.workspace_id, t.id,
    row_number() OVER (PARTITION BY t.workspace_id ORDER BY t.retry_at, t.id) AS place
  FROM agent_tasks t WHERE t.status = 'ABORTED' AND t.retry_at IS NOT NULL
),
session AS (
  SELECT s.* FROM live s
  WHERE (SELECT count(*) FROM live o WHERE o.session = s.session) = 1
    AND NOT EXISTS (SELECT FROM later l
      WHERE l.workspace_id = s.workspace_id AND l.task_id = s.task_id)
)
SELECT 'tasks:pending:' || t.workspace_id AS key, t.id::text AS member,
  ((10 - t.priority) * 10000000000000 + floor(extract(epoch FROM t.created_at) * 1000)::bigint)::text AS value
FROM agent_tasks t WHERE t.status = 'PENDING'
UNION ALL
SELECT 'tasks:active:' || workspace_id, task_id || ':' || session, '' FROM live
UNION ALL
SELECT 'agent:tasks:' || agent_id, task_id::text, floor(extract(epoch FROM assigned_at) * 1000)::bigint::text FROM live
UNION ALL
SELECT 'agent:status:' || a.id, 'status', a.status FROM agents a WHERE a.lifecycle <> 'TERMINATED'
UNION ALL
SELECT 'agent:status:' || agent_id, 'current_task', task_id::text FROM live WHERE recency = 1
UNION ALL
SELECT 'coordinator:stale_agents', a.id::text, '' FROM agents a WHERE a.status = 'ERROR'
UNION ALL
SELECT 'coordinator:recovery_queue:' || workspace_id, id::text, place::text
FROM retry WHERE place <= 1000
UNION ALL
SELECT 'session:context:' || s.session, f.name, f.value FROM session s
CROSS JOIN LATERAL (VALUES ('workspace_id', s.workspace_id::text), ('agent_id', s.agent_id::text),
  ('task_id', s.task_id::text), ('started_at', floor(extract(epoch FROM s.started_at) * 1000)::bigint::text)) AS f (name, value)
WHERE f.value IS NOT NULL
UNION ALL
SELECT NULL, n.name, '' FROM later l CROSS JOIN LATERAL (VALUES (l.task_id::text), (l.run_id::text),
  (l.agent_id::text), ('retries ' || l.workspace_id)) AS n (name)
WHERE n.name IS NOT NULL
UNION ALL
SELECT NULL, a.id::text, '' FROM agents a
GROUP BY a.id HAVING count(*) > 1 OR bool_or(a.lifecycle = 'STARTING')
