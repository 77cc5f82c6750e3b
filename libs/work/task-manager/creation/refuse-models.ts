import { firstRow, type SqlRunner } from '#lib/database';
import { DroverError } from '#lib/kernel';
import { describeRefusal, refusalOf } from '#lib/models';
import { allowedModels } from './allowed-models.sql.js';

/** The model of a task's coding agent, with the field's name in the request. */
export interface NamedModel {
  model: string;
  projectId: string | null | undefined;
  field: string;
}

/** The model that a task names for its coding agent. */
export function modelOf({ agent }: { agent?: unknown }): string | undefined {
  const { model } = (agent ?? {}) as { model?: string };
  return model;
}

/**
 * Does nothing if no model is named. The lists are not locked: the requests of the runs are checked
 * again.
 *
 * @throws DroverError `model_not_allowed`
 */
export async function refuseModels(
  runner: SqlRunner,
  workspaceId: string,
  named: readonly NamedModel[],
): Promise<void> {
  if (named.length === 0) return;
  const projects = new Set(named.flatMap(({ projectId }) => projectId?.toLowerCase() ?? []));
  const row = await firstRow(runner, allowedModels, [workspaceId, [...projects]]);
  if (!row) return;
  const errors = named.flatMap(({ model, projectId, field }) => {
    const project = (projectId && row.projects?.[projectId.toLowerCase()]) || null;
    const refusal = refusalOf(model, { workspace: row.workspace, project });
    return refusal ? [{ field, message: describeRefusal(model, refusal) }] : [];
  });
  const [first] = errors;
  if (first === undefined) return;
  throw new DroverError('model_not_allowed', {
    detail: first.message,
    errors: errors.slice(0, MAX_ERRORS),
  });
}

/** Further errors tell nothing new. */
const MAX_ERRORS = 50;
