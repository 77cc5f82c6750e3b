-- The statements as they run. Made by `npm run generate`; change the modules that declare them.

-- apply_and_detach
WITH task_move AS MATERIALIZED (
    SELECT * FROM jsonb_to_recordset($1::jsonb) AS m (workspace_id uuid, task_id uuid, to_status text, actor_kind text, actor_id text, reason text, message text, level text, details jsonb, stack_trace text, run_id uuid, agent_id uuid, session_key text, retry_after_seconds float8, counts_as_retry boolean, resets_retries boolean, last_error text, output_result jsonb, summary text, checkpoint_data jsonb, answers jsonb, keeps_run boolean, paused_for text, paused_for_id uuid)),
task_moved AS (
  UPDATE agent_tasks t SET
    status = m.to_status, version = t.version + 1, updated_at = now(),
    run_id = CASE m.to_status WHEN 'PENDING' THEN NULL WHEN 'ASSIGNED' THEN m.run_id WHEN 'PAUSED' THEN CASE WHEN m.keeps_run THEN t.run_id END WHEN 'ABORTED' THEN NULL WHEN 'FAILED' THEN NULL WHEN 'COMPLETED' THEN NULL ELSE t.run_id END,
    agent_id = CASE m.to_status WHEN 'PENDING' THEN NULL WHEN 'ASSIGNED' THEN m.agent_id WHEN 'ABORTED' THEN NULL ELSE t.agent_id END,
    session_key = CASE m.to_status WHEN 'PENDING' THEN NULL WHEN 'ABORTED' THEN NULL ELSE coalesce(m.session_key, t.session_key) END,
    retry_count = CASE m.to_status WHEN 'PENDING' THEN CASE WHEN m.resets_retries THEN 0 ELSE t.retry_count END WHEN 'ABORTED' THEN t.retry_count + coalesce(m.counts_as_retry, false)::int ELSE t.retry_count END,
    retry_at = CASE m.to_status WHEN 'PENDING' THEN NULL WHEN 'ABORTED' THEN now() + make_interval(secs => m.retry_after_seconds) WHEN 'FAILED' THEN NULL WHEN 'ARCHIVED' THEN NULL ELSE t.retry_at END,
    abort_reason = CASE m.to_status WHEN 'PENDING' THEN NULL WHEN 'ABORTED' THEN m.reason ELSE t.abort_reason END,
    abort_message = CASE m.to_status WHEN 'PENDING' THEN NULL WHEN 'ABORTED' THEN m.message ELSE t.abort_message END,
    failure_fingerprint = CASE m.to_status WHEN 'PENDING' THEN NULL WHEN 'ABORTED' THEN CASE WHEN m.retry_after_seconds IS NULL AND NOT coalesce(m.reason IN ('cancelled', 'dependency_cancelled'), false)
      THEN failure_fingerprint(t.task_type, m.reason, coalesce(m.last_error, t.last_error)) END WHEN 'FAILED' THEN failure_fingerprint(t.task_type, m.reason, coalesce(m.last_error, t.last_error)) WHEN 'ARCHIVED' THEN NULL ELSE t.failure_fingerprint END,
    failure_reason = CASE m.to_status WHEN 'PENDING' THEN NULL WHEN 'FAILED' THEN m.reason ELSE t.failure_reason END,
    queue_expires_at = CASE m.to_status WHEN 'PENDING' THEN CASE WHEN m.resets_retries OR t.status = 'PAUSED' THEN NULL
      ELSE t.queue_expires_at END WHEN 'ASSIGNED' THEN NULL ELSE t.queue_expires_at END,
    current_step = CASE m.to_status WHEN 'PENDING' THEN NULL WHEN 'COMPLETED' THEN NULL ELSE t.current_step END,
    estimated_completion_at = CASE m.to_status WHEN 'PENDING' THEN NULL WHEN 'RUNNING' THEN CASE t.status
      WHEN 'ASSIGNED' THEN coalesce(now() + make_interval(mins => t.estimated_duration_minutes), t.estimated_completion_at)
      ELSE t.estimated_completion_at + (now() - t.paused_at) END ELSE t.estimated_completion_at END,
    paused_by = CASE m.to_status WHEN 'PENDING' THEN NULL WHEN 'RUNNING' THEN NULL WHEN 'PAUSED' THEN m.actor_kind || coalesce(':' || m.actor_id, '') ELSE t.paused_by END,
    paused_for = CASE m.to_status WHEN 'PENDING' THEN NULL WHEN 'RUNNING' THEN NULL WHEN 'PAUSED' THEN m.paused_for ELSE t.paused_for END,
    paused_for_id = CASE m.to_status WHEN 'PENDING' THEN NULL WHEN 'RUNNING' THEN NULL WHEN 'PAUSED' THEN m.paused_for_id ELSE t.paused_for_id END,
    pause_reason = CASE m.to_status WHEN 'PENDING' THEN NULL WHEN 'RUNNING' THEN NULL WHEN 'PAUSED' THEN m.reason ELSE t.pause_reason END,
    ready_at = CASE m.to_status WHEN 'PENDING' THEN CASE WHEN t.unmet_dependencies > 0 OR coalesce(m.resets_retries AND t.concurrency_key IS NOT NULL AND NOT t.waits_for_slot
      AND NOT (t.status IN ('PENDING', 'ASSIGNED', 'RUNNING', 'PAUSED') OR (t.status = 'ABORTED' AND t.retry_at IS NOT NULL)), false) THEN NULL
      WHEN (t.status = 'PAUSED' AND t.paused_for = 'question') OR (t.status = 'PAUSED' AND t.paused_for = 'review') THEN coalesce(t.ready_at, now()) ELSE now() END ELSE t.ready_at END,
    waits_for_slot = CASE m.to_status WHEN 'PENDING' THEN t.waits_for_slot OR coalesce(m.resets_retries AND t.concurrency_key IS NOT NULL AND NOT t.waits_for_slot
      AND NOT (t.status IN ('PENDING', 'ASSIGNED', 'RUNNING', 'PAUSED') OR (t.status = 'ABORTED' AND t.retry_at IS NOT NULL)), false) ELSE t.waits_for_slot END,
    unmet_dependencies = CASE m.to_status WHEN 'PENDING' THEN t.unmet_dependencies + coalesce(m.resets_retries AND t.concurrency_key IS NOT NULL AND NOT t.waits_for_slot
      AND NOT (t.status IN ('PENDING', 'ASSIGNED', 'RUNNING', 'PAUSED') OR (t.status = 'ABORTED' AND t.retry_at IS NOT NULL)), false)::int ELSE t.unmet_dependencies END,
    assigned_at = CASE m.to_status WHEN 'PENDING' THEN NULL WHEN 'ASSIGNED' THEN now() ELSE t.assigned_at END,
    started_at = CASE m.to_status WHEN 'PENDING' THEN NULL WHEN 'RUNNING' THEN CASE t.status WHEN 'ASSIGNED' THEN now() ELSE coalesce(t.started_at, now()) END ELSE t.started_at END,
    paused_at = CASE m.to_status WHEN 'PENDING' THEN NULL WHEN 'RUNNING' THEN NULL WHEN 'PAUSED' THEN now() ELSE t.paused_at END,
    failed_at = CASE m.to_status WHEN 'PENDING' THEN NULL WHEN 'FAILED' THEN now() ELSE t.failed_at END,
    aborted_at = CASE m.to_status WHEN 'PENDING' THEN NULL WHEN 'ABORTED' THEN now() ELSE t.aborted_at END,
    dependents_unsettled = CASE m.to_status WHEN 'PENDING' THEN false WHEN 'ABORTED' THEN t.has_dependents AND m.retry_after_seconds IS NULL WHEN 'FAILED' THEN t.has_dependents WHEN 'COMPLETED' THEN t.has_dependents ELSE t.dependents_unsettled END,
    generation = CASE m.to_status WHEN 'ASSIGNED' THEN t.generation + 1 ELSE t.generation END,
    progress_percent = CASE m.to_status WHEN 'COMPLETED' THEN 100 ELSE t.progress_percent END,
    completed_at = CASE m.to_status WHEN 'COMPLETED' THEN now() ELSE t.completed_at END,
    archived_at = CASE m.to_status WHEN 'ARCHIVED' THEN now() ELSE t.archived_at END,
    last_error = coalesce(m.last_error, t.last_error),
    output_result = coalesce(m.output_result, t.output_result),
    summary = coalesce(m.summary, t.summary),
    checkpoint_data = coalesce(m.checkpoint_data, t.checkpoint_data),
    answers = coalesce(m.answers, t.answers)
  FROM task_move m
  WHERE t.workspace_id = m.workspace_id AND t.id = m.task_id AND (t.status, m.to_status) IN (('PENDING', 'ASSIGNED'), ('PENDING', 'PAUSED'), ('PENDING', 'FAILED'), ('PENDING', 'ABORTED'), ('ASSIGNED', 'RUNNING'), ('ASSIGNED', 'PENDING'), ('ASSIGNED', 'PAUSED'), ('ASSIGNED', 'COMPLETED'), ('ASSIGNED', 'ABORTED'), ('RUNNING', 'PAUSED'), ('RUNNING', 'COMPLETED'), ('RUNNING', 'FAILED'), ('RUNNING', 'ABORTED'), ('PAUSED', 'PENDING'), ('PAUSED', 'RUNNING'), ('PAUSED', 'COMPLETED'), ('PAUSED', 'FAILED'), ('PAUSED', 'ABORTED'), ('ABORTED', 'PENDING'), ('ABORTED', 'ABORTED'), ('ABORTED', 'FAILED'), ('ABORTED', 'ARCHIVED'), ('FAILED', 'PENDING'), ('FAILED', 'ARCHIVED'), ('COMPLETED', 'ARCHIVED'))
  RETURNING t.workspace_id, t.id, t.version, old.status AS previous_status, t.status, t.generation,
    coalesce(t.run_id, old.run_id) AS run_id, coalesce(t.agent_id, old.agent_id) AS agent_id,
    coalesce(t.session_key, old.session_key) AS session_key, t.retry_at, t.unmet_dependencies,
    t.dependents_unsettled,
    m.actor_kind AS actor_kind, m.actor_id AS actor_id, m.reason AS reason, m.message AS message, m.level AS level, m.details AS details, m.stack_trace AS stack_trace
),
run_move AS MATERIALIZED (
    SELECT * FROM jsonb_to_recordset($2::jsonb) AS m (workspace_id uuid, run_id uuid, to_state text, end_reason text, ended_by text, error text, error_class text, exit_code int, signal text, stack_trace text, session_key text, branch text)),
run_moved AS (
  UPDATE task_runs r SET state = m.to_state, version = r.version + 1,
    last_report_at = now(), error = coalesce(m.error, r.error), error_class = coalesce(m.error_class, r.error_class), exit_code = coalesce(m.exit_code, r.exit_code), signal = coalesce(m.signal, r.signal), stack_trace = coalesce(m.stack_trace, r.stack_trace), session_key = coalesce(m.session_key, r.session_key), branch = coalesce(m.branch, r.branch), started_at = CASE m.to_state WHEN 'WORKING' THEN coalesce(r.started_at, now()) ELSE r.started_at END, deadline_at = CASE m.to_state WHEN 'WORKING' THEN coalesce(r.deadline_at, now() + make_interval(secs => (
      SELECT t.timeout_seconds FROM agent_tasks t
      WHERE t.workspace_id = r.workspace_id AND t.id = r.task_id))) ELSE r.deadline_at END, stale_at = CASE m.to_state WHEN 'WORKING' THEN NULL WHEN 'STALE' THEN now() ELSE r.stale_at END, ended_at = CASE m.to_state WHEN 'COMPLETED' THEN now() WHEN 'FAILED' THEN now() WHEN 'RELEASED' THEN now() ELSE r.ended_at END, end_reason = CASE m.to_state WHEN 'COMPLETED' THEN m.end_reason WHEN 'FAILED' THEN m.end_reason WHEN 'RELEASED' THEN m.end_reason ELSE r.end_reason END, ended_by = CASE m.to_state WHEN 'COMPLETED' THEN m.ended_by WHEN 'FAILED' THEN m.ended_by WHEN 'RELEASED' THEN m.ended_by ELSE r.ended_by END, held_tokens = CASE m.to_state WHEN 'COMPLETED' THEN 0 WHEN 'FAILED' THEN 0 WHEN 'RELEASED' THEN 0 ELSE r.held_tokens END
  FROM run_move m
  WHERE r.workspace_id = m.workspace_id AND r.id = m.run_id AND (r.state, m.to_state) IN (('ASSIGNED', 'WORKING'), ('ASSIGNED', 'COMPLETED'), ('ASSIGNED', 'FAILED'), ('ASSIGNED', 'RELEASED'), ('WORKING', 'COMPLETED'), ('WORKING', 'STALE'), ('WORKING', 'FAILED'), ('WORKING', 'RELEASED'), ('STALE', 'WORKING'), ('STALE', 'COMPLETED'), ('STALE', 'FAILED'), ('STALE', 'RELEASED'))
  RETURNING r.workspace_id, r.id, r.task_id, r.agent_id, r.generation, r.version, r.end_reason,
    old.state AS previous_state, r.state, r.ended_at, old.held_tokens AS released_tokens, r.budget_ids
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
detached AS (
  UPDATE agent_tasks t SET run_id = NULL, updated_at = now() FROM run_moved r
  WHERE t.workspace_id = r.workspace_id AND t.id = r.task_id AND t.run_id = r.id
    AND t.status = 'PAUSED' AND r.id = ANY ($3::uuid[])
),
journaled AS (
  INSERT INTO journal (workspace_id, event, task_id, version, previous_status, new_status, run_id, run_version,
    previous_state, new_state, end_reason, generation, agent_id, actor_kind, actor_id, reason, level, message,
    details, session_key, stack_trace, retry_at)
  SELECT m.workspace_id, 'task.status_changed', m.id, m.version, m.previous_status, m.status, m.run_id, r.version, r.previous_state, r.state, r.end_reason,
  m.generation,
    m.agent_id, m.actor_kind, m.actor_id, m.reason, m.level, m.message, m.details, m.session_key, m.stack_trace, m.retry_at FROM task_moved m LEFT JOIN run_moved r ON r.task_id = m.id
  UNION ALL
  SELECT r.workspace_id, 'run.state_changed', r.task_id, NULL, NULL, NULL, r.id,
  r.version,
    r.previous_state, r.state, r.end_reason, r.generation, r.agent_id, 'coordinator', NULL, NULL, NULL, NULL,
    NULL::jsonb, NULL, NULL, NULL::timestamptz FROM run_moved r WHERE NOT EXISTS (SELECT FROM task_moved m WHERE m.id = r.task_id)
)
SELECT workspace_id, id, version, previous_status, status, agent_id, unmet_dependencies,
  dependents_unsettled
FROM task_moved

-- apply_transitions
WITH task_move AS MATERIALIZED (
    SELECT * FROM jsonb_to_recordset($1::jsonb) AS m (workspace_id uuid, task_id uuid, to_status text, actor_kind text, actor_id text, reason text, message text, level text, details jsonb, stack_trace text, run_id uuid, agent_id uuid, session_key text, retry_after_seconds float8, counts_as_retry boolean, resets_retries boolean, last_error text, output_result jsonb, summary text, checkpoint_data jsonb, answers jsonb, keeps_run boolean, paused_for text, paused_for_id uuid)),
task_moved AS (
  UPDATE agent_tasks t SET
    status = m.to_status, version = t.version + 1, updated_at = now(),
    run_id = CASE m.to_status WHEN 'PENDING' THEN NULL WHEN 'ASSIGNED' THEN m.run_id WHEN 'PAUSED' THEN CASE WHEN m.keeps_run THEN t.run_id END WHEN 'ABORTED' THEN NULL WHEN 'FAILED' THEN NULL WHEN 'COMPLETED' THEN NULL ELSE t.run_id END,
    agent_id = CASE m.to_status WHEN 'PENDING' THEN NULL WHEN 'ASSIGNED' THEN m.agent_id WHEN 'ABORTED' THEN NULL ELSE t.agent_id END,
    session_key = CASE m.to_status WHEN 'PENDING' THEN NULL WHEN 'ABORTED' THEN NULL ELSE coalesce(m.session_key, t.session_key) END,
    retry_count = CASE m.to_status WHEN 'PENDING' THEN CASE WHEN m.resets_retries THEN 0 ELSE t.retry_count END WHEN 'ABORTED' THEN t.retry_count + coalesce(m.counts_as_retry, false)::int ELSE t.retry_count END,
    retry_at = CASE m.to_status WHEN 'PENDING' THEN NULL WHEN 'ABORTED' THEN now() + make_interval(secs => m.retry_after_seconds) WHEN 'FAILED' THEN NULL WHEN 'ARCHIVED' THEN NULL ELSE t.retry_at END,
    abort_reason = CASE m.to_status WHEN 'PENDING' THEN NULL WHEN 'ABORTED' THEN m.reason ELSE t.abort_reason END,
    abort_message = CASE m.to_status WHEN 'PENDING' THEN NULL WHEN 'ABORTED' THEN m.message ELSE t.abort_message END,
    failure_fingerprint = CASE m.to_status WHEN 'PENDING' THEN NULL WHEN 'ABORTED' THEN CASE WHEN m.retry_after_seconds IS NULL AND NOT coalesce(m.reason IN ('cancelled', 'dependency_cancelled'), false)
      THEN failure_fingerprint(t.task_type, m.reason, coalesce(m.last_error, t.last_error)) END WHEN 'FAILED' THEN failure_fingerprint(t.task_type, m.reason, coalesce(m.last_error, t.last_error)) WHEN 'ARCHIVED' THEN NULL ELSE t.failure_fingerprint END,
    failure_reason = CASE m.to_status WHEN 'PENDING' THEN NULL WHEN 'FAILED' THEN m.reason ELSE t.failure_reason END,
    queue_expires_at = CASE m.to_status WHEN 'PENDING' THEN CASE WHEN m.resets_retries OR t.status = 'PAUSED' THEN NULL
      ELSE t.queue_expires_at END WHEN 'ASSIGNED' THEN NULL ELSE t.queue_expires_at END,
    current_step = CASE m.to_status WHEN 'PENDING' THEN NULL WHEN 'COMPLETED' THEN NULL ELSE t.current_step END,
    estimated_completion_at = CASE m.to_status WHEN 'PENDING' THEN NULL WHEN 'RUNNING' THEN CASE t.status
      WHEN 'ASSIGNED' THEN coalesce(now() + make_interval(mins => t.estimated_duration_minutes), t.estimated_completion_at)
      ELSE t.estimated_completion_at + (now() - t.paused_at) END ELSE t.estimated_completion_at END,
    paused_by = CASE m.to_status WHEN 'PENDING' THEN NULL WHEN 'RUNNING' THEN NULL WHEN 'PAUSED' THEN m.actor_kind || coalesce(':' || m.actor_id, '') ELSE t.paused_by END,
    paused_for = CASE m.to_status WHEN 'PENDING' THEN NULL WHEN 'RUNNING' THEN NULL WHEN 'PAUSED' THEN m.paused_for ELSE t.paused_for END,
    paused_for_id = CASE m.to_status WHEN 'PENDING' THEN NULL WHEN 'RUNNING' THEN NULL WHEN 'PAUSED' THEN m.paused_for_id ELSE t.paused_for_id END,
    pause_reason = CASE m.to_status WHEN 'PENDING' THEN NULL WHEN 'RUNNING' THEN NULL WHEN 'PAUSED' THEN m.reason ELSE t.pause_reason END,
    ready_at = CASE m.to_status WHEN 'PENDING' THEN CASE WHEN t.unmet_dependencies > 0 OR coalesce(m.resets_retries AND t.concurrency_key IS NOT NULL AND NOT t.waits_for_slot
      AND NOT (t.status IN ('PENDING', 'ASSIGNED', 'RUNNING', 'PAUSED') OR (t.status = 'ABORTED' AND t.retry_at IS NOT NULL)), false) THEN NULL
      WHEN (t.status = 'PAUSED' AND t.paused_for = 'question') OR (t.status = 'PAUSED' AND t.paused_for = 'review') THEN coalesce(t.ready_at, now()) ELSE now() END ELSE t.ready_at END,
    waits_for_slot = CASE m.to_status WHEN 'PENDING' THEN t.waits_for_slot OR coalesce(m.resets_retries AND t.concurrency_key IS NOT NULL AND NOT t.waits_for_slot
      AND NOT (t.status IN ('PENDING', 'ASSIGNED', 'RUNNING', 'PAUSED') OR (t.status = 'ABORTED' AND t.retry_at IS NOT NULL)), false) ELSE t.waits_for_slot END,
    unmet_dependencies = CASE m.to_status WHEN 'PENDING' THEN t.unmet_dependencies + coalesce(m.resets_retries AND t.concurrency_key IS NOT NULL AND NOT t.waits_for_slot
      AND NOT (t.status IN ('PENDING', 'ASSIGNED', 'RUNNING', 'PAUSED') OR (t.status = 'ABORTED' AND t.retry_at IS NOT NULL)), false)::int ELSE t.unmet_dependencies END,
    assigned_at = CASE m.to_status WHEN 'PENDING' THEN NULL WHEN 'ASSIGNED' THEN now() ELSE t.assigned_at END,
    started_at = CASE m.to_status WHEN 'PENDING' THEN NULL WHEN 'RUNNING' THEN CASE t.status WHEN 'ASSIGNED' THEN now() ELSE coalesce(t.started_at, now()) END ELSE t.started_at END,
    paused_at = CASE m.to_status WHEN 'PENDING' THEN NULL WHEN 'RUNNING' THEN NULL WHEN 'PAUSED' THEN now() ELSE t.paused_at END,
    failed_at = CASE m.to_status WHEN 'PENDING' THEN NULL WHEN 'FAILED' THEN now() ELSE t.failed_at END,
    aborted_at = CASE m.to_status WHEN 'PENDING' THEN NULL WHEN 'ABORTED' THEN now() ELSE t.aborted_at END,
    dependents_unsettled = CASE m.to_status WHEN 'PENDING' THEN false WHEN 'ABORTED' THEN t.has_dependents AND m.retry_after_seconds IS NULL WHEN 'FAILED' THEN t.has_dependents WHEN 'COMPLETED' THEN t.has_dependents ELSE t.dependents_unsettled END,
    generation = CASE m.to_status WHEN 'ASSIGNED' THEN t.generation + 1 ELSE t.generation END,
    progress_percent = CASE m.to_status WHEN 'COMPLETED' THEN 100 ELSE t.progress_percent END,
    completed_at = CASE m.to_status WHEN 'COMPLETED' THEN now() ELSE t.completed_at END,
    archived_at = CASE m.to_status WHEN 'ARCHIVED' THEN now() ELSE t.archived_at END,
    last_error = coalesce(m.last_error, t.last_error),
    output_result = coalesce(m.output_result, t.output_result),
    summary = coalesce(m.summary, t.summary),
    checkpoint_data = coalesce(m.checkpoint_data, t.checkpoint_data),
    answers = coalesce(m.answers, t.answers)
  FROM task_move m
  WHERE t.workspace_id = m.workspace_id AND t.id = m.task_id AND (t.status, m.to_status) IN (('PENDING', 'ASSIGNED'), ('PENDING', 'PAUSED'), ('PENDING', 'FAILED'), ('PENDING', 'ABORTED'), ('ASSIGNED', 'RUNNING'), ('ASSIGNED', 'PENDING'), ('ASSIGNED', 'PAUSED'), ('ASSIGNED', 'COMPLETED'), ('ASSIGNED', 'ABORTED'), ('RUNNING', 'PAUSED'), ('RUNNING', 'COMPLETED'), ('RUNNING', 'FAILED'), ('RUNNING', 'ABORTED'), ('PAUSED', 'PENDING'), ('PAUSED', 'RUNNING'), ('PAUSED', 'COMPLETED'), ('PAUSED', 'FAILED'), ('PAUSED', 'ABORTED'), ('ABORTED', 'PENDING'), ('ABORTED', 'ABORTED'), ('ABORTED', 'FAILED'), ('ABORTED', 'ARCHIVED'), ('FAILED', 'PENDING'), ('FAILED', 'ARCHIVED'), ('COMPLETED', 'ARCHIVED'))
  RETURNING t.workspace_id, t.id, t.version, old.status AS previous_status, t.status, t.generation,
    coalesce(t.run_id, old.run_id) AS run_id, coalesce(t.agent_id, old.agent_id) AS agent_id,
    coalesce(t.session_key, old.session_key) AS session_key, t.retry_at, t.unmet_dependencies,
    t.dependents_unsettled,
    m.actor_kind AS actor_kind, m.actor_id AS actor_id, m.reason AS reason, m.message AS message, m.level AS level, m.details AS details, m.stack_trace AS stack_trace
),
run_move AS MATERIALIZED (
    SELECT * FROM jsonb_to_recordset($2::jsonb) AS m (workspace_id uuid, run_id uuid, to_state text, end_reason text, ended_by text, error text, error_class text, exit_code int, signal text, stack_trace text, session_key text, branch text)),
run_moved AS (
  UPDATE task_runs r SET state = m.to_state, version = r.version + 1,
    last_report_at = now(), error = coalesce(m.error, r.error), error_class = coalesce(m.error_class, r.error_class), exit_code = coalesce(m.exit_code, r.exit_code), signal = coalesce(m.signal, r.signal), stack_trace = coalesce(m.stack_trace, r.stack_trace), session_key = coalesce(m.session_key, r.session_key), branch = coalesce(m.branch, r.branch), started_at = CASE m.to_state WHEN 'WORKING' THEN coalesce(r.started_at, now()) ELSE r.started_at END, deadline_at = CASE m.to_state WHEN 'WORKING' THEN coalesce(r.deadline_at, now() + make_interval(secs => (
      SELECT t.timeout_seconds FROM agent_tasks t
      WHERE t.workspace_id = r.workspace_id AND t.id = r.task_id))) ELSE r.deadline_at END, stale_at = CASE m.to_state WHEN 'WORKING' THEN NULL WHEN 'STALE' THEN now() ELSE r.stale_at END, ended_at = CASE m.to_state WHEN 'COMPLETED' THEN now() WHEN 'FAILED' THEN now() WHEN 'RELEASED' THEN now() ELSE r.ended_at END, end_reason = CASE m.to_state WHEN 'COMPLETED' THEN m.end_reason WHEN 'FAILED' THEN m.end_reason WHEN 'RELEASED' THEN m.end_reason ELSE r.end_reason END, ended_by = CASE m.to_state WHEN 'COMPLETED' THEN m.ended_by WHEN 'FAILED' THEN m.ended_by WHEN 'RELEASED' THEN m.ended_by ELSE r.ended_by END, held_tokens = CASE m.to_state WHEN 'COMPLETED' THEN 0 WHEN 'FAILED' THEN 0 WHEN 'RELEASED' THEN 0 ELSE r.held_tokens END
  FROM run_move m
  WHERE r.workspace_id = m.workspace_id AND r.id = m.run_id AND (r.state, m.to_state) IN (('ASSIGNED', 'WORKING'), ('ASSIGNED', 'COMPLETED'), ('ASSIGNED', 'FAILED'), ('ASSIGNED', 'RELEASED'), ('WORKING', 'COMPLETED'), ('WORKING', 'STALE'), ('WORKING', 'FAILED'), ('WORKING', 'RELEASED'), ('STALE', 'WORKING'), ('STALE', 'COMPLETED'), ('STALE', 'FAILED'), ('STALE', 'RELEASED'))
  RETURNING r.workspace_id, r.id, r.task_id, r.agent_id, r.generation, r.version, r.end_reason,
    old.state AS previous_state, r.state, r.ended_at, old.held_tokens AS released_tokens, r.budget_ids
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
  SELECT m.workspace_id, 'task.status_changed', m.id, m.version, m.previous_status, m.status, m.run_id, r.version, r.previous_state, r.state, r.end_reason,
  m.generation,
    m.agent_id, m.actor_kind, m.actor_id, m.reason, m.level, m.message, m.details, m.session_key, m.stack_trace, m.retry_at FROM task_moved m LEFT JOIN run_moved r ON r.task_id = m.id
  UNION ALL
  SELECT r.workspace_id, 'run.state_changed', r.task_id, NULL, NULL, NULL, r.id,
  r.version,
    r.previous_state, r.state, r.end_reason, r.generation, r.agent_id, 'coordinator', NULL, NULL, NULL, NULL,
    NULL::jsonb, NULL, NULL, NULL::timestamptz FROM run_moved r WHERE NOT EXISTS (SELECT FROM task_moved m WHERE m.id = r.task_id)
)
SELECT workspace_id, id, version, previous_status, status, agent_id, unmet_dependencies,
  dependents_unsettled
FROM task_moved

-- detach_runs
WITH run_move AS MATERIALIZED (
    SELECT * FROM jsonb_to_recordset($1::jsonb) AS m (workspace_id uuid, run_id uuid, to_state text, end_reason text, ended_by text, error text, error_class text, exit_code int, signal text, stack_trace text, session_key text, branch text)),
run_moved AS (
  UPDATE task_runs r SET state = m.to_state, version = r.version + 1,
    last_report_at = now(), error = coalesce(m.error, r.error), error_class = coalesce(m.error_class, r.error_class), exit_code = coalesce(m.exit_code, r.exit_code), signal = coalesce(m.signal, r.signal), stack_trace = coalesce(m.stack_trace, r.stack_trace), session_key = coalesce(m.session_key, r.session_key), branch = coalesce(m.branch, r.branch), started_at = CASE m.to_state WHEN 'WORKING' THEN coalesce(r.started_at, now()) ELSE r.started_at END, deadline_at = CASE m.to_state WHEN 'WORKING' THEN coalesce(r.deadline_at, now() + make_interval(secs => (
      SELECT t.timeout_seconds FROM agent_tasks t
      WHERE t.workspace_id = r.workspace_id AND t.id = r.task_id))) ELSE r.deadline_at END, stale_at = CASE m.to_state WHEN 'WORKING' THEN NULL WHEN 'STALE' THEN now() ELSE r.stale_at END, ended_at = CASE m.to_state WHEN 'COMPLETED' THEN now() WHEN 'FAILED' THEN now() WHEN 'RELEASED' THEN now() ELSE r.ended_at END, end_reason = CASE m.to_state WHEN 'COMPLETED' THEN m.end_reason WHEN 'FAILED' THEN m.end_reason WHEN 'RELEASED' THEN m.end_reason ELSE r.end_reason END, ended_by = CASE m.to_state WHEN 'COMPLETED' THEN m.ended_by WHEN 'FAILED' THEN m.ended_by WHEN 'RELEASED' THEN m.ended_by ELSE r.ended_by END, held_tokens = CASE m.to_state WHEN 'COMPLETED' THEN 0 WHEN 'FAILED' THEN 0 WHEN 'RELEASED' THEN 0 ELSE r.held_tokens END
  FROM run_move m
  WHERE r.workspace_id = m.workspace_id AND r.id = m.run_id AND (r.state, m.to_state) IN (('ASSIGNED', 'WORKING'), ('ASSIGNED', 'COMPLETED'), ('ASSIGNED', 'FAILED'), ('ASSIGNED', 'RELEASED'), ('WORKING', 'COMPLETED'), ('WORKING', 'STALE'), ('WORKING', 'FAILED'), ('WORKING', 'RELEASED'), ('STALE', 'WORKING'), ('STALE', 'COMPLETED'), ('STALE', 'FAILED'), ('STALE', 'RELEASED'))
  RETURNING r.workspace_id, r.id, r.task_id, r.agent_id, r.generation, r.version, r.end_reason,
    old.state AS previous_state, r.state, r.ended_at, old.held_tokens AS released_tokens, r.budget_ids
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
detached AS (
  UPDATE agent_tasks t SET run_id = NULL, updated_at = now() FROM run_moved r
  WHERE t.workspace_id = r.workspace_id AND t.id = r.task_id AND t.run_id = r.id
    AND t.status = 'PAUSED' AND true
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
SELECT task_id, agent_id FROM run_moved

-- lifecycle_of_agent
SELECT lifecycle FROM agents WHERE workspace_id = $1 AND id = $2

-- lock_leased_task
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
WHERE r.workspace_id = $1 AND r.id = $2 AND r.agent_id = $3 AND t.run_id = r.id
  AND EXISTS (SELECT FROM workspaces used WHERE used.id = $1
    AND used.archived_at IS NULL)
FOR NO KEY UPDATE OF t, r

-- lock_task_ids
SELECT t.id FROM agent_tasks t
WHERE t.workspace_id = $1 AND t.id = ANY($2::uuid[])
ORDER BY t.id
FOR NO KEY UPDATE

-- locked_tasks
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
  (t.status = 'PAUSED' AND t.paused_for = 'question') AS waits_for_answer, (t.status = 'PAUSED' AND t.paused_for = 'review') AS waits_for_review,
  t.status = 'ABORTED' AND t.repository_id IS NOT NULL
    AND change_may_have_landed(t.workspace_id, t.id) AS may_have_landed,
  t.replayed_by_id IS NOT NULL AND t.failure_fingerprint IS NULL AS is_replayed
FROM agent_tasks t LEFT JOIN task_runs r ON r.workspace_id = t.workspace_id AND r.id = t.run_id
WHERE t.workspace_id = $1 AND t.id = ANY($2::uuid[])
ORDER BY t.id

-- take_holds
WITH held AS MATERIALIZED (
  SELECT b.workspace_id, b.id, h.tokens
  FROM jsonb_to_recordset(nullif(current_setting('app.holds', true), '')::jsonb) AS h (workspace_id uuid, id uuid, tokens bigint)
  JOIN usage_budgets b ON b.workspace_id = h.workspace_id AND b.id = h.id
  ORDER BY b.id
  FOR NO KEY UPDATE OF b
)
UPDATE usage_budgets b SET updated_at = now(),
  reserved = CASE WHEN b.available >= greatest(h.tokens, 1) THEN b.reserved + h.tokens
    ELSE budget_taken_meanwhile() END
FROM held h WHERE b.workspace_id = h.workspace_id AND b.id = h.id

-- transition_agents
WITH agent_move AS MATERIALIZED (
  SELECT a.workspace_id, a.id, m.to_lifecycle, m.reason
  FROM jsonb_to_recordset($1::jsonb) AS m (workspace_id uuid, id uuid, to_lifecycle text,
    reason text)
  JOIN agents a ON a.workspace_id = m.workspace_id AND a.id = m.id
  ORDER BY a.id, a.workspace_id
  FOR NO KEY UPDATE OF a
),
agent_moved AS (
  UPDATE agents a SET
    lifecycle = m.to_lifecycle, version = a.version + 1, updated_at = now(),
    draining_at = CASE m.to_lifecycle WHEN 'DRAINING' THEN coalesce(a.draining_at, now())
      ELSE a.draining_at END,
    error_at = CASE m.to_lifecycle WHEN 'ERROR' THEN now() ELSE NULL END,
    terminated_at = CASE m.to_lifecycle WHEN 'TERMINATED' THEN now() END,
    termination_reason = CASE m.to_lifecycle WHEN 'TERMINATED' THEN m.reason END
  FROM agent_move m
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
