-- The statements as they run. Made by `npm run generate`; change the modules that declare them.

-- agent_state_of_run
SELECT a.id, a.task_id, a.size_bytes::float8 AS size_bytes, a.sha256, a.key_id
FROM task_runs r JOIN agent_tasks t ON t.workspace_id = $1 AND t.id = r.task_id
LEFT JOIN LATERAL (
  SELECT s.* FROM artifacts s
  WHERE s.workspace_id = $1 AND s.kind = 'agent_state' AND s.task_id = ANY (ARRAY[t.id, t.continues_id])
  ORDER BY s.task_id = t.id DESC LIMIT 1) a ON true
WHERE r.workspace_id = $1 AND r.id = $2 AND r.agent_id = $3 AND r.state IN ('ASSIGNED', 'WORKING', 'STALE')

-- artifact_by_id
SELECT a.id, a.task_id, a.run_id, a.name, a.media_type, a.size_bytes::float8 AS size_bytes, a.sha256, a.created_at FROM artifacts a WHERE a.workspace_id = $1 AND a.id = $2 AND a.kind <> 'agent_state'

-- artifact_of_run
SELECT a.id, a.task_id, a.run_id, a.name, a.media_type, a.size_bytes::float8 AS size_bytes, a.sha256, a.created_at FROM artifacts a
WHERE a.workspace_id = $1 AND a.run_id = $2 AND a.name = $3 AND a.kind = 'file'

-- evict_agent_states
WITH oldest AS (
  SELECT a.id, sum(a.size_bytes) OVER () AS total,
    sum(a.size_bytes) OVER (ORDER BY a.created_at, a.id) - a.size_bytes AS freed
  FROM artifacts a
  WHERE a.workspace_id = $1 AND a.kind = 'agent_state' AND a.task_id IS DISTINCT FROM $3::uuid
),
removed AS (
  DELETE FROM artifacts a USING oldest o
  WHERE a.workspace_id = $1 AND a.id = o.id AND o.freed < $4::bigint AND o.total >= $2::bigint
  RETURNING a.id, a.size_bytes
),
counted AS (
  UPDATE artifact_usage u SET bytes = u.bytes - r.size_bytes
  FROM (SELECT sum(r.size_bytes) AS size_bytes FROM removed r) r
  WHERE u.workspace_id = $1 AND r.size_bytes IS NOT NULL
)
SELECT r.id FROM removed r

-- known_artifacts
SELECT a.id FROM artifacts a WHERE a.id = ANY ($1::uuid[])

-- list_artifacts
SELECT a.id, a.task_id, a.run_id, a.name, a.media_type, a.size_bytes::float8 AS size_bytes, a.sha256, a.created_at FROM artifacts a
WHERE a.workspace_id = $1 AND a.task_id = $2 AND a.kind = 'file'
  AND ($3::uuid IS NULL OR a.run_id = $3)
  AND ($4::text IS NULL OR a.name = $4)
  AND ($5::uuid IS NULL OR a.id < $5)
ORDER BY a.id DESC LIMIT $6

-- list_attachments
SELECT a.id, a.name, a.media_type, a.size_bytes::float8 AS size_bytes, a.sha256, a.created_at FROM artifacts a
WHERE a.workspace_id = $1 AND a.task_id = $2 AND a.kind = 'attachment' ORDER BY a.name

-- lock_artifact_usage
INSERT INTO artifact_usage AS u (workspace_id) VALUES ($1)
ON CONFLICT (workspace_id) DO UPDATE SET bytes = u.bytes
RETURNING u.workspace_id

-- lock_usage_of_expired_artifacts
SELECT u.workspace_id FROM artifact_usage u
WHERE u.workspace_id IN (SELECT e.workspace_id FROM (
  SELECT a.workspace_id FROM artifacts a WHERE a.created_at < now() - make_interval(days => $1)
  ORDER BY a.created_at LIMIT $2) e)
ORDER BY u.workspace_id FOR UPDATE

-- own_quota
SELECT l.max_artifact_mb * 1048576::float8 AS quota_bytes FROM workspace_limits l WHERE l.workspace_id = $1

-- remove_artifact
WITH removed AS (
  DELETE FROM artifacts a WHERE a.workspace_id = $1 AND a.id = $2 AND a.kind <> 'agent_state'
  RETURNING a.id, a.size_bytes
),
counted AS (
  UPDATE artifact_usage u SET bytes = u.bytes - r.size_bytes FROM removed r WHERE u.workspace_id = $1
)
SELECT r.id FROM removed r

-- remove_expired_artifacts
WITH removed AS (
  DELETE FROM artifacts a USING (
    SELECT e.workspace_id, e.id FROM artifacts e
    WHERE e.created_at < now() - make_interval(days => $1) AND e.workspace_id = ANY ($3::uuid[])
    ORDER BY e.created_at LIMIT $2) e
  WHERE a.workspace_id = e.workspace_id AND a.id = e.id
  RETURNING a.workspace_id, a.id, a.size_bytes
),
counted AS (
  UPDATE artifact_usage u SET bytes = u.bytes - r.bytes
  FROM (SELECT r.workspace_id, sum(r.size_bytes) AS bytes FROM removed r GROUP BY r.workspace_id) r
  WHERE u.workspace_id = r.workspace_id
)
SELECT r.id FROM removed r

-- room_of_agent_state
SELECT r.task_id,
  (coalesce((SELECT u.bytes FROM artifact_usage u WHERE u.workspace_id = $1), 0)
    - coalesce((SELECT a.size_bytes FROM artifacts a
      WHERE a.workspace_id = $1 AND a.task_id = r.task_id AND a.kind = 'agent_state'), 0))::float8 AS kept_bytes
FROM task_runs r
WHERE r.workspace_id = $1 AND r.id = $2 AND r.agent_id = $3 AND (r.state IN ('ASSIGNED', 'WORKING', 'STALE') OR EXISTS (
    SELECT FROM agent_tasks t WHERE t.workspace_id = r.workspace_id AND t.id = r.task_id
      AND t.generation = r.generation AND t.paused_for IN ('question', 'review')))

-- room_of_attachment
SELECT (coalesce((SELECT u.bytes FROM artifact_usage u WHERE u.workspace_id = $1), 0)
  - coalesce((SELECT a.size_bytes FROM artifacts a WHERE a.workspace_id = $1 AND a.task_id = $2
    AND a.name = $3 AND a.kind = 'attachment'), 0))::float8 AS kept_bytes

-- run_of_artifacts
SELECT r.id FROM task_runs r WHERE r.workspace_id = $1 AND r.id = $2

-- run_of_upload
SELECT r.task_id, r.ended_at IS NULL OR r.ended_at > now() - interval '15 minutes' AS is_open,
  (coalesce((SELECT u.bytes FROM artifact_usage u WHERE u.workspace_id = $1), 0)
    - coalesce((SELECT a.size_bytes FROM artifacts a
      WHERE a.workspace_id = $1 AND a.run_id = $2 AND a.name = $4), 0))::float8 AS kept_bytes
FROM task_runs r WHERE r.workspace_id = $1 AND r.id = $2 AND r.agent_id = $3

-- write_agent_state
WITH run AS MATERIALIZED (
  SELECT r.id, r.task_id FROM task_runs r
  WHERE r.workspace_id = $1 AND r.id = $2 AND r.agent_id = $3 AND (r.state IN ('ASSIGNED', 'WORKING', 'STALE') OR EXISTS (
    SELECT FROM agent_tasks t WHERE t.workspace_id = r.workspace_id AND t.id = r.task_id
      AND t.generation = r.generation AND t.paused_for IN ('question', 'review')))
  FOR KEY SHARE
),
facts AS MATERIALIZED (
  SELECT run.id AS run_id, run.task_id, b.id AS replaced_id,
    $5::bigint - coalesce(b.size_bytes, 0) AS growth,
    u.bytes + $5::bigint - coalesce(b.size_bytes, 0) <= $7::bigint AS has_room
  FROM run JOIN artifact_usage u ON u.workspace_id = $1
  LEFT JOIN artifacts b ON b.workspace_id = $1 AND b.task_id = run.task_id AND b.kind = 'agent_state'
),
written AS (
  INSERT INTO artifacts AS a
    (workspace_id, id, task_id, run_id, name, media_type, size_bytes, sha256, kind, key_id)
  SELECT $1, $4, f.task_id, f.run_id, 'state/', 'application/gzip', $5, $6, 'agent_state', $8
  FROM facts f WHERE f.has_room
  ON CONFLICT (workspace_id, task_id) WHERE kind = 'agent_state' DO UPDATE SET id = excluded.id,
    run_id = excluded.run_id, created_at = now(), size_bytes = excluded.size_bytes,
    sha256 = excluded.sha256, key_id = excluded.key_id
  RETURNING a.id
),
counted AS (
  UPDATE artifact_usage u SET bytes = u.bytes + f.growth FROM facts f
  WHERE u.workspace_id = $1 AND EXISTS (SELECT FROM written)
)
SELECT f.replaced_id, (SELECT w.id FROM written w) AS id FROM facts f

-- write_artifact
WITH run AS MATERIALIZED (
  SELECT r.id, r.task_id FROM task_runs r
  WHERE r.workspace_id = $1 AND r.id = $2 AND r.agent_id = $3
    AND (r.ended_at IS NULL OR r.ended_at > now() - interval '15 minutes')
  FOR KEY SHARE
),
before AS (
  SELECT b.id, b.size_bytes FROM artifacts b WHERE b.workspace_id = $1 AND b.run_id = $2 AND b.name = $5
),
facts AS MATERIALIZED (
  SELECT run.id AS run_id, run.task_id,
    (SELECT b.id FROM before b) AS replaced_id,
    $7::bigint - coalesce((SELECT b.size_bytes FROM before b), 0) AS growth,
    u.bytes + $7::bigint - coalesce((SELECT b.size_bytes FROM before b), 0) <= $9::bigint AS has_room,
    EXISTS (SELECT FROM before) OR (SELECT count(*) FROM artifacts n
      WHERE n.workspace_id = $1 AND n.run_id = $2 AND n.kind = 'file') < 1000 AS is_few
  FROM run JOIN artifact_usage u ON u.workspace_id = $1
),
written AS (
  INSERT INTO artifacts AS a (workspace_id, id, task_id, run_id, name, media_type, size_bytes, sha256)
  SELECT $1, $4, f.task_id, f.run_id, $5, $6, $7, $8 FROM facts f WHERE f.has_room AND f.is_few
  ON CONFLICT (workspace_id, run_id, name) DO UPDATE SET id = excluded.id, created_at = now(),
    media_type = excluded.media_type, size_bytes = excluded.size_bytes, sha256 = excluded.sha256
  RETURNING a.id, a.task_id, a.run_id, a.name, a.media_type, a.size_bytes::float8 AS size_bytes, a.sha256, a.created_at
),
counted AS (
  UPDATE artifact_usage u SET bytes = u.bytes + f.growth FROM facts f
  WHERE u.workspace_id = $1 AND EXISTS (SELECT FROM written)
)
SELECT f.has_room, f.is_few, f.replaced_id, w.* FROM facts f LEFT JOIN written w ON true

-- write_attachment
WITH before AS MATERIALIZED (
  SELECT b.id, b.name, b.size_bytes FROM artifacts b
  WHERE b.workspace_id = $1 AND b.task_id = $2 AND b.kind = 'attachment'
),
facts AS MATERIALIZED (
  SELECT (SELECT b.id FROM before b WHERE b.name = $4) AS replaced_id,
    $6::bigint - coalesce((SELECT b.size_bytes FROM before b WHERE b.name = $4), 0) AS growth,
    u.bytes + $6::bigint - coalesce((SELECT b.size_bytes FROM before b WHERE b.name = $4), 0)
      <= $8::bigint AS has_room,
    (SELECT count(*) FROM before b WHERE b.name <> $4) < 50 AS is_few
  FROM artifact_usage u WHERE u.workspace_id = $1
),
written AS (
  INSERT INTO artifacts AS a (workspace_id, id, task_id, name, media_type, size_bytes, sha256, kind)
  SELECT $1, $3, $2, $4, $5, $6, $7, 'attachment' FROM facts f WHERE f.has_room AND f.is_few
  ON CONFLICT (workspace_id, task_id, name) WHERE kind = 'attachment' DO UPDATE SET id = excluded.id,
    created_at = now(), media_type = excluded.media_type, size_bytes = excluded.size_bytes,
    sha256 = excluded.sha256
  RETURNING a.id, a.name, a.media_type, a.size_bytes::float8 AS size_bytes, a.sha256, a.created_at
),
counted AS (
  UPDATE artifact_usage u SET bytes = u.bytes + f.growth FROM facts f
  WHERE u.workspace_id = $1 AND EXISTS (SELECT FROM written)
)
SELECT f.has_room, f.is_few, f.replaced_id, w.* FROM facts f LEFT JOIN written w ON true
