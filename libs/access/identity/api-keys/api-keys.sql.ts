import { command } from '#lib/database';

/** A repetition keeps the first time. Index: primary key. */
export const revokeApiKey = command<{ id: string }>(
  'identity_revoke_api_key',
  `UPDATE api_keys SET revoked_at = coalesce(revoked_at, now())
    WHERE workspace_id = $1 AND id = $2
   RETURNING id`,
);
