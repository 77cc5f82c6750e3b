import { query } from '#lib/database';

/** Index: primary key. $1 workspace. As the service role. */
export const workspaceExists = query<{ id: string }>(
  'coordinator_workspace_exists',
  `SELECT id FROM workspaces WHERE id = $1`,
);

/** Ids of the active workspaces, newest first. Index: primary key, backwards. $1 rows at most. */
export const listWorkspaceIds = query<{ id: string }>(
  'coordinator_list_workspace_ids',
  `SELECT id FROM workspaces WHERE archived_at IS NULL ORDER BY id DESC LIMIT $1`,
);
