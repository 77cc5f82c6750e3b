import { command } from '#lib/database';

/**
 * Releases a key without an answer, so that the client's next attempt runs at once. A key with an
 * answer stays: the commit with the unknown outcome did happen.
 *
 * After a failure of the server. Index: the primary key.
 *
 * $1 workspace, $2 key, $3 lock
 */
export const releaseRequest = command<unknown>(
  'idempotency_release_request',
  `DELETE FROM idempotency_keys
    WHERE workspace_id = $1 AND key = $2 AND created_at = $3::timestamptz
      AND status_code IS NULL`,
);
