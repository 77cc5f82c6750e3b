import type { Api } from '../../../../tools/shared/api.js';

interface WithId {
  id: string;
}

/** What the tasks of a chaos run may use. Tokens are moved between the budgets, and none are added. */
export interface Budgets {
  scopes: { projectId: string; milestoneId: string }[];
  /** The workspace's, and one for each milestone. */
  ids: [ofAll: string, ...ofMilestones: string[]];
  allocated: number;
}

const MILESTONES = 2;
/**
 * More than is ever used, and little enough that a milestone runs out of it now and then. A project that does would have
 * fewer runs at once from then on, and less could go wrong.
 */
const ALLOCATED = { global: 10 ** 12, milestone: 3_000 };
const PERIOD = { periodStart: '2020-01-01T00:00:00Z', periodEnd: '2120-01-01T00:00:00Z' };

export async function allotBudgets(api: Api): Promise<Budgets> {
  const made = { ...PERIOD, allocated: ALLOCATED.global };
  const { id: ofAll } = await api.post<WithId>('/budgets', { scope: 'global', ...made });
  const { id: projectId } = await api.post<WithId>('/projects', { name: 'Chaos' });
  const budgets: Budgets = { scopes: [], ids: [ofAll], allocated: ALLOCATED.global };
  for (let n = 0; n < MILESTONES; n += 1) {
    const path = `/projects/${projectId}/milestones`;
    const { id: milestoneId } = await api.post<WithId>(path, { name: `Part ${n}` });
    const limits = { scope: 'milestone', scopeId: milestoneId, allocated: ALLOCATED.milestone };
    const { id } = await api.post<WithId>('/budgets', { ...limits, ...PERIOD });
    budgets.scopes.push({ projectId, milestoneId });
    budgets.ids.push(id);
    budgets.allocated += ALLOCATED.milestone;
  }
  return budgets;
}
