import { query } from '#lib/database';
import type { MemberRole } from '#lib/kernel';

export interface MembershipRow {
  workspace_id: string;
  name: string;
  slug: string;
  role: MemberRole;
}

/**
 * The workspaces that a user is a member of, archived ones left out.
 *
 * Called by GET /auth/me. Needs workspace_members_user_id_idx.
 */
export const listMemberships = query<MembershipRow>(
  'identity_list_memberships',
  `SELECT w.id AS workspace_id, w.name, w.slug, m.role
     FROM workspace_members m JOIN workspaces w ON w.id = m.workspace_id
    WHERE m.user_id = $1 AND w.archived_at IS NULL
    ORDER BY w.id
    LIMIT 1000`,
);
