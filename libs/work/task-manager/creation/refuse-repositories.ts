import { firstRow, type SqlRunner } from '#lib/database';
import { DroverError } from '#lib/kernel';
import { type FoundRepository, namedRepositories } from './named-repositories.sql.js';

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
  const find = ({ id }: NamedRepository) => byId.get(id.toLowerCase());
  const errorsOf = (message: string, isWrong: (one: NamedRepository) => boolean) =>
    named.filter(isWrong).map(({ field }) => ({ field, message }));
  const missing = errorsOf('names no repository', (one) => find(one) === undefined);
  if (missing.length > 0) throw new DroverError('repository_not_found', { errors: missing });
  const archived = errorsOf('names an archived repository', (one) => find(one)!.is_archived);
  if (archived.length > 0) throw new DroverError('repository_archived', { errors: archived });
  const foreign = errorsOf('names a repository of another project', (one) =>
    isForeign(find(one)!, one),
  );
  if (foreign.length > 0) throw new DroverError('validation_failed', { errors: foreign });
}

/**
 * A task keeps its repository when it moves to another project, also an archived one.
 *
 * @param moved the repository with the next project
 * @throws DroverError `validation_failed` if the repository is for the tasks of another project
 */
export async function refuseOtherProject(
  runner: SqlRunner,
  workspaceId: string,
  moved: NamedRepository,
): Promise<void> {
  const found = await firstRow(runner, namedRepositories, [workspaceId, [moved.id]]);
  if (!found || !isForeign(found, moved)) return;
  const message = "must be the project of the task's repository";
  throw new DroverError('validation_failed', { errors: [{ field: moved.field, message }] });
}

function isForeign({ project_id: owner }: FoundRepository, { projectId }: NamedRepository) {
  return owner !== null && owner !== projectId?.toLowerCase();
}
