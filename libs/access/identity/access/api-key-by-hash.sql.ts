import { query } from '#lib/database';
import type { MemberRole } from '#lib/kernel';

export interface ApiKeyRecord {
  id: string;
  workspace_id: string;
  scopes: string[];
  role: MemberRole;
  created_by: string;
  expires_at: Date | null;
  expired: boolean;
  revoked: boolean;
  /** Null if the creator has left the workspace or is disabled. */
  maker_role: MemberRole | null;
}

/**
 * The key with a hash, and the current role of its creator.
 *
 * As the service role (the workspace comes from the row), behind a cache of seconds. Indexes:
 * api_keys_key_hash_key and primary keys.
 */
export const findApiKeyByHash = query<ApiKeyRecord>(
  'identity_find_api_key_by_hash',
  `SELECT k.id, k.workspace_id, k.scopes, k.role, k.created_by, k.expires_at,
          coalesce(k.expires_at <= now(), false) AS expired,
          k.revoked_at IS NOT NULL OR w.archived_at IS NOT NULL AS revoked,
          CASE WHEN u.disabled_at IS NULL THEN m.role END AS maker_role
     FROM api_keys k
     JOIN workspaces w ON w.id = k.workspace_id
     JOIN users u ON u.id = k.created_by
     LEFT JOIN workspace_members m ON m.workspace_id = k.workspace_id AND m.user_id = k.created_by
    WHERE k.key_hash = $1`,
);
