-- Rows as the statements of before the journal wrote them: tasks in every status with their runs, log rows, events and
-- counters, in two workspaces. Each call of `at` is a transaction of its own: its log rows and events have its time.

CREATE FUNCTION pg_temp.id(kind text, n int) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$
  SELECT ('00000000-0000-7000-8000-' || lpad(to_hex(ascii(kind)), 4, '0') || lpad(n::text, 8, '0'))::uuid $$;
CREATE FUNCTION pg_temp.at(seconds int) RETURNS timestamptz LANGUAGE sql STABLE AS $$
  SELECT date_trunc('second', now()) - interval '1 day' + make_interval(secs => seconds) $$;

INSERT INTO users (id, email, name) VALUES (pg_temp.id('u', 1), 'one@example.test', 'One');
INSERT INTO workspaces (id, name, slug, created_at)
SELECT pg_temp.id('w', n), 'Workspace ' || n, 'workspace-' || n, pg_temp.at(0) FROM generate_series(1, 2) n;
INSERT INTO agents (workspace_id, id, name, lifecycle, live_runs, max_concurrent_tasks, version)
SELECT pg_temp.id('w', n), pg_temp.id('a', n), 'Agent ' || n, 'ACTIVE', CASE n WHEN 1 THEN 2 ELSE 0 END, 5, 2
FROM generate_series(1, 2) n;
INSERT INTO agent_heartbeats (workspace_id, agent_id, status)
SELECT workspace_id, id, 'healthy' FROM agents;

INSERT INTO agent_tasks (workspace_id, id, title, task_type, status, version, run_id, agent_id, generation, ready_at,
  assigned_at, started_at, paused_at, paused_by, completed_at, failed_at, failure_reason, aborted_at, abort_reason,
  retry_at, retry_count, archived_at, created_by, created_at)
SELECT pg_temp.id('w', w), pg_temp.id('t', n), 'Task ' || n, 'test', status, version, pg_temp.id('r', live), CASE
    WHEN generation > 0 THEN pg_temp.id('a', w) END, generation, pg_temp.at(n), CASE WHEN generation > 0 THEN pg_temp.at(n) END,
  CASE WHEN generation > 0 THEN pg_temp.at(n) END, CASE WHEN status = 'PAUSED' THEN pg_temp.at(n) END,
  CASE WHEN status = 'PAUSED' THEN 'user:' || pg_temp.id('u', 1) END,
  CASE WHEN status IN ('COMPLETED', 'ARCHIVED') THEN pg_temp.at(n) END,
  CASE WHEN status = 'FAILED' THEN pg_temp.at(n) END, CASE WHEN status = 'FAILED' THEN 'dependency_cycle' END,
  CASE WHEN status = 'ABORTED' THEN pg_temp.at(n) END, reason,
  CASE WHEN reason = 'timeout' THEN now() + interval '1 hour' END, CASE WHEN reason = 'timeout' THEN 1 ELSE 0 END,
  CASE WHEN status = 'ARCHIVED' THEN pg_temp.at(n) END, pg_temp.id('u', 1), pg_temp.at(n)
FROM (VALUES
  (1, 1, 'PENDING', 1, NULL::int, 0, NULL),
  (1, 2, 'COMPLETED', 4, NULL, 1, NULL),
  (1, 3, 'ABORTED', 4, NULL, 1, 'timeout'),
  (1, 4, 'RUNNING', 3, 4, 1, NULL),
  (1, 5, 'PAUSED', 2, NULL, 0, NULL),
  (1, 6, 'FAILED', 2, NULL, 0, NULL),
  (1, 7, 'ARCHIVED', 5, NULL, 1, NULL),
  (1, 8, 'ASSIGNED', 2, 8, 1, NULL),
  (2, 9, 'PENDING', 3, NULL, 0, NULL),
  (2, 10, 'ABORTED', 4, NULL, 1, 'cancelled')
) AS t (w, n, status, version, live, generation, reason);

INSERT INTO task_runs (workspace_id, id, task_id, agent_id, generation, state, version, lease_seconds, lease_expires_at,
  assigned_at, started_at, ended_at, end_reason, stale_at)
SELECT pg_temp.id('w', w), pg_temp.id('r', n), pg_temp.id('t', n), pg_temp.id('a', w), 1, state, version, 180,
  now() + interval '1 hour', pg_temp.at(n + 100), CASE WHEN state <> 'ASSIGNED' THEN pg_temp.at(n + 100) END,
  CASE WHEN reason IS NOT NULL THEN pg_temp.at(n + 200) END, reason, CASE WHEN n = 4 THEN pg_temp.at(n) END
FROM (VALUES
  (1, 2, 'COMPLETED', 3, 'completed'),
  (1, 3, 'FAILED', 3, 'timeout'),
  (1, 4, 'WORKING', 4, NULL),
  (1, 7, 'COMPLETED', 3, 'completed'),
  (1, 8, 'ASSIGNED', 1, NULL),
  (2, 10, 'FAILED', 3, 'cancelled')
) AS r (w, n, state, version, reason);

-- A transition: the log row, the event of the task, and that of the run that moved with it.
CREATE FUNCTION pg_temp.move(seconds int, w int, n int, v int, was text, becomes text, actor text, actor_name text,
  run_v int, run_was text, run_becomes text, why text DEFAULT NULL, words text DEFAULT NULL) RETURNS void LANGUAGE sql AS $$
  INSERT INTO agent_task_logs (workspace_id, task_id, run_id, agent_id, task_version, event, previous_status, new_status,
    actor_kind, actor_id, message, level, created_at)
  SELECT pg_temp.id('w', w), pg_temp.id('t', n), CASE WHEN run_v > 0 THEN pg_temp.id('r', n) END,
    CASE WHEN run_v > 0 THEN pg_temp.id('a', w) END, v, CASE v WHEN 1 THEN 'task_created' ELSE 'state_transition' END,
    was, becomes, actor, actor_name, words, CASE WHEN words IS NULL THEN 'INFO' ELSE 'WARN' END, pg_temp.at(seconds);
  INSERT INTO outbox_events (workspace_id, type, subject_kind, subject_id, subject_version, payload, created_at)
  SELECT pg_temp.id('w', w), CASE v WHEN 1 THEN 'task.created' ELSE 'task.status_changed' END, 'task', pg_temp.id('t', n), v,
    CASE v WHEN 1 THEN jsonb_build_object('event', 'task.created', 'taskId', pg_temp.id('t', n), 'newStatus', becomes,
      'workspaceId', pg_temp.id('w', w), 'timestamp', pg_temp.at(seconds), 'version', v)
    ELSE jsonb_build_object('event', 'task.status_changed', 'taskId', pg_temp.id('t', n), 'previousStatus', was,
      'newStatus', becomes, 'workspaceId', pg_temp.id('w', w), 'timestamp', pg_temp.at(seconds), 'version', v,
      'runId', CASE WHEN run_v > 0 THEN pg_temp.id('r', n) END, 'agentId', CASE WHEN run_v > 0 THEN pg_temp.id('a', w) END,
      'reason', why, 'retryAt', CASE why WHEN 'timeout' THEN pg_temp.at(seconds + 100000) END) END, pg_temp.at(seconds);
  INSERT INTO outbox_events (workspace_id, type, subject_kind, subject_id, subject_version, payload, created_at)
  SELECT pg_temp.id('w', w), 'run.state_changed', 'run', pg_temp.id('r', n), run_v, jsonb_build_object(
    'event', 'run.state_changed', 'runId', pg_temp.id('r', n), 'taskId', pg_temp.id('t', n), 'agentId', pg_temp.id('a', w),
    'generation', 1, 'previousState', run_was, 'newState', run_becomes, 'workspaceId', pg_temp.id('w', w),
    'timestamp', pg_temp.at(seconds), 'version', run_v, 'reason', CASE WHEN run_becomes = 'COMPLETED' THEN 'completed' ELSE why END),
    pg_temp.at(seconds)
  WHERE run_becomes IS NOT NULL;
$$;
-- An entry of the log that is no transition.
CREATE FUNCTION pg_temp.line(seconds int, w int, n int, name text, words text, more jsonb, actor text DEFAULT 'run')
  RETURNS void LANGUAGE sql AS $$
  INSERT INTO agent_task_logs (workspace_id, task_id, run_id, agent_id, level, event, message, details, actor_kind, created_at)
  SELECT pg_temp.id('w', w), pg_temp.id('t', n), pg_temp.id('r', n), pg_temp.id('a', w), 'DEBUG', name, words, more, actor,
    pg_temp.at(seconds) $$;
CREATE FUNCTION pg_temp.event(seconds int, w int, name text, kind text, subject uuid, v int, more jsonb) RETURNS void LANGUAGE sql AS $$
  INSERT INTO outbox_events (workspace_id, type, subject_kind, subject_id, subject_version, payload, created_at)
  SELECT pg_temp.id('w', w), name, kind, subject, v, more || jsonb_build_object('event', name, 'workspaceId',
    pg_temp.id('w', w), 'timestamp', pg_temp.at(seconds)), pg_temp.at(seconds) $$;
CREATE FUNCTION pg_temp.progress(seconds int, w int, n int, percent int, is_checkpoint boolean) RETURNS void LANGUAGE sql AS $$
  SELECT pg_temp.line(seconds, w, n, CASE WHEN is_checkpoint THEN 'checkpoint' ELSE 'progress_update' END,
    'step ' || percent, jsonb_build_object('progressPercent', percent));
  SELECT pg_temp.event(seconds, w, 'task.progress', 'task', pg_temp.id('t', n), NULL, jsonb_build_object(
    'taskId', pg_temp.id('t', n), 'runId', pg_temp.id('r', n), 'progressPercent', percent,
    'currentStep', 'step ' || percent, 'checkpoint', is_checkpoint)) $$;
CREATE FUNCTION pg_temp.run_alone(seconds int, w int, n int, v int, was text, becomes text) RETURNS void LANGUAGE sql AS $$
  SELECT pg_temp.event(seconds, w, 'run.state_changed', 'run', pg_temp.id('r', n), v, jsonb_build_object(
    'runId', pg_temp.id('r', n), 'taskId', pg_temp.id('t', n), 'agentId', pg_temp.id('a', w), 'generation', 1,
    'previousState', was, 'newState', becomes, 'version', v, 'reason', NULL)) $$;

DO $$
DECLARE
  one text := pg_temp.id('u', 1)::text;
BEGIN
  PERFORM pg_temp.move(n, CASE WHEN n < 9 THEN 1 ELSE 2 END, n, 1, NULL, 'PENDING', 'user', one, NULL, NULL, NULL)
  FROM generate_series(1, 10) n;
  PERFORM pg_temp.event(50, n, 'agent.status_changed', 'agent', pg_temp.id('a', n), 2, jsonb_build_object('agentId',
    pg_temp.id('a', n), 'previousStatus', 'STARTING', 'newStatus', 'IDLE', 'reason', 'registered', 'version', 2))
  FROM generate_series(1, 2) n;
  -- One claim takes two tasks: first both events of the tasks, then both of the runs, as the statement did.
  PERFORM pg_temp.move(102, 1, 2, 2, 'PENDING', 'ASSIGNED', 'agent', NULL, 1, NULL, 'ASSIGNED');
  PERFORM pg_temp.move(102, 1, 3, 2, 'PENDING', 'ASSIGNED', 'agent', NULL, 1, NULL, 'ASSIGNED');
  PERFORM pg_temp.move(103, 1, 2, 3, 'ASSIGNED', 'RUNNING', 'agent', NULL, 2, 'ASSIGNED', 'WORKING');
  PERFORM pg_temp.line(104, 1, 2, 'output', 'a line of the run', '{"n": 1}');
  PERFORM pg_temp.move(105, 1, 3, 3, 'ASSIGNED', 'RUNNING', 'agent', NULL, 2, 'ASSIGNED', 'WORKING');
  PERFORM pg_temp.progress(106, 1, 2, 50, false);
  PERFORM pg_temp.move(107, 1, 7, 2, 'PENDING', 'ASSIGNED', 'agent', NULL, 1, NULL, 'ASSIGNED');
  PERFORM pg_temp.move(108, 1, 7, 3, 'ASSIGNED', 'RUNNING', 'agent', NULL, 2, 'ASSIGNED', 'WORKING');
  PERFORM pg_temp.move(109, 1, 7, 4, 'RUNNING', 'COMPLETED', 'agent', NULL, 3, 'WORKING', 'COMPLETED');
  PERFORM pg_temp.move(110, 1, 7, 5, 'COMPLETED', 'ARCHIVED', 'user', one, NULL, NULL, NULL);
  PERFORM pg_temp.move(111, 1, 2, 4, 'RUNNING', 'COMPLETED', 'agent', NULL, 3, 'WORKING', 'COMPLETED');
  PERFORM pg_temp.line(112, 1, 2, 'output', 'last words', '{"n": 2}');
  PERFORM pg_temp.move(113, 1, 4, 2, 'PENDING', 'ASSIGNED', 'agent', NULL, 1, NULL, 'ASSIGNED');
  PERFORM pg_temp.line(114, 1, 4, 'output', 'between two transitions', '{}');
  PERFORM pg_temp.move(115, 1, 5, 2, 'PENDING', 'PAUSED', 'user', one, NULL, NULL, NULL);
  PERFORM pg_temp.move(116, 2, 10, 2, 'PENDING', 'ASSIGNED', 'agent', NULL, 1, NULL, 'ASSIGNED');
  -- From here on nothing has been published.
  PERFORM pg_temp.move(117, 1, 4, 3, 'ASSIGNED', 'RUNNING', 'agent', NULL, 2, 'ASSIGNED', 'WORKING');
  PERFORM pg_temp.line(118, 1, 4, 'output', 'after what is unpublished', '{}');
  PERFORM pg_temp.run_alone(119, 1, 4, 3, 'WORKING', 'STALE');
  PERFORM pg_temp.run_alone(120, 1, 4, 4, 'STALE', 'WORKING');
  PERFORM pg_temp.progress(121, 1, 4, 10, true);
  PERFORM pg_temp.line(122, 1, 4, 'hung_warning', 'It is long past its estimate', jsonb_build_object(
    'estimatedCompletionAt', pg_temp.at(1), 'lastProgressAt', NULL, 'abortsAfterSeconds', 600), 'coordinator');
  PERFORM pg_temp.event(122, 1, 'run.hung_warning', 'run', pg_temp.id('r', 4), NULL, jsonb_build_object(
    'runId', pg_temp.id('r', 4), 'taskId', pg_temp.id('t', 4), 'agentId', pg_temp.id('a', 1),
    'estimatedCompletionAt', pg_temp.at(1), 'lastProgressAt', NULL, 'abortsAt', pg_temp.at(722)));
  PERFORM pg_temp.move(123, 1, 8, 2, 'PENDING', 'ASSIGNED', 'agent', NULL, 1, NULL, 'ASSIGNED');
  PERFORM pg_temp.move(124, 1, 6, 2, 'PENDING', 'FAILED', 'coordinator', NULL, NULL, NULL, NULL, 'dependency_cycle');
  PERFORM pg_temp.event(124, 1, 'task.dependency_cycle', 'task', pg_temp.id('t', 6), NULL, jsonb_build_object(
    'taskId', pg_temp.id('t', 6), 'path', '["a", "b"]'::jsonb, 'taskIds', '["a"]'::jsonb, 'length', 1, 'ownerIds', '[]'::jsonb));
  PERFORM pg_temp.move(125, 1, 3, 4, 'RUNNING', 'ABORTED', 'coordinator', NULL, 3, 'WORKING', 'FAILED', 'timeout',
    'It ran for longer than it may');
  PERFORM pg_temp.move(126, 2, 10, 3, 'ASSIGNED', 'RUNNING', 'agent', NULL, 2, 'ASSIGNED', 'WORKING');
  PERFORM pg_temp.move(127, 2, 10, 4, 'RUNNING', 'ABORTED', 'user', one, 3, 'WORKING', 'FAILED', 'cancelled', 'No longer needed');
  -- Changes of fields, and of dependencies.
  INSERT INTO agent_task_logs (workspace_id, task_id, task_version, event, details, previous_status, new_status, actor_kind,
    actor_id, created_at)
  VALUES (pg_temp.id('w', 2), pg_temp.id('t', 9), 2, 'task_updated', '{"changed": {"priority": {"from": 5, "to": 9}}}',
      'PENDING', 'PENDING', 'user', one, pg_temp.at(128)),
    (pg_temp.id('w', 2), pg_temp.id('t', 9), 3, 'dependencies_changed', '{"written": [], "removed": ["x"]}',
      'PENDING', 'PENDING', 'user', one, pg_temp.at(129));
  PERFORM pg_temp.event(126 + v, 2, 'task.updated', 'task', pg_temp.id('t', 9), v, jsonb_build_object('taskId', pg_temp.id('t', 9),
    'status', 'PENDING', 'changed', CASE v WHEN 2 THEN '["priority", "title"]' ELSE '["dependsOn"]' END::jsonb, 'version', v))
  FROM generate_series(2, 3) v;
END $$;

-- What was published before the 117th second has its numbers; the last two may not have arrived; the oldest are pruned.
UPDATE outbox_events e SET workspace_seq = n.seq, published_at = e.created_at
FROM (SELECT id, row_number() OVER (PARTITION BY workspace_id ORDER BY id) AS seq FROM outbox_events
  WHERE created_at < pg_temp.at(117)) n WHERE n.id = e.id;
INSERT INTO outbox_counters (workspace_id, last_seq) SELECT workspace_id, max(workspace_seq) FROM outbox_events GROUP BY 1;
UPDATE outbox_relay SET owner = 'an old relay', leased_until = now() - interval '1 s',
  in_flight = ARRAY(SELECT id FROM outbox_events WHERE workspace_seq IS NOT NULL ORDER BY id DESC LIMIT 2);
DELETE FROM outbox_events WHERE created_at <= pg_temp.at(7) AND workspace_seq IS NOT NULL;
