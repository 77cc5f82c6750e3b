import { query } from '#lib/database';
import type { MemberRole } from '#lib/kernel';

/**
 * The role of a user in a workspace. No row if the user is no member or disabled, or the workspace
 * is archived.
 *
 * Behind a cache of seconds, for every request of a user. Indexes: three primary keys.
 */
export const findMembership = query<{ role: MemberRole }>(
  'identity_find_membership',
  `SELECT m.role
     FROM workspace_members m
     JOIN workspaces w ON w.id = m.workspace_id
     JOIN users u ON u.id = m.user_id
    WHERE m.workspace_id = $1 AND m.user_id = $2
      AND w.archived_at IS NULL AND u.disabled_at IS NULL`,
);

/**
 * The account of a user: disabled, operator, a password without a second factor. Cached.
 *
 * Indexes: primary keys.
 */
export const findAccount = query<{
  is_operator: boolean;
  disabled: boolean;
  lacks_factor: boolean;
}>(
  'identity_find_account',
  `SELECT u.is_operator, u.disabled_at IS NOT NULL AS disabled,
          u.password_hash IS NOT NULL AND NOT EXISTS (
            SELECT FROM user_factors f WHERE f.user_id = u.id AND f.confirmed_at IS NOT NULL) AS lacks_factor
     FROM users u WHERE u.id = $1`,
);

/** The workspaces of a user, like findMembership. A third one does not matter. Cached. $1 user. */
export const findWorkspacesOf = query<{ workspace_id: string }>(
  'identity_find_workspaces_of',
  `SELECT m.workspace_id
     FROM workspace_members m
     JOIN workspaces w ON w.id = m.workspace_id
    WHERE m.user_id = $1 AND w.archived_at IS NULL
    LIMIT 2`,
);
