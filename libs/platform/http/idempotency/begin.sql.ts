import { command } from '#lib/database';

/**
 * Takes a key: a new one, an expired one, or that of the same request whose first owner died before
 * it answered. No row means that another request holds the key.
 *
 * Once for each request with a key. Index: the primary key. One statement, because between a look
 * and an insert two equal requests would both find nothing.
 *
 * $1 workspace, $2 key, $3 request hash, $4 seconds the lock holds, $5 seconds the answer is kept
 */
export const beginRequest = command<{ lock: string }>(
  'idempotency_begin_request',
  `INSERT INTO idempotency_keys AS held (workspace_id, key, request_hash, locked_until, expires_at)
   VALUES ($1, $2, $3, now() + make_interval(secs => $4), now() + make_interval(secs => $5))
   ON CONFLICT (workspace_id, key) DO UPDATE
      SET request_hash = excluded.request_hash, status_code = NULL, response_body = NULL,
          locked_until = excluded.locked_until, created_at = now(), expires_at = excluded.expires_at
    WHERE held.expires_at <= now()
       OR (held.request_hash = excluded.request_hash
           AND held.status_code IS NULL AND held.locked_until <= now())
   RETURNING created_at::text AS lock`,
);
