-- The statements as they run. Made by `npm run generate`; change the modules that declare them.

-- artifact_by_id
SELECT a.id, a.task_id, a.run_id, a.name, a.media_type, a.size_bytes::float8 AS size_bytes, a.sha256, a.created_at FROM artifacts a WHERE a.workspace_id = $1 AND a.id = $2

-- known_artifacts
SELECT a.id FROM artifacts a WHERE a.id = ANY ($1::uuid[])

-- list_artifacts
SELECT a.id, a.task_id, a.run_id, a.name, a.media_type, a.size_bytes::float8 AS size_bytes, a.sha256, a.created_at FROM artifacts a
WHERE a.workspace_id = $1 AND a.task_id = $2 AND ($3::uuid IS NULL OR a.run_id = $3)
  AND ($4::uuid IS NULL OR a.id < $4)
ORDER BY a.id DESC LIMIT $5

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

-- remove_artifact
WITH removed AS (
  DELETE FROM artifacts a WHERE a.workspace_id = $1 AND a.id = $2 RETURNING a.id, a.size_bytes
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

-- run_of_artifacts
SELECT r.id FROM task_runs r WHERE r.workspace_id = $1 AND r.id = $2

-- run_of_upload
SELECT r.task_id, r.ended_at IS NULL OR r.ended_at > now() - interval '15 minutes' AS is_open,
  (coalesce((SELECT u.bytes FROM artifact_usage u WHERE u.workspace_id = $1), 0)
    - coalesce((SELECT a.size_bytes FROM artifacts a
      WHERE a.workspace_id = $1 AND a.run_id = $2 AND a.name = $4), 0))::float8 AS kept_bytes
FROM task_runs r WHERE r.workspace_id = $1 AND r.id = $2 AND r.agent_id = $3

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
      WHERE n.workspace_id = $1 AND n.run_id = $2) < 1000 AS is_few
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
