import { Injectable } from '@nestjs/common';
import { query, type Transaction } from '#lib/database';
import { pauseRequest, type TaskCommand, TaskCommands } from '#lib/task-manager';
import { isActiveBudget, isLeased, lockTasks, scopesOf, type SweepResult } from '#lib/transitions';
import type { Pass } from '../cycle/pass.js';
import type { Reconciler, ReconcilerFacts } from '../cycle/reconciler.js';

interface Found {
  workspace_id: string;
  id: string;
  /** The exhausted budget; NULL: none is exhausted any more. */
  budget_id: string | null;
  policy: 'pause' | 'abort' | null;
}

const LIMITS = `(b.policy <> 'finish' AND ${isActiveBudget('b')})`;
const USED_UP = `(b.is_used_up AND ${LIMITS})`;
/** The last run `r` of a task could not go on: its request does not fit beside the other holds. */
const REFUSES = `(${LIMITS} AND (b.is_used_up
      OR b.available + CASE WHEN b.id = ANY (r.budget_ids) THEN r.held_tokens ELSE 0 END
        < r.wanted_tokens))`;

/**
 * Running tasks that an exhausted budget covers. A task of two budgets gets the stricter policy.
 *
 * Indexes: usage_budgets_used_up_idx, agent_tasks_status_idx of each workspace that has one. $1
 * rows at most, $2 workspace or NULL, $3 only these tasks or NULL.
 */
const tasksOfUsedUpBudgets = query<Found>(
  'tasks_of_used_up_budgets',
  `
SELECT DISTINCT ON (t.workspace_id, t.id) t.workspace_id, t.id, b.id AS budget_id, b.policy
FROM usage_budgets b JOIN agent_tasks t ON t.workspace_id = b.workspace_id
  AND b.scope_id = ANY (${scopesOf('t')})
WHERE ${USED_UP} AND ${isLeased('t')} AND ($2::uuid IS NULL OR t.workspace_id = $2)
  AND ($3::uuid[] IS NULL OR t.id = ANY ($3))
ORDER BY t.workspace_id, t.id, b.policy, b.id
LIMIT $1`,
);

/**
 * Tasks that were paused for a budget and have no exhausted budget any more. If a budget refused a
 * request of their last run, each budget must have the tokens for it. Indexes:
 * agent_tasks_paused_for_idx, task_runs_task_idx, usage_budgets_scope_idx. $1 rows at most, $2
 * workspace or NULL, $3 only these tasks or NULL.
 */
const tasksPausedForBudgets = query<Found>(
  'tasks_paused_for_budgets',
  `
SELECT t.workspace_id, t.id, NULL::uuid AS budget_id, NULL AS policy FROM agent_tasks t
LEFT JOIN LATERAL (
  SELECT r.wanted_tokens, r.held_tokens, r.budget_ids FROM task_runs r
  WHERE r.workspace_id = t.workspace_id AND r.task_id = t.id
  ORDER BY r.generation DESC LIMIT 1) r ON true
WHERE t.status = 'PAUSED' AND t.paused_for = 'budget' AND ($2::uuid IS NULL OR t.workspace_id = $2)
  AND ($3::uuid[] IS NULL OR t.id = ANY ($3))
  AND NOT EXISTS (SELECT FROM usage_budgets b
    WHERE b.workspace_id = t.workspace_id AND b.scope_id = ANY (${scopesOf('t')}) AND ${REFUSES})
ORDER BY t.workspace_id, t.id
LIMIT $1`,
);

const COMMANDS: Record<'pause' | 'abort', TaskCommand> = { pause: 'pause', abort: 'cancel' };
const REASON = 'budget_used_up';

/**
 * Applies the policies of exhausted budgets to running tasks, and resumes paused tasks when their
 * budgets have tokens again.
 */
@Injectable()
export class EnforceBudgets implements Reconciler {
  static readonly facts = {
    name: 'enforce_budgets',
    counter: 'budgetsEnforced',
    moves:
      'running tasks of used up budgets: paused or cancelled; those paused so, once there is more',
    notable: 'Running tasks were paused, cancelled or resumed because of their budget',
  } as const satisfies ReconcilerFacts;

  constructor(private readonly commands: TaskCommands) {}

  async sweep(pass: Pass): Promise<SweepResult> {
    const exhausted = await pass.find(tasksOfUsedUpBudgets, null);
    const resumable = await pass.find(tasksPausedForBudgets, null);
    const outcomes = [];
    // One transaction each: a transaction that has changed budgets locks no further tasks.
    for (const order of groupOrders([...exhausted, ...resumable])) {
      const outcome = await pass.transaction((tx) => this.execute(tx, order));
      outcome.wake();
      outcomes.push(outcome);
    }
    return pass.countMoved(outcomes.flatMap(({ moved }) => moved));
  }

  private async execute(tx: Transaction, order: Order) {
    const { workspaceId, budgetId, policy } = order;
    const ids = await lockCurrent(tx, order);
    const command = policy === null ? 'resume' : COMMANDS[policy];
    const request = pauseRequest('budget', budgetId, REASON);
    const { moved, wake } = await this.commands.obey(tx, workspaceId, command, { ids, request });
    return { moved: moved.map(() => ({ workspace_id: workspaceId })), wake };
  }
}

/** Tasks of one workspace that get the same order. */
interface Order {
  workspaceId: string;
  ids: string[];
  budgetId: string | null;
  /** null: the tasks resume. */
  policy: Found['policy'];
}

/** Since the search, a user may have raised the budget, or paused a task for another reason. */
async function lockCurrent(tx: Transaction, order: Order): Promise<string[]> {
  const { workspaceId, ids, budgetId, policy } = order;
  await lockTasks(tx, workspaceId, ids);
  const sql = policy === null ? tasksPausedForBudgets : tasksOfUsedUpBudgets;
  const found = await tx.rows(sql, [ids.length, workspaceId, ids]);
  return found.filter((task) => task.budget_id === budgetId).map(({ id }) => id);
}

function groupOrders(tasks: readonly Found[]): Order[] {
  const orders = new Map<string, Order>();
  for (const { workspace_id: workspaceId, id, budget_id: budgetId, policy } of tasks) {
    const key = `${workspaceId} ${budgetId}`;
    const order = orders.get(key) ?? { workspaceId, ids: [], budgetId, policy };
    order.ids.push(id);
    orders.set(key, order);
  }
  return [...orders.values()];
}
