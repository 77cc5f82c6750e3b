import { command, query } from '#lib/database';
import type { MemberRole } from '#lib/kernel';

/**
 * Locks all OWNERs who are not disabled, and one member, in one order, before a role is changed or
 * removed. If two owners remove each other at the same time, the second sees the effect of the
 * first. Prisma locks no rows.
 */
export const lockOwnersAndMember = command<{
  user_id: string;
  role: MemberRole;
  version: number;
}>(
  'identity_lock_owners_and_member',
  `SELECT m.user_id, m.role, m.version FROM workspace_members m
    WHERE m.workspace_id = $1 AND (m.user_id = $2 OR m.role = 'OWNER' AND EXISTS (
      SELECT FROM users u WHERE u.id = m.user_id AND u.disabled_at IS NULL))
    ORDER BY m.user_id
      FOR UPDATE`,
);

/**
 * A user whom the caller can add without an invitation: for an operator any user, otherwise only a
 * user who already is a member. Other answers would reveal who has an account.
 *
 * As the service role, because a tenant sees only its own members. Indexes: primary keys. $1 user,
 * $2 the workspace, $3 whether the caller is an operator.
 */
export const findUserToAdd = query<{ id: string }>(
  'identity_find_user_to_add',
  `SELECT u.id FROM users u
    WHERE u.id = $1 AND u.disabled_at IS NULL AND (
      EXISTS (SELECT FROM workspace_members m WHERE m.workspace_id = $2 AND m.user_id = u.id)
      OR $3::boolean)`,
);

/**
 * Locks the memberships of a user in one order, so that the user creates no hooks meanwhile. As the
 * service role. Index: workspace_members_user_id_idx. $1 user.
 */
export const lockMemberships = command<{ workspace_id: string }>(
  'identity_lock_memberships',
  `SELECT workspace_id FROM workspace_members WHERE user_id = $1 ORDER BY workspace_id FOR UPDATE`,
);

/** A member who is not disabled. Index: primary key. $1 user. */
export const findEnabledUser = query<{ id: string }>(
  'identity_find_enabled_user',
  `SELECT id FROM users WHERE id = $1 AND disabled_at IS NULL`,
);

/** The role of a member, who is neither removed nor changed meanwhile. Index: primary key. */
export const lockRole = command<{ role: MemberRole }>(
  'identity_lock_role',
  `SELECT role FROM workspace_members WHERE workspace_id = $1 AND user_id = $2 FOR KEY SHARE`,
);
