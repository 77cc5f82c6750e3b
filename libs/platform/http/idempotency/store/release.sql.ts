import { command } from '#lib/database';

/**
 * Gives a key back without an answer, so that the client's next try runs at once. One that has its
 * answer stays: the commit whose outcome was unknown did happen.
 *
 * After a request has failed on our side. Index: the primary key.
 *
 * $1 workspace, $2 key, $3 lock
 */
export const releaseRequest = command<unknown>(
  'idempotency_release_request',
  `DELETE FROM idempotency_keys
    WHERE workspace_id = $1 AND key = $2 AND locked_until = $3::timestamptz AND status_code IS NULL`,
);
