import { firstRow, type SqlRunner } from '#lib/database';
import { DroverError } from '#lib/kernel';
import type { TaskFilter } from '../domain/task-filter.js';
import { namedThings, unknownTasks } from './named-things.sql.js';

const NAMED = [
  ['agent', 'agentId', 'agent_not_found'],
  ['project', 'projectId', 'project_not_found'],
  ['milestone', 'milestoneId', 'milestone_not_found'],
  ['parent', 'parentTaskId', 'task_not_found'],
] as const;

/** Maximum number of ids in an answer. */
const LISTED = 50;

/**
 * A filter by a missing object is a mistake (or a look at another tenant's), which an empty list
 * would hide.
 *
 * @param prefix stands before the names of fields, such as `filter.`
 * @throws DroverError `agent_not_found`, `project_not_found`, `milestone_not_found` or
 *   `task_not_found`
 */
export async function requireNamed(
  runner: SqlRunner,
  workspaceId: string,
  filter: TaskFilter,
  prefix = '',
): Promise<void> {
  const ids = NAMED.map(([, field]) => filter[field] ?? null);
  if (ids.every((id) => id === null)) return;
  const known = await firstRow(runner, namedThings, [workspaceId, ...ids]);
  for (const [thing, field, code] of NAMED) {
    if (known?.[thing]) continue;
    throw new DroverError(code, { errors: [{ field: prefix + field, message: 'is not there' }] });
  }
}

/** The ids without a task in the workspace. */
export async function unknownIds(
  runner: SqlRunner,
  workspaceId: string,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  return new Set((await runner.rows(unknownTasks, [workspaceId, ids])).map(({ id }) => id));
}

/**
 * @throws DroverError `task_not_found` with the positions of unknown ids
 */
export async function requireTasks(
  runner: SqlRunner,
  workspaceId: string,
  ids: readonly string[],
): Promise<void> {
  const unknown = await unknownIds(runner, workspaceId, ids);
  if (unknown.size === 0) return;
  const errors = ids.flatMap((id, index) =>
    unknown.has(id.toLowerCase()) ? [{ field: `ids[${index}]`, message: 'is not there' }] : [],
  );
  throw new DroverError('task_not_found', { errors: errors.slice(0, LISTED) });
}
