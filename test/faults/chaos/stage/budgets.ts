import type { DroverClient } from '#lib/api-client';

/** The budgets of a chaos run's tasks. Tokens are moved between the budgets, and none are added. */
export interface Budgets {
  scopes: { projectId: string; milestoneId: string }[];
  /** The workspace's budget, and one for each milestone. */
  ids: [ofAll: string, ...ofMilestones: string[]];
  allocated: number;
}

const MILESTONES = 2;
/**
 * The sum is more than tasks ever use, and little enough to exhaust a milestone sometimes. An
 * exhausted project would have fewer concurrent runs from then on, and less could go wrong.
 */
const ALLOCATED = { global: 10 ** 12, milestone: 3_000 };
const PERIOD = { periodStart: '2020-01-01T00:00:00Z', periodEnd: '2120-01-01T00:00:00Z' };

export async function allotBudgets(api: DroverClient): Promise<Budgets> {
  const ofEverything = { ...PERIOD, scope: 'global', allocated: ALLOCATED.global } as const;
  const { id: ofAll } = await api.post('/api/v1/budgets', { body: ofEverything });
  const { id: projectId } = await api.post('/api/v1/projects', { body: { name: 'Chaos' } });
  const budgets: Budgets = { scopes: [], ids: [ofAll], allocated: ALLOCATED.global };
  const params = { path: { id: projectId } };
  for (let n = 0; n < MILESTONES; n += 1) {
    const body = { name: `Part ${n}` };
    const made = await api.post('/api/v1/projects/{id}/milestones', { params, body });
    const limits = {
      scope: 'milestone',
      scopeId: made.id,
      allocated: ALLOCATED.milestone,
    } as const;
    const { id } = await api.post('/api/v1/budgets', { body: { ...limits, ...PERIOD } });
    budgets.scopes.push({ projectId, milestoneId: made.id });
    budgets.ids.push(id);
    budgets.allocated += ALLOCATED.milestone;
  }
  return budgets;
}
