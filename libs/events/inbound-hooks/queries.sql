-- The statements as they run. Made by `npm run generate`; change the modules that declare them.

-- change_inbound_hook
UPDATE inbound_hooks h SET description = $3, rules = $4::jsonb,
  disabled_at = CASE WHEN NOT $5 THEN coalesce(h.disabled_at, now()) END,
  version = h.version + 1, updated_at = now()
WHERE h.workspace_id = $1 AND h.id = $2
RETURNING h.id

-- delete_inbound_hook
WITH links AS (
  DELETE FROM inbound_hook_deliveries WHERE workspace_id = $1 AND hook_id = $2 AND outcome = 'created'
)
DELETE FROM inbound_hooks WHERE workspace_id = $1 AND id = $2 RETURNING id

-- find_inbound_hook
SELECT h.workspace_id, h.id, h.kind, h.description, h.rules, h.disabled_at, h.created_by,
  (SELECT s.expires_at FROM inbound_hook_secrets s WHERE s.workspace_id = h.workspace_id AND s.hook_id = h.id
    AND s.column_name = 'previous_secret' AND s.expires_at > now()) AS previous_secret_expires_at,
  h.version, h.created_at, h.updated_at FROM inbound_hooks h WHERE h.workspace_id = $1 AND h.id = $2

-- hand_over_inbound_hooks
UPDATE inbound_hooks h SET
  disabled_at = CASE WHEN NOT $3 THEN now() END,
  version = h.version + CASE WHEN $3 THEN 0 ELSE 1 END,
  updated_at = CASE WHEN $3 THEN h.updated_at ELSE now() END
WHERE h.workspace_id = $1 AND h.created_by = $2 AND h.disabled_at IS NULL
RETURNING h.id, h.description

-- hook_of_address
SELECT h.workspace_id, h.id, h.kind, h.rules, h.disabled_at
FROM inbound_hooks h JOIN workspaces w ON w.id = h.workspace_id AND w.archived_at IS NULL
WHERE h.id = $1

-- inbound_hooks_find_delivery
SELECT d.id, d.delivery_id, d.digest, d.event, d.subject, d.rule, d.outcome, d.task_id, d.reason, d.detail,
  d.received_at FROM inbound_hook_deliveries d
WHERE d.workspace_id = $1 AND d.hook_id = $2 AND d.delivery_id = $3
UNION ALL
SELECT d.id, d.delivery_id, d.digest, d.event, d.subject, d.rule, d.outcome, d.task_id, d.reason, d.detail,
  d.received_at FROM inbound_hook_deliveries d
WHERE d.workspace_id = $1 AND d.hook_id = $2 AND d.known_by_digest AND d.digest = $4
LIMIT 1

-- inbound_hooks_keep_delivery
INSERT INTO inbound_hook_deliveries AS d (workspace_id, hook_id, id, delivery_id, digest, known_by_digest, event, subject,
  rule, outcome, once, task_id, reason, detail)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
ON CONFLICT (workspace_id, hook_id, delivery_id) DO UPDATE SET digest = excluded.digest, event = excluded.event,
  subject = excluded.subject, rule = excluded.rule, outcome = excluded.outcome, once = excluded.once,
  task_id = excluded.task_id, reason = excluded.reason, detail = excluded.detail
WHERE d.outcome NOT IN ('created', 'resumed')
RETURNING d.id, d.delivery_id, d.digest, d.event, d.subject, d.rule, d.outcome, d.task_id, d.reason, d.detail,
  d.received_at

-- inbound_hooks_prune_deliveries
DELETE FROM inbound_hook_deliveries d USING (
  SELECT workspace_id, hook_id, id FROM inbound_hook_deliveries
  WHERE received_at < now() - make_interval(days => $1) AND outcome <> 'created' ORDER BY received_at LIMIT $2) o
WHERE d.workspace_id = o.workspace_id AND d.hook_id = o.hook_id AND d.id = o.id
RETURNING d.id

-- inbound_hooks_task_of_subject
SELECT d.task_id, d.once FROM inbound_hook_deliveries d
WHERE d.workspace_id = $1 AND d.hook_id = $2 AND d.subject = $3 AND d.outcome = 'created'
ORDER BY d.id DESC LIMIT 1

-- insert_inbound_hook
INSERT INTO inbound_hooks (workspace_id, id, kind, description, rules, created_by)
SELECT $1, $2, $3, $4, $5::jsonb, $6 WHERE (SELECT count(*) FROM inbound_hooks WHERE workspace_id = $1) < $7
RETURNING id

-- list_inbound_deliveries
SELECT d.id, d.delivery_id, d.digest, d.event, d.subject, d.rule, d.outcome, d.task_id, d.reason, d.detail,
  d.received_at FROM inbound_hook_deliveries d
WHERE d.workspace_id = $1 AND d.hook_id = $2 AND ($3::uuid IS NULL OR d.id < $3)
ORDER BY d.id DESC LIMIT $4

-- list_inbound_hooks
SELECT h.workspace_id, h.id, h.kind, h.description, h.rules, h.disabled_at, h.created_by,
  (SELECT s.expires_at FROM inbound_hook_secrets s WHERE s.workspace_id = h.workspace_id AND s.hook_id = h.id
    AND s.column_name = 'previous_secret' AND s.expires_at > now()) AS previous_secret_expires_at,
  h.version, h.created_at, h.updated_at FROM inbound_hooks h
WHERE h.workspace_id = $1 AND ($2::uuid IS NULL OR h.id > $2)
ORDER BY h.id LIMIT $3

-- lock_inbound_hook
SELECT h.workspace_id, h.id, h.kind, h.description, h.rules, h.disabled_at, h.created_by,
  (SELECT s.expires_at FROM inbound_hook_secrets s WHERE s.workspace_id = h.workspace_id AND s.hook_id = h.id
    AND s.column_name = 'previous_secret' AND s.expires_at > now()) AS previous_secret_expires_at,
  h.version, h.created_at, h.updated_at FROM inbound_hooks h WHERE h.workspace_id = $1 AND h.id = $2 FOR NO KEY UPDATE

-- lock_inbound_hooks
SELECT pg_advisory_xact_lock(hashtextextended('inbound hooks of ' || $1::text, 0))
