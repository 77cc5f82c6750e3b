import { query } from '#lib/database';
import type { ForgeName } from '#lib/forges/domain';

/** Locks a repository for a change of its secrets. Index: primary key. $1 workspace, $2 repository. */
export const lockRepository = query<{
  url: string;
  forge: ForgeName;
  credential_kind: 'token' | 'ssh' | null;
}>(
  'lock_repository',
  `
SELECT r.url, r.forge, r.credential_kind FROM repositories r
WHERE r.workspace_id = $1 AND r.id = $2 AND r.archived_at IS NULL
FOR NO KEY UPDATE`,
);
