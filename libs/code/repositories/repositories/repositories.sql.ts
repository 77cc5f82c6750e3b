import { query } from '#lib/database';

/** Locks a repository for a change of its secrets. Index: primary key. $1 workspace, $2 repository. */
export const lockRepository = query<{ url: string; credential_kind: 'token' | 'ssh' | null }>(
  'lock_repository',
  `
SELECT r.url, r.credential_kind FROM repositories r
WHERE r.workspace_id = $1 AND r.id = $2 AND r.archived_at IS NULL
FOR NO KEY UPDATE`,
);
