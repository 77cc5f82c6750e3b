import { command } from '#lib/database';

/** A repetition keeps the first time. Index: primary key. */
export const revokeApiKey = command<{ id: string }>(
  'identity_revoke_api_key',
  `UPDATE api_keys SET revoked_at = coalesce(revoked_at, now())
    WHERE workspace_id = $1 AND id = $2
   RETURNING id`,
);

/**
 * Revokes the keys of a user in all workspaces. As the service role. Index:
 * api_keys_created_by_idx. $1 user.
 */
export const revokeApiKeysOf = command<{ id: string }>(
  'identity_revoke_api_keys_of',
  `UPDATE api_keys SET revoked_at = now() WHERE created_by = $1 AND revoked_at IS NULL RETURNING id`,
);
