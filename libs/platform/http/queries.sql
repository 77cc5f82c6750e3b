-- The statements as they run. Made by `npm run generate`; change the modules that declare them.

-- idempotency_begin_request
INSERT INTO idempotency_keys AS held (workspace_id, key, request_hash, locked_until, expires_at)
   VALUES ($1, $2, $3, now() + make_interval(secs => $4), now() + make_interval(secs => $5))
   ON CONFLICT (workspace_id, key) DO UPDATE
      SET request_hash = excluded.request_hash, status_code = NULL, response_body = NULL,
          locked_until = excluded.locked_until, created_at = now(), expires_at = excluded.expires_at
    WHERE held.expires_at <= now()
       OR (held.request_hash = excluded.request_hash
           AND held.status_code IS NULL AND held.locked_until <= now())
   RETURNING created_at::text AS lock

-- idempotency_complete_request
UPDATE idempotency_keys
      SET status_code = $4, response_body = $5::jsonb, locked_until = NULL
    WHERE workspace_id = $1 AND key = $2 AND created_at = $3::timestamptz AND status_code IS NULL
   RETURNING true AS kept

-- idempotency_find_held_key
SELECT request_hash = $3 AS same_request, status_code, response_body,
          ceil(extract(epoch FROM locked_until - now()))::integer AS wait_seconds
     FROM idempotency_keys
    WHERE workspace_id = $1 AND key = $2 AND expires_at > now()

-- idempotency_purge_keys
DELETE FROM idempotency_keys
    WHERE ctid = ANY(ARRAY(
      SELECT ctid FROM idempotency_keys WHERE expires_at <= now()
       ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED))
   RETURNING workspace_id

-- idempotency_release_request
DELETE FROM idempotency_keys
    WHERE workspace_id = $1 AND key = $2 AND created_at = $3::timestamptz
      AND status_code IS NULL

-- idempotency_renew_request
UPDATE idempotency_keys SET locked_until = now() + make_interval(secs => $4)
    WHERE (workspace_id, key) IN (
      SELECT workspace_id, key FROM idempotency_keys
       WHERE workspace_id = $1 AND key = $2 AND created_at = $3::timestamptz AND status_code IS NULL
         FOR NO KEY UPDATE SKIP LOCKED)
