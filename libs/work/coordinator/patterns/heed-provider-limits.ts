import { Injectable } from '@nestjs/common';
import { query, type Sql, type Transaction } from '#lib/database';
import { TaskCommands } from '#lib/task-manager';
import { countByWorkspace, isLeased, lockTasks, type SweepResult } from '#lib/transitions';
import { removePastProviderLimits } from '#lib/provider-limits';
import { WakeUps } from '#lib/valkey';
import { pauseRequest } from '../domain/pause-request.js';
import type { Pass } from '../cycle/pass.js';
import { dueAt, type Reconciler, type ReconcilerFacts } from '../cycle/reconciler.js';

interface Found {
  workspace_id: string;
  id: string;
  /** The limit for which it is paused; NULL: it goes on. */
  limit_id: string | null;
}

const REASON = 'provider_limited';

/**
 * Tasks under way with a model that its provider refuses. Indexes: primary keys; agent_tasks_status_idx of each workspace that
 * has a limit. $1 rows at most, $2 workspace or NULL, $3 of these tasks or NULL: of all.
 */
const tasksOfLimitedModels = query<Found>(
  'tasks_of_limited_models',
  `
SELECT DISTINCT ON (t.workspace_id, t.id) t.workspace_id, t.id, l.id AS limit_id
FROM provider_limits l JOIN agent_tasks t ON t.workspace_id = l.workspace_id
JOIN task_runs r ON r.workspace_id = t.workspace_id AND r.id = t.run_id AND r.model ~ l.covers
WHERE l.until > now() AND ${isLeased('t')} AND ($2::uuid IS NULL OR t.workspace_id = $2)
  AND ($3::uuid[] IS NULL OR t.id = ANY ($3))
ORDER BY t.workspace_id, t.id, l.until DESC
LIMIT $1`,
);

/**
 * Tasks that were paused for a limit and can go back to the queue, or on: their agent has put the work down, or never began it,
 * or the limit is over. Index: agent_tasks_paused_for_idx. $1 rows at most, $2 workspace or NULL,
 * $3 of these tasks or NULL: of all.
 */
const tasksPausedForLimits = query<Found>(
  'tasks_paused_for_limits',
  `
SELECT t.workspace_id, t.id, NULL::uuid AS limit_id FROM agent_tasks t
LEFT JOIN task_runs r ON r.workspace_id = t.workspace_id AND r.id = t.run_id
WHERE t.status = 'PAUSED' AND t.paused_for = 'provider' AND ($2::uuid IS NULL OR t.workspace_id = $2)
  AND ($3::uuid[] IS NULL OR t.id = ANY ($3))
  AND (r.started_at IS NULL OR NOT EXISTS (SELECT FROM provider_limits l
    WHERE l.workspace_id = t.workspace_id AND l.id = t.paused_for_id
      AND provider_limit_end(l.until, l.over_at, t.id) > now()))
ORDER BY t.workspace_id, t.id
LIMIT $1`,
);

/**
 * Has runs put their work down whose provider refuses their model: their agents are asked to pause, save what they have, and give
 * the task back, which is no attempt. It waits in the queue then (HOLDS). Limits that are over are removed.
 */
@Injectable()
export class HeedProviderLimits implements Reconciler {
  static readonly facts = {
    name: 'heed_provider_limits',
    counter: 'providerLimitsHeeded',
    moves: 'running tasks whose provider refuses their model: put down, and back into the queue',
    notable: 'Running tasks were put down because a provider refuses their model',
    due: dueAt(`(SELECT min(over_at) FROM provider_limits)`),
  } as const satisfies ReconcilerFacts;

  constructor(
    private readonly commands: TaskCommands,
    private readonly wakeUps: WakeUps,
  ) {}

  async sweep(pass: Pass): Promise<SweepResult> {
    const told = [
      ...(await this.obeyAll(pass, tasksOfLimitedModels)),
      ...(await this.obeyAll(pass, tasksPausedForLimits)),
    ];
    const removed = await pass.apply(removePastProviderLimits);
    for (const { wake } of told) wake();
    for (const id of countByWorkspace(removed).keys()) this.wakeUps.manyClaims(id);
    return pass.moved(told.flatMap(({ moved }) => moved));
  }

  private async obeyAll(pass: Pass, sql: Sql<Found>) {
    const told = [];
    // A transaction each: one that has changed agents and budgets locks no further tasks.
    for (const order of together(await pass.find(sql, null)))
      told.push(await pass.transaction((tx) => this.obey(tx, sql, order)));
    return told;
  }

  /** Found without locks: the limit may have been removed since, and the task been paused by a user. */
  private async obey(
    tx: Transaction,
    sql: Sql<Found>,
    { workspaceId, limitId, ids: found }: Order,
  ) {
    await lockTasks(tx, workspaceId, found);
    const still = await tx.rows(sql, [found.length, workspaceId, found]);
    const ids = still.filter(({ limit_id: id }) => id === limitId).map(({ id }) => id);
    const request = pauseRequest('provider', limitId, REASON);
    const command = limitId === null ? 'resume' : 'pause';
    const { moved, wake } = await this.commands.obey(tx, workspaceId, command, { ids, request });
    return { moved: moved.map(() => ({ workspace_id: workspaceId })), wake };
  }
}

/** Tasks of one workspace that are told the same. */
interface Order {
  workspaceId: string;
  /** null: they go on. */
  limitId: string | null;
  ids: string[];
}

function together(tasks: readonly Found[]): Order[] {
  const orders = new Map<string, Order>();
  for (const { workspace_id: workspaceId, id, limit_id: limitId } of tasks) {
    const key = `${workspaceId} ${limitId}`;
    const order = orders.get(key) ?? { workspaceId, limitId, ids: [] };
    order.ids.push(id);
    orders.set(key, order);
  }
  return [...orders.values()];
}
