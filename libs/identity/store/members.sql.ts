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
 * A user by e-mail address, or by id: then only one whom the asker can have met. Ids get around in
 * logs and links, and adding somebody shows their name and address.
 *
 * As the service role: a tenant sees its own members only. Primary keys, users_email_key,
 * workspace_members_user_id_idx.
 * $1 id or NULL, $2 e-mail address or NULL, $3 the workspace, $4 the user who asks, NULL for a program.
 */
export const findUserToAdd = query<{ id: string }>(
  'identity_find_user_to_add',
  `SELECT u.id FROM users u
    WHERE u.disabled_at IS NULL AND (u.email = $2::text OR (u.id = $1::uuid AND (
      EXISTS (
        SELECT FROM workspace_members m
         WHERE m.user_id = u.id AND (m.workspace_id = $3 OR m.workspace_id IN (
           SELECT own.workspace_id FROM workspace_members own WHERE own.user_id = $4::uuid)))
      OR EXISTS (SELECT FROM users o WHERE o.id = $4::uuid AND o.is_operator))))`,
);
