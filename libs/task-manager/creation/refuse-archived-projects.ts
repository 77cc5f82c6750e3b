import type { SqlRunner } from '#lib/database';
import { DroverError } from '#lib/kernel';
import { archivedProjects } from '../store/archived-projects.sql.js';

/** A project that a request puts a task into, and how the client calls the field. */
export interface NamedProject {
  field: string;
  projectId: string;
}

/**
 * Asks nothing when no project is named. A project is not locked for it: what is created while somebody
 * archives it is as good as created a moment before.
 *
 * @throws DroverError `project_archived`
 */
export async function refuseArchivedProjects(
  runner: SqlRunner,
  workspaceId: string,
  named: readonly NamedProject[],
): Promise<void> {
  if (named.length === 0) return;
  const ids = new Set(named.map(({ projectId }) => projectId.toLowerCase()));
  const rows = await runner.rows(archivedProjects, [workspaceId, [...ids]]);
  const archived = new Set(rows.map(({ id }) => id));
  const errors = named
    .filter(({ projectId }) => archived.has(projectId.toLowerCase()))
    .map(({ field }) => ({ field, message: 'names an archived project' }));
  if (errors.length > 0) throw new DroverError('project_archived', { errors });
}
