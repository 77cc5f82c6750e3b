import { command } from '#lib/database';

/**
 * Stores the answer if the request that started still holds the key. The lock is the proof, because
 * each holder gets another one. No row means that another request took the key over.
 *
 * In a service's transaction, or after it. Index: the primary key.
 *
 * $1 workspace, $2 key, $3 lock, $4 status code, $5 body
 */
export const completeRequest = command<{ kept: boolean }>(
  'idempotency_complete_request',
  `UPDATE idempotency_keys
      SET status_code = $4, response_body = $5::jsonb, locked_until = NULL
    WHERE workspace_id = $1 AND key = $2 AND created_at = $3::timestamptz AND status_code IS NULL
   RETURNING true AS kept`,
);
