import type { SqlRunner } from '#lib/database';
import { DroverError } from '#lib/kernel';
import { namedRepositories } from './named-repositories.sql.js';

/** The repository of a task, with the field's name in the request. */
export interface NamedRepository {
  id: string;
  projectId: string | null | undefined;
  field: string;
}

/**
 * Does nothing if none is named. A repository is not locked: a task that is created while somebody
 * archives it is as good as one created a moment before.
 *
 * @throws DroverError `repository_not_found`, `repository_archived`, `validation_failed` if the
 *   repository is for the tasks of another project
 */
export async function refuseRepositories(
  runner: SqlRunner,
  workspaceId: string,
  named: readonly NamedRepository[],
): Promise<void> {
  if (named.length === 0) return;
  const ids = [...new Set(named.map(({ id }) => id.toLowerCase()))];
  const rows = await runner.rows(namedRepositories, [workspaceId, ids]);
  const byId = new Map(rows.map((row) => [row.id, row]));
  const errorsOf = (message: string, isWrong: (one: NamedRepository) => boolean) =>
    named.filter(isWrong).map(({ field }) => ({ field, message }));
  const find = ({ id }: NamedRepository) => byId.get(id.toLowerCase());
  const missing = errorsOf('names no repository', (one) => find(one) === undefined);
  if (missing.length > 0) throw new DroverError('repository_not_found', { errors: missing });
  const archived = errorsOf('names an archived repository', (one) => find(one)!.is_archived);
  if (archived.length > 0) throw new DroverError('repository_archived', { errors: archived });
  const foreign = errorsOf('names a repository of another project', (one) => {
    const owner = find(one)!.project_id;
    return owner !== null && owner !== one.projectId?.toLowerCase();
  });
  if (foreign.length > 0) throw new DroverError('validation_failed', { errors: foreign });
}
