-- The statements as they run. Made by `npm run generate`; change the modules that declare them.
-- Left out, because its text depends on the request: commands/matching-ids.sql.ts
-- Left out, because its text depends on the request: queries/list-tasks.sql.ts
-- Left out, because its text depends on the request: queries/task-logs.sql.ts

-- allowed_models
SELECT w.allowed_models AS workspace,
  (SELECT jsonb_object_agg(p.id, to_jsonb(p.allowed_models)) FROM projects p
    WHERE p.workspace_id = $1 AND p.id = ANY($2::uuid[])) AS projects
FROM workspaces w WHERE w.id = $1

-- archived_plans
SELECT 'project' AS kind, id FROM projects
WHERE workspace_id = $1 AND id = ANY($2::uuid[]) AND archived_at IS NOT NULL
UNION ALL
SELECT 'milestone', id FROM milestones
WHERE workspace_id = $1 AND id = ANY($3::uuid[]) AND archived_at IS NOT NULL

-- change_task_template
UPDATE task_templates SET name = $3, description = $4, task = $5::jsonb, version = version + 1, updated_at = now()
WHERE workspace_id = $1 AND id = $2
RETURNING id

-- command_policy
SELECT allow_run_commands FROM workspaces WHERE id = $1

-- continued_task
SELECT (((t.status = 'COMPLETED' OR (t.status = 'ARCHIVED' AND t.completed_at IS NOT NULL)) OR (t.status = 'FAILED' OR (t.status = 'ABORTED' AND t.retry_at IS NULL)
  OR (t.status = 'ARCHIVED' AND t.completed_at IS NULL))) OR t.status = 'ARCHIVED') AS is_over, t.title, t.description, t.task_type, t.priority,
  t.agent, t.input_context, t.metadata, t.secrets, t.required_capabilities, t.project_id, t.milestone_id, t.repository_id,
  t.acceptance_script,
  t.max_retries, t.retry_backoff_seconds, t.timeout_seconds, t.concurrency_key, t.concurrency_limit,
  t.checkpoint_data,
  ARRAY(SELECT g.tag FROM agent_task_tags g WHERE g.workspace_id = $1 AND g.task_id = t.id) AS tags,
  (SELECT jsonb_agg(to_jsonb(s)) FROM task_secrets s
    WHERE s.workspace_id = $1 AND s.task_id = t.id) AS originals
FROM agent_tasks t WHERE t.workspace_id = $1 AND t.id = $2

-- count_subtasks
SELECT count(*)::int AS subtasks FROM (
  SELECT FROM agent_tasks WHERE workspace_id = $1 AND parent_task_id = $2 LIMIT $3) s

-- create_tasks
WITH input AS MATERIALIZED (
  SELECT * FROM jsonb_to_recordset($2::jsonb) AS x ("id" uuid, "capabilityKey" text, "unmetDependencies" int, "hasDependents" boolean, "createdBy" uuid, "parentTaskId" uuid, "scheduleId" uuid, "scheduledFor" timestamptz, "commandKind" text, "traceparent" text, "taskType" text, "repositoryId" uuid, "agent" jsonb, "instructions" text, "steps" text[], "deliverables" text[], "acceptance" text[], "acceptanceScript" text, "inputContext" jsonb, "concurrencyKey" text, "concurrencyLimit" int, "debounceKey" text, "title" text, "description" text, "priority" int, "metadata" jsonb, "secrets" jsonb, "estimatedDurationMinutes" int, "estimatedComplexity" int, "estimatedTokens" bigint, "estimateSource" text, "maxRetries" int, "retryBackoffSeconds" int, "timeoutSeconds" int, "projectId" uuid, "milestoneId" uuid, "requiredCapabilities" text[], "queueExpiresInSeconds" int, "expiresAt" timestamptz, "startAt" timestamptz, "delaySeconds" int, "tags" text[], "actorKind" text, "actorId" text)
),
created AS (
  INSERT INTO agent_tasks (workspace_id, ready_at, queue_expires_at, start_at, waits_for_start, waits_for_slot,
    unmet_dependencies, id, capability_key, has_dependents, created_by, parent_task_id, schedule_id, scheduled_for, command_kind, traceparent, task_type, repository_id, agent, instructions, steps, deliverables, acceptance, acceptance_script, input_context, concurrency_key, concurrency_limit, debounce_key, title, description, priority, metadata, secrets, estimated_duration_minutes, estimated_complexity, estimated_tokens, estimate_source, max_retries, retry_backoff_seconds, timeout_seconds, project_id, milestone_id, required_capabilities)
  SELECT $1, CASE WHEN "unmetDependencies" + (coalesce(coalesce("startAt", now() + make_interval(secs => "delaySeconds")) > now(), false))::int + ("concurrencyKey" IS NOT NULL)::int = 0 THEN now() END,
    coalesce("expiresAt", now() + make_interval(secs => "queueExpiresInSeconds")),
    coalesce("startAt", now() + make_interval(secs => "delaySeconds")), coalesce(coalesce("startAt", now() + make_interval(secs => "delaySeconds")) > now(), false), "concurrencyKey" IS NOT NULL, "unmetDependencies" + (coalesce(coalesce("startAt", now() + make_interval(secs => "delaySeconds")) > now(), false))::int + ("concurrencyKey" IS NOT NULL)::int,
    "id", "capabilityKey", "hasDependents", "createdBy", "parentTaskId", "scheduleId", "scheduledFor", "commandKind", "traceparent", "taskType", "repositoryId", "agent", "instructions", "steps", "deliverables", "acceptance", "acceptanceScript", "inputContext", "concurrencyKey", "concurrencyLimit", "debounceKey", "title", "description", "priority", "metadata", "secrets", "estimatedDurationMinutes", "estimatedComplexity", "estimatedTokens", "estimateSource", "maxRetries", "retryBackoffSeconds", "timeoutSeconds", "projectId", "milestoneId", "requiredCapabilities"
  FROM input
  RETURNING id
),
journaled AS (
  INSERT INTO journal (workspace_id, event, task_id, version, new_status, actor_kind, actor_id)
  SELECT $1, 'task.created', id, 1, 'PENDING', "actorKind", "actorId"
  FROM input
)
SELECT now() AS created_at

-- create_tasks_alike
WITH input AS MATERIALIZED (
  SELECT * FROM jsonb_to_recordset($2::jsonb) AS x ("id" uuid, "title" text, "description" text, "taskType" text, "priority" int, "inputContext" jsonb, "commandKind" text, "estimatedTokens" bigint)
    CROSS JOIN jsonb_to_record($3::jsonb) AS y ("capabilityKey" text, "unmetDependencies" int, "hasDependents" boolean, "createdBy" uuid, "parentTaskId" uuid, "scheduleId" uuid, "scheduledFor" timestamptz, "traceparent" text, "repositoryId" uuid, "agent" jsonb, "instructions" text, "steps" text[], "deliverables" text[], "acceptance" text[], "acceptanceScript" text, "concurrencyKey" text, "concurrencyLimit" int, "debounceKey" text, "metadata" jsonb, "secrets" jsonb, "estimatedDurationMinutes" int, "estimatedComplexity" int, "estimateSource" text, "maxRetries" int, "retryBackoffSeconds" int, "timeoutSeconds" int, "projectId" uuid, "milestoneId" uuid, "requiredCapabilities" text[], "queueExpiresInSeconds" int, "expiresAt" timestamptz, "startAt" timestamptz, "delaySeconds" int, "tags" text[], "actorKind" text, "actorId" text)
),
created AS (
  INSERT INTO agent_tasks (workspace_id, ready_at, queue_expires_at, start_at, waits_for_start, waits_for_slot,
    unmet_dependencies, id, capability_key, has_dependents, created_by, parent_task_id, schedule_id, scheduled_for, command_kind, traceparent, task_type, repository_id, agent, instructions, steps, deliverables, acceptance, acceptance_script, input_context, concurrency_key, concurrency_limit, debounce_key, title, description, priority, metadata, secrets, estimated_duration_minutes, estimated_complexity, estimated_tokens, estimate_source, max_retries, retry_backoff_seconds, timeout_seconds, project_id, milestone_id, required_capabilities)
  SELECT $1, CASE WHEN "unmetDependencies" + (coalesce(coalesce("startAt", now() + make_interval(secs => "delaySeconds")) > now(), false))::int + ("concurrencyKey" IS NOT NULL)::int = 0 THEN now() END,
    coalesce("expiresAt", now() + make_interval(secs => "queueExpiresInSeconds")),
    coalesce("startAt", now() + make_interval(secs => "delaySeconds")), coalesce(coalesce("startAt", now() + make_interval(secs => "delaySeconds")) > now(), false), "concurrencyKey" IS NOT NULL, "unmetDependencies" + (coalesce(coalesce("startAt", now() + make_interval(secs => "delaySeconds")) > now(), false))::int + ("concurrencyKey" IS NOT NULL)::int,
    "id", "capabilityKey", "hasDependents", "createdBy", "parentTaskId", "scheduleId", "scheduledFor", "commandKind", "traceparent", "taskType", "repositoryId", "agent", "instructions", "steps", "deliverables", "acceptance", "acceptanceScript", "inputContext", "concurrencyKey", "concurrencyLimit", "debounceKey", "title", "description", "priority", "metadata", "secrets", "estimatedDurationMinutes", "estimatedComplexity", "estimatedTokens", "estimateSource", "maxRetries", "retryBackoffSeconds", "timeoutSeconds", "projectId", "milestoneId", "requiredCapabilities"
  FROM input
  RETURNING id
),
journaled AS (
  INSERT INTO journal (workspace_id, event, task_id, version, new_status, actor_kind, actor_id)
  SELECT $1, 'task.created', id, 1, 'PENDING', "actorKind", "actorId"
  FROM input
)
SELECT now() AS created_at

-- create_tasks_with_extras
WITH input AS MATERIALIZED (
  SELECT * FROM jsonb_to_recordset($2::jsonb) AS x ("id" uuid, "capabilityKey" text, "unmetDependencies" int, "hasDependents" boolean, "createdBy" uuid, "parentTaskId" uuid, "scheduleId" uuid, "scheduledFor" timestamptz, "commandKind" text, "traceparent" text, "taskType" text, "repositoryId" uuid, "agent" jsonb, "instructions" text, "steps" text[], "deliverables" text[], "acceptance" text[], "acceptanceScript" text, "inputContext" jsonb, "concurrencyKey" text, "concurrencyLimit" int, "debounceKey" text, "title" text, "description" text, "priority" int, "metadata" jsonb, "secrets" jsonb, "estimatedDurationMinutes" int, "estimatedComplexity" int, "estimatedTokens" bigint, "estimateSource" text, "maxRetries" int, "retryBackoffSeconds" int, "timeoutSeconds" int, "projectId" uuid, "milestoneId" uuid, "requiredCapabilities" text[], "queueExpiresInSeconds" int, "expiresAt" timestamptz, "startAt" timestamptz, "delaySeconds" int, "tags" text[], "actorKind" text, "actorId" text)
),
created AS (
  INSERT INTO agent_tasks (workspace_id, ready_at, queue_expires_at, start_at, waits_for_start, waits_for_slot,
    unmet_dependencies, id, capability_key, has_dependents, created_by, parent_task_id, schedule_id, scheduled_for, command_kind, traceparent, task_type, repository_id, agent, instructions, steps, deliverables, acceptance, acceptance_script, input_context, concurrency_key, concurrency_limit, debounce_key, title, description, priority, metadata, secrets, estimated_duration_minutes, estimated_complexity, estimated_tokens, estimate_source, max_retries, retry_backoff_seconds, timeout_seconds, project_id, milestone_id, required_capabilities)
  SELECT $1, CASE WHEN "unmetDependencies" + (coalesce(coalesce("startAt", now() + make_interval(secs => "delaySeconds")) > now(), false))::int + ("concurrencyKey" IS NOT NULL)::int = 0 THEN now() END,
    coalesce("expiresAt", now() + make_interval(secs => "queueExpiresInSeconds")),
    coalesce("startAt", now() + make_interval(secs => "delaySeconds")), coalesce(coalesce("startAt", now() + make_interval(secs => "delaySeconds")) > now(), false), "concurrencyKey" IS NOT NULL, "unmetDependencies" + (coalesce(coalesce("startAt", now() + make_interval(secs => "delaySeconds")) > now(), false))::int + ("concurrencyKey" IS NOT NULL)::int,
    "id", "capabilityKey", "hasDependents", "createdBy", "parentTaskId", "scheduleId", "scheduledFor", "commandKind", "traceparent", "taskType", "repositoryId", "agent", "instructions", "steps", "deliverables", "acceptance", "acceptanceScript", "inputContext", "concurrencyKey", "concurrencyLimit", "debounceKey", "title", "description", "priority", "metadata", "secrets", "estimatedDurationMinutes", "estimatedComplexity", "estimatedTokens", "estimateSource", "maxRetries", "retryBackoffSeconds", "timeoutSeconds", "projectId", "milestoneId", "requiredCapabilities"
  FROM input
  RETURNING id
),
sets AS (
  INSERT INTO capability_sets AS s (workspace_id, key, capabilities)
  SELECT DISTINCT ON (i."capabilityKey") $1::uuid, i."capabilityKey", i."requiredCapabilities"
    FROM input i
  -- Checked first because ON CONFLICT alone would write a row for each call. A set that is about to count
  -- as unused is written as well, so that it stays (see pruneCapabilitySets).
  WHERE NOT EXISTS (SELECT FROM capability_sets c WHERE c.workspace_id = $1
    AND c.key = i."capabilityKey"
    AND c.used_at > now() - interval '12 hours')
  ON CONFLICT (workspace_id, key) DO UPDATE SET used_at = now()
    WHERE s.used_at <= now() - interval '12 hours'
),
tagged AS (
  INSERT INTO agent_task_tags (workspace_id, task_id, tag)
  SELECT $1, i.id, t.tag FROM input i JOIN created c ON c.id = i.id CROSS
    JOIN LATERAL unnest(i.tags) AS t (tag)
),
edges AS (
  INSERT INTO task_dependencies (workspace_id, task_id, depends_on_id, policy, settled_at)
  SELECT $1, e.task_id, e.depends_on_id, e.policy, CASE WHEN e.settled THEN now() END
  FROM jsonb_to_recordset($3::jsonb) AS e (task_id uuid, depends_on_id uuid, policy text,
    settled boolean)
),
journaled AS (
  INSERT INTO journal (workspace_id, event, task_id, version, new_status, actor_kind, actor_id)
  SELECT $1, 'task.created', id, 1, 'PENDING', "actorKind", "actorId"
  FROM input
)
SELECT now() AS created_at

-- dead_tasks
SELECT t.workspace_id AS "workspaceId", t.id AS "id", t.title AS "title", t.description AS "description", t.task_type AS "taskType", t.project_id AS "projectId", t.milestone_id AS "milestoneId", t.status AS "status", t.version AS "version", t.priority AS "priority", t.run_id AS "runId", t.agent_id AS "agentId", t.session_key AS "sessionKey", t.generation AS "generation", t.progress_percent AS "progressPercent", t.current_step AS "currentStep", t.estimated_duration_minutes AS "estimatedDurationMinutes", t.estimated_completion_at AS "estimatedCompletionAt", t.estimated_complexity AS "estimatedComplexity", t.estimated_tokens AS "estimatedTokens", t.estimate_source AS "estimateSource", t.timeout_seconds AS "timeoutSeconds", t.retry_count AS "retryCount", t.max_retries AS "maxRetries", t.retry_backoff_seconds AS "retryBackoffSeconds", t.retry_at AS "retryAt", t.last_error AS "lastError", t.abort_reason AS "abortReason", t.abort_message AS "abortMessage", t.failure_reason AS "failureReason", t.required_capabilities AS "requiredCapabilities", t.unmet_dependencies AS "unmetDependencies", t.ready_at AS "readyAt", t.queue_expires_at AS "queueExpiresAt", t.agent AS "agent", t.instructions AS "instructions", t.steps AS "steps", t.deliverables AS "deliverables", t.acceptance AS "acceptance", t.acceptance_script AS "acceptanceScript", t.input_context AS "inputContext", t.output_result AS "outputResult", t.summary AS "summary", t.checkpoint_data AS "checkpointData", t.metadata AS "metadata", t.secrets AS "secrets", t.paused_by AS "pausedBy", t.paused_for AS "pausedFor", t.pause_reason AS "pauseReason", t.created_by AS "createdBy", t.parent_task_id AS "parentTaskId", t.continues_id AS "continuesId", t.schedule_id AS "scheduleId", t.scheduled_for AS "scheduledFor", t.repository_id AS "repositoryId", t.start_at AS "startAt", t.concurrency_key AS "concurrencyKey", t.concurrency_limit AS "concurrencyLimit", t.debounce_key AS "debounceKey", t.failure_fingerprint AS "failureFingerprint", t.replays_id AS "replaysId", t.replayed_by_id AS "replayedById", t.created_at AS "createdAt", t.updated_at AS "updatedAt", t.assigned_at AS "assignedAt", t.started_at AS "startedAt", t.paused_at AS "pausedAt", t.completed_at AS "completedAt", t.failed_at AS "failedAt", t.aborted_at AS "abortedAt", t.archived_at AS "archivedAt",
  ARRAY(SELECT g.tag FROM agent_task_tags g
    WHERE g.workspace_id = t.workspace_id AND g.task_id = t.id ORDER BY g.tag) AS tags,
  ARRAY(SELECT d.depends_on_id FROM task_dependencies d
    WHERE d.workspace_id = t.workspace_id AND d.task_id = t.id
      ORDER BY d.depends_on_id) AS "dependsOn",
  CASE WHEN t.has_dependents THEN ARRAY(SELECT d.task_id FROM task_dependencies d
    WHERE d.workspace_id = t.workspace_id AND d.depends_on_id = t.id ORDER BY d.task_id
    LIMIT 1000) ELSE '{}' END AS blocks, (SELECT jsonb_agg(to_jsonb(s)) FROM task_secrets s
  WHERE s.workspace_id = $1 AND s.task_id = t.id) AS originals,
  (SELECT jsonb_agg(jsonb_build_object('taskId', p.id, 'policy', d.policy,
      'isDead', p.failure_fingerprint IS NOT NULL, 'endedBadly', (p.status = 'FAILED' OR (p.status = 'ABORTED' AND p.retry_at IS NULL)
  OR (p.status = 'ARCHIVED' AND p.completed_at IS NULL))) ORDER BY p.id)
    FROM task_dependencies d CROSS JOIN LATERAL (
  WITH RECURSIVE later (id, next) AS (
    SELECT p.id, p.replayed_by_id FROM agent_tasks p WHERE p.workspace_id = $1 AND p.id = d.depends_on_id
    UNION ALL
    SELECT p.id, p.replayed_by_id FROM later l
    JOIN agent_tasks p ON p.workspace_id = $1 AND p.id = l.next
  )
  SELECT p.* FROM later l JOIN agent_tasks p ON p.workspace_id = $1 AND p.id = l.id
  WHERE l.next IS NULL) p
    WHERE d.workspace_id = $1 AND d.task_id = t.id) AS edges
FROM agent_tasks t
WHERE t.workspace_id = $1 AND t.id = ANY ($2::uuid[]) AND t.failure_fingerprint IS NOT NULL
ORDER BY t.id

-- delete_task_template
DELETE FROM task_templates WHERE workspace_id = $1 AND id = $2 RETURNING id

-- dependents_of
WITH RECURSIVE reached (id) AS (
  SELECT unnest($2::uuid[])
  UNION
  SELECT further.id FROM reached r CROSS JOIN LATERAL (
    SELECT d.task_id AS id FROM task_dependencies d
      WHERE d.workspace_id = $1 AND d.depends_on_id = r.id AND d.settled_at IS NULL
      -- The whole of which it is a part goes on without it.
      AND NOT EXISTS (SELECT FROM agent_tasks part WHERE part.workspace_id = $1 AND part.id = r.id
        AND part.parent_task_id = d.task_id)
    UNION ALL
    SELECT s.id FROM agent_tasks s WHERE s.workspace_id = $1 AND s.parent_task_id = r.id) further
)
SELECT t.id FROM agent_tasks t
WHERE t.workspace_id = $1 AND t.id = ANY(ARRAY(SELECT id FROM reached)) AND (t.id = ANY($2::uuid[])
  OR (t.status IN ('PENDING', 'ASSIGNED', 'RUNNING', 'PAUSED') OR (t.status = 'ABORTED' AND t.retry_at IS NOT NULL)))
LIMIT $3

-- edges_behind
WITH RECURSIVE reached (id) AS (
  SELECT unnest($2::uuid[])
  UNION
  SELECT d.depends_on_id FROM reached r
  JOIN agent_tasks t ON t.workspace_id = $1 AND t.id = r.id AND t.completed_at IS NULL
  JOIN task_dependencies d ON d.workspace_id = $1 AND d.task_id = r.id
)
SELECT d.task_id, d.depends_on_id
FROM reached r JOIN task_dependencies d ON d.workspace_id = $1 AND d.task_id = r.id
LIMIT $3

-- edges_of_task
SELECT depends_on_id, policy FROM task_dependencies WHERE workspace_id = $1 AND task_id = $2

-- family_of
SELECT id FROM agent_tasks
WHERE workspace_id = $1 AND id = ANY($3::uuid[]) AND (id = $2 OR parent_task_id = $2)

-- find_task_template
SELECT t.id, t.name, t.description, t.task, t.created_by, t.version, t.created_at, t.updated_at, (SELECT to_jsonb(o) FROM task_template_secrets o
  WHERE o.workspace_id = t.workspace_id AND o.template_id = t.id) AS original
FROM task_templates t WHERE t.workspace_id = $1 AND t.id = $2

-- graph_edges
SELECT task_id, depends_on_id, policy, settled_at IS NOT NULL AS settled
FROM task_dependencies
WHERE workspace_id = $1 AND task_id = ANY($2::uuid[]) AND depends_on_id = ANY($2::uuid[])
ORDER BY task_id, depends_on_id
LIMIT $3

-- graph_tasks
WITH RECURSIVE before (id) AS (
  SELECT $2::uuid
  UNION
  SELECT d.depends_on_id FROM before b JOIN task_dependencies d ON d.workspace_id = $1
    AND d.task_id = b.id
), after (id) AS (
  SELECT $2::uuid
  UNION
  SELECT d.task_id FROM after a JOIN task_dependencies d ON d.workspace_id = $1
    AND d.depends_on_id = a.id
), sides (before, after) AS (
  SELECT ARRAY(SELECT id FROM before LIMIT $3 + 1), ARRAY(SELECT id FROM after LIMIT $3 + 1)
)
SELECT t.id, t.title, t.status, t.retry_at, t.abort_reason, t.paused_for,
  cardinality(s.before) <= $3 AND cardinality(s.after) <= $3 AS whole
FROM sides s JOIN agent_tasks t
  ON t.workspace_id = $1 AND t.id = ANY(s.before[:$3] || s.after[:$3])
ORDER BY t.id

-- hasten_pauses
UPDATE task_runs r SET pause_requested_at = now(), pause_after_turn = false
WHERE r.workspace_id = $1 AND r.id = ANY($2::uuid[]) AND r.pause_after_turn
RETURNING r.id

-- insert_task_template
INSERT INTO task_templates (workspace_id, id, name, description, task, created_by)
SELECT $1, $2, $3, $4, $5::jsonb, $6::uuid
WHERE (SELECT count(*) FROM task_templates WHERE workspace_id = $1) < $7::int
RETURNING id

-- leave_dead_letter
WITH changed AS (
  UPDATE agent_tasks t SET failure_fingerprint = NULL, version = t.version + 1, updated_at = now()
  WHERE t.workspace_id = $1 AND t.id = ANY ($2::uuid[]) AND t.failure_fingerprint IS NOT NULL
  RETURNING t.id, t.version, t.status
),
journaled AS (
  INSERT INTO journal (workspace_id, event, log_event, task_id, version, details, previous_status, new_status, actor_kind, actor_id)
  SELECT $1, 'task.updated', 'task_updated', c.id, c.version, $5::jsonb || jsonb_build_object('changedFields', $6::text[]), c.status, c.status, $3, $4
  FROM changed c
)
SELECT id FROM changed

-- link_continuation
UPDATE agent_tasks SET continues_id = $3, checkpoint_data = $4::jsonb
WHERE workspace_id = $1 AND id = $2 RETURNING id

-- link_replays
WITH pairs AS MATERIALIZED (
  SELECT * FROM unnest($2::uuid[], $7::uuid[]) AS p (dead_id, replay_id)
),
dead AS MATERIALIZED (
  SELECT p.* FROM pairs p
  JOIN agent_tasks t ON t.workspace_id = $1 AND t.id = p.dead_id AND t.failure_fingerprint IS NOT NULL
  ORDER BY p.dead_id
  FOR NO KEY UPDATE OF t
),
linked AS (
  UPDATE agent_tasks t SET replays_id = d.dead_id FROM dead d WHERE t.workspace_id = $1 AND t.id = d.replay_id
),
changed AS (
  UPDATE agent_tasks t SET replayed_by_id = d.replay_id, failure_fingerprint = NULL, version = t.version + 1,
    updated_at = now()
  FROM dead d WHERE t.workspace_id = $1 AND t.id = d.dead_id
  RETURNING t.id, t.version, t.status
),
journaled AS (
  INSERT INTO journal (workspace_id, event, log_event, task_id, version, details, previous_status, new_status, actor_kind, actor_id)
  SELECT $1, 'task.updated', 'task_updated', c.id, c.version, $5::jsonb || jsonb_build_object('changedFields', $6::text[]), c.status, c.status, $3, $4
  FROM changed c
)
SELECT id FROM changed

-- list_dead_letter_groups
WITH groups AS MATERIALIZED (
  SELECT t.failure_fingerprint AS fingerprint, count(*)::int AS count
  FROM agent_tasks t
  WHERE t.workspace_id = $1 AND t.failure_fingerprint IS NOT NULL
  GROUP BY t.failure_fingerprint
),
page AS (
  SELECT g.* FROM groups g
  WHERE $2::int IS NULL OR g.count < $2 OR (g.count = $2 AND g.fingerprint > $3)
  ORDER BY g.count DESC, g.fingerprint LIMIT $4
)
SELECT p.fingerprint, p.count, t.id AS task_id, t.title, t.task_type, coalesce(t.failure_reason, t.abort_reason) AS reason,
  t.last_error, coalesce(t.failed_at, t.aborted_at) AS failed_at
FROM page p CROSS JOIN LATERAL (
  SELECT t.* FROM agent_tasks t
  WHERE t.workspace_id = $1 AND t.failure_fingerprint = p.fingerprint
  ORDER BY t.id DESC LIMIT 1) t
ORDER BY p.count DESC, p.fingerprint

-- list_task_templates
WITH found AS MATERIALIZED (
  SELECT t.id, CASE WHEN pg_column_compression(t.task) IS NULL THEN coalesce(pg_column_size(t.task), 0)
    ELSE octet_length(t.task::text) END AS bytes FROM task_templates t
  WHERE t.workspace_id = $1 AND ($2::uuid IS NULL OR t.id < $2) AND ($4::text IS NULL OR t.name = $4)
  ORDER BY t.id DESC LIMIT $3
),
page AS MATERIALIZED (
  SELECT id, count(*) OVER () < (SELECT count(*) FROM found) AS cut
  FROM (SELECT id, sum(bytes) OVER (ORDER BY id DESC) - bytes AS before FROM found) f
  WHERE before < 8388608
)
SELECT page.cut, t.id, t.name, t.description, t.task, t.created_by, t.version, t.created_at, t.updated_at FROM page JOIN task_templates t ON t.workspace_id = $1 AND t.id = page.id
ORDER BY t.id DESC

-- lock_debounce_key
SELECT pg_advisory_xact_lock(hashtextextended('debounce ' || $1::text || ' ' || $2::text, 0))

-- lock_prerequisite_rows
SELECT t.id, t.status, (t.status = 'COMPLETED' OR (t.status = 'ARCHIVED' AND t.completed_at IS NOT NULL)) AS completed, bad.ended_without_success,
  NOT t.has_dependents OR (bad.ended_without_success AND NOT t.dependents_unsettled) AS unmarked
FROM agent_tasks t CROSS JOIN LATERAL (SELECT (t.status = 'FAILED' OR (t.status = 'ABORTED' AND t.retry_at IS NULL)
  OR (t.status = 'ARCHIVED' AND t.completed_at IS NULL)) AS ended_without_success) bad
WHERE t.workspace_id = $1 AND t.id = ANY($2::uuid[])
ORDER BY t.id
FOR NO KEY UPDATE OF t

-- lock_task_template
SELECT t.id FROM task_templates t WHERE t.workspace_id = $1 AND t.id = $2 FOR NO KEY UPDATE

-- lock_task_templates
SELECT pg_advisory_xact_lock(hashtextextended('task templates of ' || $1::text, 0))

-- mark_prerequisites
UPDATE agent_tasks t
SET has_dependents = true, dependents_unsettled = t.dependents_unsettled OR t.id = ANY($3::uuid[])
WHERE t.workspace_id = $1 AND t.id = ANY($2::uuid[])

-- move_start
WITH waiting AS MATERIALIZED (
  SELECT t.id FROM agent_tasks t
  WHERE t.workspace_id = $1 AND t.debounce_key = $2 AND t.waits_for_start AND t.status = 'PENDING'
  ORDER BY t.id DESC LIMIT 1
  FOR NO KEY UPDATE
),
changed AS (
  UPDATE agent_tasks t SET version = t.version + 1, updated_at = now(),
    start_at = coalesce($7::timestamptz, now() + make_interval(secs => $8::int)),
    queue_expires_at = coalesce($9::timestamptz, now() + make_interval(secs => $10::int))
  FROM waiting w WHERE t.workspace_id = $1 AND t.id = w.id
  RETURNING t.id, t.version, t.status
),
journaled AS (
  INSERT INTO journal (workspace_id, event, log_event, task_id, version, details, previous_status, new_status, actor_kind, actor_id)
  SELECT $1, 'task.updated', 'start_moved', c.id, c.version, $5::jsonb || jsonb_build_object('changedFields', $6::text[]), c.status, c.status, $3, $4
  FROM changed c
)
SELECT id FROM changed

-- named_repositories
SELECT id, project_id, archived_at IS NOT NULL AS is_archived FROM repositories
WHERE workspace_id = $1 AND id = ANY($2::uuid[])

-- named_things
SELECT
  $2::uuid IS NULL OR EXISTS (SELECT FROM agents WHERE workspace_id = $1 AND id = $2) AS agent,
  $3::uuid IS NULL OR EXISTS (SELECT FROM projects WHERE workspace_id = $1 AND id = $3) AS project,
  $4::uuid IS NULL OR EXISTS (SELECT FROM milestones
    WHERE workspace_id = $1 AND id = $4) AS milestone,
  $5::uuid IS NULL OR EXISTS (SELECT FROM agent_tasks
    WHERE workspace_id = $1 AND id = $5) AS parent

-- parent_of_subtasks
WITH RECURSIVE above (parent_id, depth) AS (
  SELECT parent_task_id, 0 FROM agent_tasks WHERE workspace_id = $1 AND id = $2
  UNION ALL
  SELECT t.parent_task_id, a.depth + 1 FROM above a
  JOIN agent_tasks t ON t.workspace_id = $1 AND t.id = a.parent_id
)
SELECT run_id, agent_id, priority, project_id, milestone_id, (SELECT max(depth) FROM above) AS depth
FROM agent_tasks WHERE workspace_id = $1 AND id = $2

-- prerequisites_of
SELECT p.id, p.title, p.status, d.policy, d.settled_at, d.created_at
FROM task_dependencies d JOIN agent_tasks p ON p.workspace_id = $1 AND p.id = d.depends_on_id
WHERE d.workspace_id = $1 AND d.task_id = $2
ORDER BY p.id

-- prioritize_tasks
WITH locked AS MATERIALIZED (
  SELECT t.id, t.priority AS before FROM agent_tasks t
  WHERE t.workspace_id = $1 AND t.id = ANY($2::uuid[]) AND t.priority <> $5::int
    AND NOT t.status IN ('COMPLETED', 'ARCHIVED')
  ORDER BY t.id
  FOR NO KEY UPDATE
),
changed AS (
  UPDATE agent_tasks t SET priority = $5::int, version = t.version + 1, updated_at = now()
  FROM locked l WHERE t.workspace_id = $1 AND t.id = l.id
  RETURNING t.id, t.version, t.status, l.before
),
journaled AS (
  INSERT INTO journal (workspace_id, event, log_event, task_id, version, details, previous_status, new_status, actor_kind, actor_id)
  SELECT $1, 'task.updated', 'task_updated', c.id, c.version, jsonb_build_object('changed', jsonb_build_object('priority',
  jsonb_build_object('from', c.before, 'to', $5::int))) || jsonb_build_object('changedFields', $6::text[]), c.status, c.status, $3, $4
  FROM changed c
)
SELECT id FROM changed

-- reconsider_prerequisites
UPDATE agent_tasks p SET dependents_unsettled = true
FROM task_dependencies d
WHERE d.workspace_id = $1 AND d.task_id = ANY($2::uuid[]) AND d.settled_at IS NULL
  AND p.workspace_id = $1 AND p.id = d.depends_on_id
  AND ((p.status = 'COMPLETED' OR (p.status = 'ARCHIVED' AND p.completed_at IS NOT NULL)) OR (p.status = 'FAILED' OR (p.status = 'ABORTED' AND p.retry_at IS NULL)
  OR (p.status = 'ARCHIVED' AND p.completed_at IS NULL)))
RETURNING p.id

-- recount_dependencies
WITH counted AS MATERIALIZED (
  SELECT count(*)::int AS edges FROM task_dependencies
  WHERE workspace_id = $1 AND task_id = $2 AND settled_at IS NULL
),
changed AS (
  UPDATE agent_tasks t SET
    version = t.version + 1,
    updated_at = now(),
    unmet_dependencies = (c.edges + t.waits_for_start::int + t.waits_for_slot::int),
    ready_at = CASE WHEN (c.edges + t.waits_for_start::int + t.waits_for_slot::int) = 0 THEN coalesce(t.ready_at, now()) END
  FROM counted c
  WHERE t.workspace_id = $1 AND t.id = $2
  RETURNING t.id, t.version, t.status, t.unmet_dependencies = 0
    AND old.unmet_dependencies > 0 AS became_ready
),
journaled AS (
  INSERT INTO journal (workspace_id, event, log_event, task_id, version, details, previous_status, new_status, actor_kind, actor_id)
  SELECT $1, 'task.updated', 'dependencies_changed', c.id, c.version, $5::jsonb || jsonb_build_object('changedFields', $6::text[]), c.status, c.status, $3, $4
  FROM changed c
)
SELECT version, became_ready FROM changed

-- request_pause
UPDATE task_runs r SET pause_requested_at = CASE WHEN $3::boolean THEN now() END,
  pause_after_turn = $3::boolean AND $4::boolean AND t.agent IS NOT NULL,
  hung_warned_at = NULL
FROM agent_tasks t
WHERE r.workspace_id = $1 AND r.id = ANY($2::uuid[])
  AND t.workspace_id = r.workspace_id AND t.id = r.task_id
RETURNING r.id

-- resume_tasks
WITH over AS MATERIALIZED (
  SELECT p.workspace_id, p.task_type::text FROM pauses p
  WHERE p.task_type IS NOT NULL
  GROUP BY p.workspace_id, p.task_type
  HAVING bool_and(p.ended_at IS NOT NULL OR coalesce(p.until <= now(), false))
),
free AS MATERIALIZED (
  SELECT h.workspace_id, h.id
  FROM over o CROSS JOIN LATERAL (
    SELECT t.workspace_id, t.id FROM agent_tasks t
    WHERE t.workspace_id = o.workspace_id AND t.task_type = o.task_type AND t.capability_key LIKE '!%'
    ORDER BY t.queue_rank
    LIMIT $1
    FOR NO KEY UPDATE SKIP LOCKED) h
  LIMIT $1
)
UPDATE agent_tasks t SET capability_key = substr(t.capability_key, 2)
FROM free f WHERE t.workspace_id = f.workspace_id AND t.id = f.id
RETURNING t.workspace_id, t.status

-- runs_of_task
SELECT r.id AS "id", r.task_id AS "taskId", r.agent_id AS "agentId", r.generation AS "generation", r.state AS "state", r.version AS "version", r.session_key AS "sessionKey", r.lease_seconds AS "leaseSeconds", r.lease_by_heartbeat AS "leaseByHeartbeat", r.renewals AS "renewals", r.deadline_at AS "deadlineAt", r.pause_requested_at AS "pauseRequestedAt", r.pause_after_turn AS "pauseAfterTurn", r.end_reason AS "endReason", r.error AS "error", r.error_class AS "errorClass", r.exit_code AS "exitCode", r.signal AS "signal", r.stack_trace AS "stackTrace", r.branch AS "branch", r.review_url AS "reviewUrl", r.assigned_at AS "assignedAt", r.started_at AS "startedAt", r.stale_at AS "staleAt", r.ended_at AS "endedAt", r.last_report_at AS "lastReportAt", r.last_progress_at AS "lastProgressAt", r.hung_warned_at AS "hungWarnedAt", r.budget_ids AS "budgetIds", r.held_tokens AS "heldTokens", r.estimated_tokens AS "estimatedTokens", r.used_tokens AS "usedTokens", r.used_cost_usd AS "usedCostUsd", r.model AS "model", greatest(r.lease_expires_at, CASE WHEN r.lease_by_heartbeat
  AND r.ended_at IS NULL THEN (
    SELECT h.last_seen_at + make_interval(secs => r.lease_seconds) FROM agent_heartbeats h
    WHERE h.workspace_id = r.workspace_id AND h.agent_id = r.agent_id) END) AS "leaseExpiresAt" FROM task_runs r
WHERE r.workspace_id = $1 AND r.task_id = $2 AND r.generation < coalesce($3::int, 2147483647)
ORDER BY r.generation DESC
LIMIT $4

-- suspend_paused_tasks
WITH paused AS MATERIALIZED (
  SELECT p.workspace_id, p.task_type::text FROM pauses p
  WHERE p.task_type IS NOT NULL AND p.ended_at IS NULL AND (p.until IS NULL OR p.until > now())
),
head AS MATERIALIZED (
  SELECT h.workspace_id, h.id
  FROM capability_sets c CROSS JOIN LATERAL (
    SELECT t.workspace_id, t.id, t.task_type FROM agent_tasks t
    WHERE t.workspace_id = c.workspace_id AND t.capability_key = c.key
      AND (t.status = 'PENDING' AND t.unmet_dependencies = 0)
    ORDER BY t.queue_rank
    LIMIT 5000) h
  JOIN paused p ON p.workspace_id = h.workspace_id AND p.task_type = h.task_type
  WHERE c.workspace_id IN (SELECT workspace_id FROM paused)
  LIMIT $1
),
locked AS MATERIALIZED (
  SELECT t.workspace_id, t.id FROM head h
  JOIN agent_tasks t ON t.workspace_id = h.workspace_id AND t.id = h.id
  -- The second of two concurrent sweeps must not suspend it again.
  WHERE t.status = 'PENDING' AND NOT t.capability_key LIKE '!%'
  ORDER BY t.id
  FOR NO KEY UPDATE OF t SKIP LOCKED
)
UPDATE agent_tasks t SET capability_key = '!' || t.capability_key
FROM locked l WHERE t.workspace_id = l.workspace_id AND t.id = l.id
RETURNING t.workspace_id

-- take_dependency_turn
SELECT pg_advisory_xact_lock(hashtextextended('task_dependencies:' || $1::text, 0))

-- take_over_pauses
UPDATE agent_tasks t SET paused_by = $3, paused_for = 'request', paused_for_id = NULL,
  pause_reason = $4,
  updated_at = now()
WHERE t.workspace_id = $1 AND t.id = ANY($2::uuid[]) AND (t.status = 'PAUSED' AND t.paused_for IN ('budget', 'provider'))
RETURNING t.id

-- task_counts
SELECT * FROM (
  SELECT ready, pending - ready AS blocked, assigned, running, paused, retrying FROM (
    SELECT
      (SELECT count(*)::int FROM agent_tasks WHERE status = 'PENDING') AS pending,
      (SELECT count(*)::int FROM agent_tasks t WHERE (t.status = 'PENDING' AND t.unmet_dependencies = 0)) AS ready,
      (SELECT count(*)::int FROM agent_tasks WHERE status = 'ASSIGNED') AS assigned,
      (SELECT count(*)::int FROM agent_tasks WHERE status = 'RUNNING') AS running,
      (SELECT count(*)::int FROM agent_tasks WHERE status = 'PAUSED') AS paused,
      (SELECT count(*)::int FROM agent_tasks t WHERE (t.status = 'ABORTED' AND t.retry_at IS NOT NULL)) AS retrying
  ) counts
) t

-- task_state
SELECT status, version, unmet_dependencies, run_id, agent_id, parent_task_id
FROM agent_tasks WHERE workspace_id = $1 AND id = $2

-- task_throughput
WITH span AS MATERIALIZED (
  SELECT to_timestamp((floor(extract(epoch FROM now()) / $2::int) + 1 - $3::int) * $2) AS since
),
ended AS MATERIALIZED (
  SELECT floor(extract(epoch FROM t.completed_at - s.since) / $2)::int AS step,
    extract(epoch FROM coalesce(t.started_at, t.assigned_at) - coalesce(t.ready_at, t.created_at)) AS waited,
    extract(epoch FROM t.completed_at - coalesce(t.started_at, t.assigned_at)) AS ran
  FROM agent_tasks t CROSS JOIN span s
  WHERE t.workspace_id = $1 AND t.completed_at IS NOT NULL AND t.completed_at >= s.since
),
failed AS MATERIALIZED (
  SELECT floor(extract(epoch FROM t.failed_at - s.since) / $2)::int AS step, count(*)::int AS count
  FROM agent_tasks t CROSS JOIN span s
  WHERE t.workspace_id = $1 AND t.failed_at IS NOT NULL AND t.failed_at >= s.since
    AND t.status = 'FAILED'
  GROUP BY 1
),
steps AS (
  SELECT array_agg(coalesce(c.count, 0) ORDER BY n.step) AS counts,
    array_agg(coalesce(f.count, 0) ORDER BY n.step) AS failures
  FROM generate_series(0, $3 - 1) AS n (step)
  LEFT JOIN (SELECT step, count(*)::int AS count FROM ended GROUP BY step) c ON c.step = n.step
  LEFT JOIN failed f ON f.step = n.step
)
SELECT e.completed, (SELECT coalesce(sum(count), 0)::int FROM failed) AS failed, e.wait, e.run,
  steps.counts, steps.failures,
  span.since + make_interval(secs => $2 * $3) AS until
FROM span, steps, (
  SELECT count(*)::int AS completed,
    percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY greatest(waited, 0)::float8) AS wait,
    percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY greatest(ran, 0)::float8) AS run
  FROM ended
) e

-- task_views
SELECT t.workspace_id AS "workspaceId", t.id AS "id", t.title AS "title", t.description AS "description", t.task_type AS "taskType", t.project_id AS "projectId", t.milestone_id AS "milestoneId", t.status AS "status", t.version AS "version", t.priority AS "priority", t.run_id AS "runId", t.agent_id AS "agentId", t.session_key AS "sessionKey", t.generation AS "generation", t.progress_percent AS "progressPercent", t.current_step AS "currentStep", t.estimated_duration_minutes AS "estimatedDurationMinutes", t.estimated_completion_at AS "estimatedCompletionAt", t.estimated_complexity AS "estimatedComplexity", t.estimated_tokens AS "estimatedTokens", t.estimate_source AS "estimateSource", t.timeout_seconds AS "timeoutSeconds", t.retry_count AS "retryCount", t.max_retries AS "maxRetries", t.retry_backoff_seconds AS "retryBackoffSeconds", t.retry_at AS "retryAt", t.last_error AS "lastError", t.abort_reason AS "abortReason", t.abort_message AS "abortMessage", t.failure_reason AS "failureReason", t.required_capabilities AS "requiredCapabilities", t.unmet_dependencies AS "unmetDependencies", t.ready_at AS "readyAt", t.queue_expires_at AS "queueExpiresAt", t.agent AS "agent", t.instructions AS "instructions", t.steps AS "steps", t.deliverables AS "deliverables", t.acceptance AS "acceptance", t.acceptance_script AS "acceptanceScript", t.input_context AS "inputContext", t.output_result AS "outputResult", t.summary AS "summary", t.checkpoint_data AS "checkpointData", t.metadata AS "metadata", t.secrets AS "secrets", t.paused_by AS "pausedBy", t.paused_for AS "pausedFor", t.pause_reason AS "pauseReason", t.created_by AS "createdBy", t.parent_task_id AS "parentTaskId", t.continues_id AS "continuesId", t.schedule_id AS "scheduleId", t.scheduled_for AS "scheduledFor", t.repository_id AS "repositoryId", t.start_at AS "startAt", t.concurrency_key AS "concurrencyKey", t.concurrency_limit AS "concurrencyLimit", t.debounce_key AS "debounceKey", t.failure_fingerprint AS "failureFingerprint", t.replays_id AS "replaysId", t.replayed_by_id AS "replayedById", t.created_at AS "createdAt", t.updated_at AS "updatedAt", t.assigned_at AS "assignedAt", t.started_at AS "startedAt", t.paused_at AS "pausedAt", t.completed_at AS "completedAt", t.failed_at AS "failedAt", t.aborted_at AS "abortedAt", t.archived_at AS "archivedAt",
  ARRAY(SELECT g.tag FROM agent_task_tags g
    WHERE g.workspace_id = t.workspace_id AND g.task_id = t.id ORDER BY g.tag) AS tags,
  ARRAY(SELECT d.depends_on_id FROM task_dependencies d
    WHERE d.workspace_id = t.workspace_id AND d.task_id = t.id
      ORDER BY d.depends_on_id) AS "dependsOn",
  CASE WHEN t.has_dependents THEN ARRAY(SELECT d.task_id FROM task_dependencies d
    WHERE d.workspace_id = t.workspace_id AND d.depends_on_id = t.id ORDER BY d.task_id
    LIMIT 1000) ELSE '{}' END AS blocks, (SELECT coalesce(jsonb_agg(jsonb_build_object('taskId', d.depends_on_id,
    'policy', d.policy, 'settled', d.settled_at IS NOT NULL) ORDER BY d.depends_on_id), '[]')
  FROM task_dependencies d WHERE d.workspace_id = t.workspace_id
    AND d.task_id = t.id) AS dependencies
FROM agent_tasks t
WHERE t.workspace_id = $1 AND t.id = ANY($2::uuid[])

-- unknown_tasks
SELECT asked.id FROM unnest($2::uuid[]) AS asked (id)
WHERE NOT EXISTS (SELECT FROM agent_tasks t WHERE t.workspace_id = $1 AND t.id = asked.id)

-- update_task
WITH input AS MATERIALIZED (
  SELECT u.*, array_to_string(u."requiredCapabilities", ',') AS "capabilityKey"
  FROM jsonb_to_record($7::jsonb) AS u ("title" text, "description" text, "priority" int, "metadata" jsonb, "secrets" jsonb, "estimatedDurationMinutes" int, "estimatedComplexity" int, "estimatedTokens" bigint, "estimateSource" text, "maxRetries" int, "retryBackoffSeconds" int, "timeoutSeconds" int, "projectId" uuid, "milestoneId" uuid, "requiredCapabilities" text[])
),
sets AS (
  INSERT INTO capability_sets AS s (workspace_id, key, capabilities)
  SELECT DISTINCT ON (i."capabilityKey") $1::uuid, i."capabilityKey", i."requiredCapabilities"
    FROM input i
  -- Checked first because ON CONFLICT alone would write a row for each call. A set that is about to count
  -- as unused is written as well, so that it stays (see pruneCapabilitySets).
  WHERE NOT EXISTS (SELECT FROM capability_sets c WHERE c.workspace_id = $1
    AND c.key = i."capabilityKey"
    AND c.used_at > now() - interval '12 hours')
  ON CONFLICT (workspace_id, key) DO UPDATE SET used_at = now()
    WHERE s.used_at <= now() - interval '12 hours'
),
changed AS (
  UPDATE agent_tasks t SET
    version = t.version + 1,
    updated_at = now(),
    title = u."title", description = u."description", priority = u."priority", metadata = u."metadata", secrets = u."secrets", estimated_duration_minutes = u."estimatedDurationMinutes", estimated_complexity = u."estimatedComplexity", estimated_tokens = u."estimatedTokens", estimate_source = u."estimateSource", max_retries = u."maxRetries", retry_backoff_seconds = u."retryBackoffSeconds", timeout_seconds = u."timeoutSeconds", project_id = u."projectId", milestone_id = u."milestoneId", required_capabilities = u."requiredCapabilities",
    capability_key = CASE WHEN t.capability_key LIKE '!%' THEN '!' || u."capabilityKey" ELSE u."capabilityKey" END
  FROM input u
  WHERE t.workspace_id = $1 AND t.id = $2
  RETURNING t.id, t.version, t.status
),
untagged AS (
  DELETE FROM agent_task_tags WHERE workspace_id = $1 AND task_id = $2 AND tag = ANY($8::text[])
),
tagged AS (
  INSERT INTO agent_task_tags (workspace_id, task_id, tag) SELECT $1, $2, unnest($9::text[])
),
journaled AS (
  INSERT INTO journal (workspace_id, event, log_event, task_id, version, details, previous_status, new_status, actor_kind, actor_id)
  SELECT $1, 'task.updated', 'task_updated', c.id, c.version, $5::jsonb || jsonb_build_object('changedFields', $6::text[]), c.status, c.status, $3, $4
  FROM changed c
)
SELECT version FROM changed

-- waiting_for
SELECT p.id, p.title, p.status, d.policy, d.settled_at, d.created_at
FROM task_dependencies d JOIN agent_tasks p ON p.workspace_id = $1 AND p.id = d.task_id
WHERE d.workspace_id = $1 AND d.depends_on_id = $2 AND ($3::uuid IS NULL OR d.task_id > $3)
ORDER BY p.id
LIMIT $4

-- waits_for
WITH RECURSIVE reached (id) AS (
  SELECT unnest($2::uuid[])
  UNION
  SELECT d.depends_on_id FROM reached r
  JOIN agent_tasks t ON t.workspace_id = $1 AND t.id = r.id AND t.completed_at IS NULL
  JOIN task_dependencies d ON d.workspace_id = $1 AND d.task_id = r.id
) SELECT EXISTS (SELECT FROM reached WHERE id = $3) AS found

-- write_edges
WITH removed AS (
  DELETE FROM task_dependencies
  WHERE workspace_id = $1 AND task_id = $2 AND depends_on_id = ANY($3::uuid[])
)
INSERT INTO task_dependencies AS d (workspace_id, task_id, depends_on_id, policy, settled_at)
SELECT $1, $2, e.depends_on_id, e.policy, CASE WHEN e.settled THEN now() END
FROM jsonb_to_recordset($4::jsonb) AS e (depends_on_id uuid, policy text, settled boolean)
ON CONFLICT (workspace_id, task_id, depends_on_id)
  DO UPDATE SET policy = excluded.policy,
    settled_at = CASE WHEN d.policy = 'ignore' AND excluded.policy <> 'ignore' THEN excluded.settled_at
      ELSE coalesce(d.settled_at, excluded.settled_at) END,
    created_at = CASE WHEN d.policy = 'ignore' AND excluded.policy <> 'ignore' THEN now() ELSE d.created_at END
