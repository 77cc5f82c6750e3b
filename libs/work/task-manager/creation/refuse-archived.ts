import type { SqlRunner } from '#lib/database';
import { DroverError } from '#lib/kernel';
import { type ArchivedRow, archivedPlans } from './archived-plans.sql.js';

/** The project or milestone of a request, with the field's name in the request. */
export interface NamedPlan extends ArchivedRow {
  field: string;
}

/** The project and milestone of a task. `prefix` leads to its fields. */
export function plansOf(
  task: { projectId?: string | null; milestoneId?: string | null },
  prefix = '',
): NamedPlan[] {
  const { projectId, milestoneId } = task;
  return [
    ...(projectId
      ? [{ kind: 'project' as const, id: projectId, field: `${prefix}projectId` }]
      : []),
    ...(milestoneId
      ? [{ kind: 'milestone' as const, id: milestoneId, field: `${prefix}milestoneId` }]
      : []),
  ];
}

/**
 * Does nothing if none is named. Neither is locked: a task that is created while somebody archives
 * its project is as good as one created a moment before.
 *
 * @throws DroverError `project_archived`, `milestone_archived`
 */
export async function refuseArchived(
  runner: SqlRunner,
  workspaceId: string,
  named: readonly NamedPlan[],
): Promise<void> {
  if (named.length === 0) return;
  const idsOf = (wanted: ArchivedRow['kind']) => [
    ...new Set(named.filter(({ kind }) => kind === wanted).map(({ id }) => id.toLowerCase())),
  ];
  const params = [workspaceId, idsOf('project'), idsOf('milestone')];
  const rows = await runner.rows(archivedPlans, params);
  for (const kind of ['project', 'milestone'] as const) {
    const archived = new Set(rows.filter((row) => row.kind === kind).map(({ id }) => id));
    const errors = named
      .filter((plan) => plan.kind === kind && archived.has(plan.id.toLowerCase()))
      .map(({ field }) => ({ field, message: `names an archived ${kind}` }));
    if (errors.length > 0) throw new DroverError(`${kind}_archived`, { errors });
  }
}
