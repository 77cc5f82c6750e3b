-- The statements as they run. Made by `npm run generate`; change the modules that declare them.

-- audit_entries
SELECT id, uuid_extract_timestamp(id) AS created_at, actor_kind, actor_id, actor_name, operation, path, status,
  request_id, address
FROM audit_log
WHERE workspace_id = $1 AND ($2::uuid IS NULL OR actor_id = $2) AND ($3::text IS NULL OR operation = $3)
  AND ($4::uuid IS NULL OR id >= $4) AND ($5::uuid IS NULL OR id < $5)
ORDER BY id DESC LIMIT $6

-- insert_audit_entry
INSERT INTO audit_log (workspace_id, actor_kind, actor_id, actor_name, operation, path, status, request_id, address)
VALUES ($1, $2, $3,
  CASE $2 WHEN 'user' THEN (SELECT email FROM users WHERE id = $3)
    ELSE (SELECT name FROM api_keys WHERE workspace_id = $1 AND id = $3) END,
  $4, $5, $6, $7, $8)

-- prune_audit_log
WITH oldest AS MATERIALIZED (
  SELECT workspace_id, id FROM audit_log
  WHERE id < (SELECT uuidv7(make_interval(days => -$1::int)))
  ORDER BY id LIMIT $2
),
pruned AS (
  DELETE FROM audit_log a USING oldest o WHERE a.workspace_id = o.workspace_id AND a.id = o.id
  RETURNING 1
)
SELECT count(*)::int AS removed FROM pruned
