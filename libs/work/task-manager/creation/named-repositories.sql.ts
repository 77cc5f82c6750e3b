import { query } from '#lib/database';

export interface FoundRepository {
  id: string;
  /** NULL: it is for the tasks of all projects. */
  project_id: string | null;
  is_archived: boolean;
}

/**
 * The repositories that tasks name. Index: primary key. $1 workspace, $2 ids of repositories.
 */
export const namedRepositories = query<FoundRepository>(
  'named_repositories',
  `
SELECT id, project_id, archived_at IS NOT NULL AS is_archived FROM repositories
WHERE workspace_id = $1 AND id = ANY($2::uuid[])`,
);
