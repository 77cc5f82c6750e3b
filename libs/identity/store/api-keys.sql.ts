import { command, query } from '#lib/database';
import type { MemberRole } from '#lib/kernel';

export interface ApiKeyRow {
  id: string;
  name: string;
  prefix: string;
  role: Exclude<MemberRole, 'OWNER'>;
  scopes: string[];
  created_by: string;
  created_at: Date;
  expires_at: Date | null;
  last_used_at: Date | null;
  revoked_at: Date | null;
}

const COLUMNS =
  'id, name, prefix, role, scopes, created_by, created_at, expires_at, last_used_at, revoked_at';

/**
 * Workspace, id, name, prefix, hash, role, scopes, maker, seconds that it lasts.
 *
 * Called by POST …/api-keys, as the tenant.
 */
export const insertApiKey = command<ApiKeyRow>(
  'identity_insert_api_key',
  `INSERT INTO api_keys
     (workspace_id, id, name, prefix, key_hash, role, scopes, created_by, expires_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, now() + $9::int * interval '1 second')
   RETURNING ${COLUMNS}`,
);

/** Keys after an id, so many, revoked ones too. Called by GET …/api-keys. Primary key. */
export const listApiKeys = query<ApiKeyRow>(
  'identity_list_api_keys',
  `SELECT ${COLUMNS} FROM api_keys
    WHERE workspace_id = $1 AND id > $2
    ORDER BY id
    LIMIT $3`,
);

/** Repeating it keeps the first time. Called by DELETE …/api-keys/:id. Primary key. */
export const revokeApiKey = command<{ id: string }>(
  'identity_revoke_api_key',
  `UPDATE api_keys SET revoked_at = coalesce(revoked_at, now())
    WHERE workspace_id = $1 AND id = $2
   RETURNING id`,
);
