import { query } from '#lib/database';

export interface ArchivedRow {
  kind: 'project' | 'milestone';
  id: string;
}

/**
 * The archived ones among projects and milestones.
 *
 * Before tasks are added to them. Indexes: primary keys. $1 workspace, $2 ids of projects, $3 ids
 * of milestones.
 */
export const archivedPlans = query<ArchivedRow>(
  'archived_plans',
  `
SELECT 'project' AS kind, id FROM projects
WHERE workspace_id = $1 AND id = ANY($2::uuid[]) AND archived_at IS NOT NULL
UNION ALL
SELECT 'milestone', id FROM milestones
WHERE workspace_id = $1 AND id = ANY($3::uuid[]) AND archived_at IS NOT NULL`,
);
