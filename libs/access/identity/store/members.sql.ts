import { command, query } from '#lib/database';
import type { MemberRole } from '#lib/kernel';

/**
 * Locks all OWNERs and one member, in one order, so that of two owners who remove each other at the
 * same time the second sees what the first has done: Prisma locks no rows. Needed before a role is changed or
 * taken.
 */
export const lockOwnersAndMember = command<{
  user_id: string;
  role: MemberRole;
  version: number;
}>(
  'identity_lock_owners_and_member',
  `SELECT user_id, role, version FROM workspace_members
    WHERE workspace_id = $1 AND (role = 'OWNER' OR user_id = $2)
    ORDER BY user_id
      FOR UPDATE`,
);

/**
 * A user whom the asker may add without asking them: any, for an operator of the installation; else only one who is a
 * member already, or the answer would tell who has an account.
 *
 * As the service role: a tenant sees its own members only. Primary keys.
 * $1 user, $2 the workspace, $3 the user who asks.
 */
export const findUserToAdd = query<{ id: string }>(
  'identity_find_user_to_add',
  `SELECT u.id FROM users u
    WHERE u.id = $1 AND u.disabled_at IS NULL AND (
      EXISTS (SELECT FROM workspace_members m WHERE m.workspace_id = $2 AND m.user_id = u.id)
      OR EXISTS (SELECT FROM users o WHERE o.id = $3 AND o.is_operator))`,
);
