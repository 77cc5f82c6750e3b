import { command } from '#lib/database';

/**
 * Keeps the key of a request that still runs. A row that is locked has its answer in an open
 * transaction and needs nothing.
 *
 * As the service role, every 3 s of a request that takes so long. Index: the primary key.
 *
 * $1 workspace, $2 key, $3 lock, $4 seconds the lock holds
 */
export const renewRequest = command<unknown>(
  'idempotency_renew_request',
  `UPDATE idempotency_keys SET locked_until = now() + make_interval(secs => $4)
    WHERE (workspace_id, key) IN (
      SELECT workspace_id, key FROM idempotency_keys
       WHERE workspace_id = $1 AND key = $2 AND created_at = $3::timestamptz AND status_code IS NULL
         FOR NO KEY UPDATE SKIP LOCKED)`,
);
