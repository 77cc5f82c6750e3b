-- The statements as they run. Made by `npm run generate`; change the modules that declare them.

-- audit_entries
SELECT id, uuid_extract_timestamp(id) AS created_at, actor_kind, actor_id, actor_name, operation, path, status,
  request_id, address, details
FROM audit_log
WHERE workspace_id = $1 AND ($2::uuid IS NULL OR actor_id = $2) AND ($3::text IS NULL OR operation = $3)
  AND ($4::uuid IS NULL OR id >= $4) AND ($5::uuid IS NULL OR id < $5)
ORDER BY id DESC LIMIT $6

-- insert_installation_entry
INSERT INTO installation_audit_log (actor_id, account, operation, path, status, details, attempts, request_id, address)
VALUES ($1, coalesce($2, (SELECT email FROM users WHERE id = $1)), $3, $4, $5, $6::jsonb, $7, $8, $9)

-- installation_entries
SELECT id, uuid_extract_timestamp(id) AS created_at, actor_id, account, operation, path, status, details, attempts,
  request_id, address
FROM installation_audit_log
WHERE ($1::text IS NULL OR account = $1) AND ($2::text IS NULL OR operation = $2)
  AND ($3::uuid IS NULL OR id >= $3) AND ($4::uuid IS NULL OR id < $4)
ORDER BY id DESC LIMIT $5

-- keep_audit_entry
SELECT keep_audit_entry($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::jsonb) AS kept

-- prune_audit_log
SELECT prune_audit_logs($1, $2) AS removed
