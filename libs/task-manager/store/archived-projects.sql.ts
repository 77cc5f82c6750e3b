import { query } from '#lib/database';

/**
 * Those of the projects that are archived.
 *
 * Before tasks are put into projects. Index: primary key.
 * $1 workspace, $2 ids.
 */
export const archivedProjects = query<{ id: string }>(
  'archived_projects',
  `
SELECT id FROM projects
WHERE workspace_id = $1 AND id = ANY($2::uuid[]) AND archived_at IS NOT NULL`,
);
