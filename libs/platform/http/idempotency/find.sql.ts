import { query } from '#lib/database';

export interface HeldKeyRow {
  same_request: boolean;
  /** Null while the first request runs. */
  status_code: number | null;
  response_body: unknown;
  wait_seconds: number | null;
}

/**
 * The facts about a key that another request holds.
 *
 * After `beginRequest` has returned no row. Index: the primary key.
 *
 * $1 workspace, $2 key, $3 request hash
 */
export const findHeldKey = query<HeldKeyRow>(
  'idempotency_find_held_key',
  `SELECT request_hash = $3 AS same_request, status_code, response_body,
          ceil(extract(epoch FROM locked_until - now()))::integer AS wait_seconds
     FROM idempotency_keys
    WHERE workspace_id = $1 AND key = $2 AND expires_at > now()`,
);
