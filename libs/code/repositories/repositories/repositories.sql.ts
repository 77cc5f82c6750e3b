import { query } from '#lib/database';
import type { ForgeName } from '#lib/forges/domain';
import { type NetworkLevels, networkLevels } from '#lib/projects';

/**
 * The repositories of a forge with one of these addresses. Reads the repositories of the workspace.
 * Index: primary key. $1 workspace, $2 forge, $3 addresses in lower case, without `.git` at their
 * ends.
 */
export const repositoriesAtForge = query<{ id: string }>(
  'repositories_at_forge',
  `
SELECT r.id FROM repositories r
WHERE r.workspace_id = $1 AND r.forge = $2
  AND regexp_replace(lower(r.url), '(\\.git)?/?$', '') = ANY ($3::text[])`,
);

/** Locks a repository for a change of its secrets. Index: primary key. $1 workspace, $2 repository. */
export const lockRepository = query<{
  url: string;
  forge: ForgeName;
  forge_url: string | null;
  credential_kind: 'token' | 'ssh' | null;
}>(
  'lock_repository',
  `
SELECT r.url, r.forge, r.forge_url, r.credential_kind FROM repositories r
WHERE r.workspace_id = $1 AND r.id = $2 AND r.archived_at IS NULL
FOR NO KEY UPDATE`,
);

/**
 * The network that workspace and project allow sessions and scripts. Indexes: primary keys. $1
 * workspace, $2 project or NULL.
 */
export const networkOfProject = query<{ levels: NetworkLevels | null }>(
  'network_of_project',
  `
SELECT ${networkLevels('$1', '$2::uuid')} AS levels`,
);
