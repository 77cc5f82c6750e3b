import { Injectable } from '@nestjs/common';
import { query, type Sql, type Transaction } from '#lib/database';
import { pauseRequest, TaskCommands } from '#lib/task-manager';
import { countByWorkspace, isLeased, lockTasks, type SweepResult } from '#lib/transitions';
import { isRunLimited, removePastProviderLimits } from '#lib/provider-limits';
import { WakeUps } from '#lib/valkey';
import type { Pass } from '../cycle/pass.js';
import type { Reconciler, ReconcilerFacts } from '../cycle/reconciler.js';
import { dueAt } from './due.sql.js';

interface Found {
  workspace_id: string;
  id: string;
  /** The limit for which the task is paused; NULL: it resumes. */
  limit_id: string | null;
}

const REASON = 'provider_limited';

/**
 * Running tasks with a model that its provider refuses, without a free fallback. Indexes: primary keys;
 * agent_tasks_status_idx of each workspace with a limit. $1 rows at most, $2 workspace or NULL, $3
 * only these tasks or NULL.
 */
const tasksOfLimitedModels = query<Found>(
  'tasks_of_limited_models',
  `
SELECT DISTINCT ON (t.workspace_id, t.id) t.workspace_id, t.id, l.id AS limit_id
FROM provider_limits l JOIN agent_tasks t ON t.workspace_id = l.workspace_id
JOIN task_runs r ON r.workspace_id = t.workspace_id AND r.id = t.run_id AND r.model ~ l.covers
WHERE l.until > now() AND ${isLeased('t')} AND ($2::uuid IS NULL OR t.workspace_id = $2)
  AND ${isRunLimited('t', 'r')}
  AND ($3::uuid[] IS NULL OR t.id = ANY ($3))
ORDER BY t.workspace_id, t.id, l.until DESC, l.id
LIMIT $1`,
);

/**
 * Tasks that were paused for a limit and can return to the queue or resume. Their agent has
 * released the task or never began it, or the limit has ended. Index: agent_tasks_paused_for_idx.
 * $1 rows at most, $2 workspace or NULL, $3 only these tasks or NULL.
 */
const tasksPausedForLimits = query<Found>(
  'tasks_paused_for_limits',
  `
SELECT t.workspace_id, t.id, NULL::uuid AS limit_id FROM agent_tasks t
LEFT JOIN task_runs r ON r.workspace_id = t.workspace_id AND r.id = t.run_id
WHERE t.status = 'PAUSED' AND t.paused_for = 'provider'
  AND ($2::uuid IS NULL OR t.workspace_id = $2)
  AND ($3::uuid[] IS NULL OR t.id = ANY ($3))
  AND (r.started_at IS NULL OR NOT EXISTS (SELECT FROM provider_limits l
    WHERE l.workspace_id = t.workspace_id AND l.id = t.paused_for_id
      AND provider_limit_end(l.until, l.over_at, t.id) > now()))
ORDER BY t.workspace_id, t.id
LIMIT $1`,
);

/**
 * Stops runs whose provider refuses their model. Their agents are asked to pause, save a checkpoint
 * and release the task, which spends no attempt. The task then waits in the queue (HOLDS). Ended
 * limits are removed.
 */
@Injectable()
export class HeedProviderLimits implements Reconciler {
  static readonly facts = {
    name: 'heed_provider_limits',
    counter: 'providerLimitsHeeded',
    moves: 'running tasks whose provider refuses their model: put down, and back into the queue',
    notable: "Tasks were put down or resumed because of a provider's limit",
    due: dueAt(`(SELECT min(over_at) FROM provider_limits)`),
  } as const satisfies ReconcilerFacts;

  constructor(
    private readonly commands: TaskCommands,
    private readonly wakeUps: WakeUps,
  ) {}

  async sweep(pass: Pass): Promise<SweepResult> {
    const outcomes = [
      ...(await this.executeAll(pass, tasksOfLimitedModels)),
      ...(await this.executeAll(pass, tasksPausedForLimits)),
    ];
    const removed = await pass.apply(removePastProviderLimits);
    for (const id of countByWorkspace(removed).keys()) this.wakeUps.manyClaims(id);
    return pass.countMoved(outcomes.flatMap(({ moved }) => moved));
  }

  private async executeAll(pass: Pass, sql: Sql<Found>) {
    const outcomes = [];
    // One transaction each: a transaction that has changed agents and budgets locks no further
    // tasks.
    for (const order of groupOrders(await pass.find(sql, null))) {
      const outcome = await pass.transaction((tx) => this.execute(tx, sql, order));
      outcome.wake();
      outcomes.push(outcome);
    }
    return outcomes;
  }

  /**
   * The search took no locks: since then a limit may have been removed, or a user may have paused a
   * task.
   */
  private async execute(
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

/** Tasks of one workspace that get the same order. */
interface Order {
  workspaceId: string;
  /** null: the tasks resume. */
  limitId: string | null;
  ids: string[];
}

function groupOrders(tasks: readonly Found[]): Order[] {
  const orders = new Map<string, Order>();
  for (const { workspace_id: workspaceId, id, limit_id: limitId } of tasks) {
    const key = `${workspaceId} ${limitId}`;
    const order = orders.get(key) ?? { workspaceId, limitId, ids: [] };
    order.ids.push(id);
    orders.set(key, order);
  }
  return [...orders.values()];
}
