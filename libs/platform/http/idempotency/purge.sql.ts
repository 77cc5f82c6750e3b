import { command } from '#lib/database';

/**
 * Removes expired keys of all workspaces, oldest first, `$1` at a time.
 *
 * As the service role. Index: idempotency_keys_expires_at_idx.
 * The array makes Postgres evaluate the limited sub-select once.
 */
export const purgeKeys = command<{ workspace_id: string }>(
  'idempotency_purge_keys',
  `DELETE FROM idempotency_keys
    WHERE ctid = ANY(ARRAY(
      SELECT ctid FROM idempotency_keys WHERE expires_at <= now()
       ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED))
   RETURNING workspace_id`,
);
