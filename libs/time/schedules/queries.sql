-- The statements as they run. Made by `npm run generate`; change the modules that declare them.

-- change_schedule
UPDATE schedules SET name = $3, cron = $4, time_zone = $5, every_seconds = $6::int, anchored_at = $7::timestamptz,
  tasks = $8::jsonb, overlap = $9, missed = $10, missed_limit = $11::int, jitter_seconds = $12::int,
  due_at = $13::timestamptz, start_at = $14::timestamptz, paused_at = $15::timestamptz, pause_reason = $16,
  failed_at = NULL, version = version + 1, updated_at = now()
WHERE workspace_id = $1 AND id = $2
RETURNING id

-- database_time
SELECT clock_timestamp() AS now

-- delete_schedule
DELETE FROM schedules WHERE workspace_id = $1 AND id = $2 RETURNING id

-- due_schedules
SELECT s.workspace_id, s.id, s.name, s.cron, s.time_zone, s.every_seconds, s.anchored_at, s.tasks,
  s.overlap, s.missed, s.missed_limit, s.jitter_seconds, s.due_at, s.start_at, s.paused_at, s.pause_reason, s.failed_at,
  s.created_by, s.version, s.created_at, s.updated_at, (SELECT to_jsonb(o) FROM schedule_secrets o
  WHERE o.workspace_id = s.workspace_id AND o.schedule_id = s.id) AS original, w.archived_at IS NOT NULL AS archived, now() AS now
FROM schedules s JOIN workspaces w ON w.id = s.workspace_id
WHERE s.start_at <= now() AND ($2::uuid IS NULL OR s.workspace_id = $2)
ORDER BY s.start_at
LIMIT $1

-- find_schedule
SELECT s.workspace_id, s.id, s.name, s.cron, s.time_zone, s.every_seconds, s.anchored_at, s.tasks,
  s.overlap, s.missed, s.missed_limit, s.jitter_seconds, s.due_at, s.start_at, s.paused_at, s.pause_reason, s.failed_at,
  s.created_by, s.version, s.created_at, s.updated_at, (SELECT to_jsonb(o) FROM schedule_secrets o
  WHERE o.workspace_id = s.workspace_id AND o.schedule_id = s.id) AS original FROM schedules s WHERE s.workspace_id = $1 AND s.id = $2

-- insert_schedule
INSERT INTO schedules (workspace_id, id, name, cron, time_zone, every_seconds, anchored_at, tasks, overlap,
  missed, missed_limit, jitter_seconds, due_at, start_at, created_by)
SELECT $1, $2, $3, $4, $5, $6::int, $7::timestamptz, $8::jsonb, $9, $10, $11::int, $12::int, $13::timestamptz,
  $14::timestamptz, $15::uuid
WHERE (SELECT count(*) FROM schedules WHERE workspace_id = $1) < $16::int
RETURNING id

-- list_occurrences
SELECT schedule_id, due_at, manual, outcome, task_id, reason, detail, created_at FROM schedule_occurrences
WHERE workspace_id = $1 AND schedule_id = $2
  AND ($3::float8 IS NULL OR due_at < to_timestamp($3::float8 / 1000))
ORDER BY due_at DESC LIMIT $4

-- list_schedules
SELECT s.workspace_id, s.id, s.name, s.cron, s.time_zone, s.every_seconds, s.anchored_at, s.tasks,
  s.overlap, s.missed, s.missed_limit, s.jitter_seconds, s.due_at, s.start_at, s.paused_at, s.pause_reason, s.failed_at,
  s.created_by, s.version, s.created_at, s.updated_at FROM schedules s
WHERE s.workspace_id = $1 AND ($2::uuid IS NULL OR s.id < $2) AND ($4::text IS NULL OR s.name = $4)
  AND ($5::text IS NULL OR strpos(lower(s.name), lower($5)) > 0)
ORDER BY s.id DESC LIMIT $3

-- lock_schedule
SELECT s.id FROM schedules s WHERE s.workspace_id = $1 AND s.id = $2 FOR NO KEY UPDATE

-- lock_schedules
SELECT pg_advisory_xact_lock(hashtextextended('schedules of ' || $1::text, 0))

-- pause_schedules
UPDATE schedules SET due_at = NULL, start_at = NULL, paused_at = now(), pause_reason = $3,
  version = version + 1, updated_at = now()
WHERE workspace_id = $1 AND id = ANY ($2::uuid[]) AND paused_at IS NULL
RETURNING id

-- postpone_start
UPDATE schedules s SET start_at = now() + make_interval(secs => $4::int)
FROM unnest($2::uuid[], $3::timestamptz[]) AS d (id, due_at)
WHERE s.workspace_id = $1 AND s.id = d.id AND s.due_at = d.due_at
RETURNING s.id

-- prune_occurrences
DELETE FROM schedule_occurrences WHERE (workspace_id, schedule_id, due_at) IN (
  SELECT workspace_id, schedule_id, due_at FROM schedule_occurrences
  WHERE created_at < now() - make_interval(days => $1::int) ORDER BY created_at LIMIT $2)
RETURNING schedule_id

-- record_manual_start
WITH mended AS (
  UPDATE schedules SET failed_at = NULL WHERE workspace_id = $1 AND id = $2 AND failed_at IS NOT NULL
)
INSERT INTO schedule_occurrences (workspace_id, schedule_id, due_at, manual, outcome, task_id)
SELECT $1, s.id, $4::timestamptz, true, 'started', $3::uuid FROM schedules s
WHERE s.workspace_id = $1 AND s.id = $2
RETURNING schedule_id, due_at, manual, outcome, task_id, reason, detail, created_at

-- record_occurrences
WITH input AS MATERIALIZED (
  SELECT * FROM jsonb_to_recordset($2::jsonb) AS x (schedule_id uuid, due_at timestamptz, version int,
    outcome text, task_id uuid, reason text, detail text, next_due_at timestamptz, next_start_at timestamptz)
),
due AS MATERIALIZED (
  SELECT i.* FROM input i
  JOIN schedules s ON s.workspace_id = $1 AND s.id = i.schedule_id AND s.due_at = i.due_at
    AND s.version = i.version
  FOR NO KEY UPDATE OF s SKIP LOCKED
),
moved AS (
  UPDATE schedules s SET due_at = d.next_due_at, start_at = d.next_start_at,
    failed_at = CASE d.outcome WHEN 'failed' THEN d.due_at WHEN 'started' THEN NULL ELSE s.failed_at END
  FROM due d WHERE s.workspace_id = $1 AND s.id = d.schedule_id
),
recorded AS (
  INSERT INTO schedule_occurrences (workspace_id, schedule_id, due_at, outcome, task_id, reason, detail)
  SELECT $1, d.schedule_id, d.due_at, d.outcome, d.task_id, d.reason, d.detail FROM due d
  ON CONFLICT (workspace_id, schedule_id, due_at) DO NOTHING
  RETURNING schedule_id
),
journaled AS (
  INSERT INTO journal (workspace_id, event, level, reason, message, details, actor_kind, actor_id)
  SELECT $1, 'schedule.due_time_failed', 'ERROR', d.reason, d.detail, jsonb_build_object('scheduleId', s.id, 'name', s.name, 'dueAt', d.due_at), 'schedule', s.id::text
  FROM due d JOIN schedules s ON s.workspace_id = $1 AND s.id = d.schedule_id
  WHERE d.outcome = 'failed' AND d.schedule_id IN (SELECT schedule_id FROM recorded)
)
SELECT d.schedule_id, d.schedule_id IN (SELECT schedule_id FROM recorded) AS is_new FROM due d

-- unfinished_tasks
SELECT s.id AS "scheduleId", t.id, t.scheduled_for::text AS "scheduledFor"
FROM unnest($2::uuid[]) AS s (id)
CROSS JOIN LATERAL (
  SELECT t.id, t.scheduled_for FROM agent_tasks t
  WHERE t.workspace_id = $1 AND t.schedule_id = s.id AND (t.status IN ('PENDING', 'ASSIGNED', 'RUNNING', 'PAUSED') OR (t.status = 'ABORTED' AND t.retry_at IS NOT NULL))
  ORDER BY t.id LIMIT 1000
) t
