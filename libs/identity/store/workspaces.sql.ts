import { command, query } from '#lib/database';
import type { MemberRole } from '#lib/kernel';

export interface WorkspaceRow {
  id: string;
  name: string;
  slug: string;
  archived_at: Date | null;
  version: number;
  created_at: Date;
  updated_at: Date;
}

const COLUMNS = 'id, name, slug, archived_at, version, created_at, updated_at';

/**
 * A workspace and its first OWNER: id, name, slug, user. No row when the slug is in use.
 *
 * Called by POST /workspaces and by the first start, as the service role: before it there is no
 * tenant to act for.
 */
export const insertWorkspace = command<WorkspaceRow>(
  'identity_insert_workspace',
  `WITH made AS (
     INSERT INTO workspaces (id, name, slug) VALUES ($1, $2, $3)
     ON CONFLICT (slug) DO NOTHING
     RETURNING ${COLUMNS}),
   owner AS (
     INSERT INTO workspace_members (workspace_id, user_id, role)
     SELECT id, $4, 'OWNER' FROM made)
   SELECT ${COLUMNS} FROM made`,
);

/**
 * A user's workspaces: user, after an id, so many. Archived ones are left out.
 *
 * Called by GET /workspaces, as the service role. Needs workspace_members_user_id_idx.
 */
export const listOwnWorkspaces = query<WorkspaceRow & { role: MemberRole }>(
  'identity_list_own_workspaces',
  `SELECT w.id, w.name, w.slug, w.archived_at, w.version, w.created_at, w.updated_at, m.role
     FROM workspace_members m JOIN workspaces w ON w.id = m.workspace_id
    WHERE m.user_id = $1 AND w.id > $2 AND w.archived_at IS NULL
    ORDER BY w.id
    LIMIT $3`,
);

/** Called by GET /workspaces/:id, as the tenant. Primary key. */
export const findWorkspace = query<WorkspaceRow>(
  'identity_find_workspace',
  `SELECT ${COLUMNS} FROM workspaces WHERE id = $1`,
);

/** Renames or archives: id, version or null, name or null, whether to archive. Primary key. */
export const updateWorkspace = command<WorkspaceRow>(
  'identity_update_workspace',
  `UPDATE workspaces
      SET name = coalesce($3, name),
          archived_at = CASE WHEN $4::boolean THEN coalesce(archived_at, now()) ELSE archived_at END,
          version = version + 1, updated_at = now()
    WHERE id = $1 AND ($2::int IS NULL OR version = $2)
   RETURNING ${COLUMNS}`,
);
