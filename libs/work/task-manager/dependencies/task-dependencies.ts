import { Injectable } from '@nestjs/common';
import { Database, firstRow, type Transaction } from '#lib/database';
import { actorOf, type Caller, DroverError, idOfCursor, toPage } from '#lib/kernel';
import { WakeUps } from '#lib/valkey';
import {
  type DependencyChange,
  type DependencyPlan,
  isSettledAtOnce,
  MAX_DEPENDENCIES,
  planDependencies,
  requireKnown,
} from '../domain/dependencies.js';
import type {
  DependenciesView,
  GraphTaskView,
  NeighbourView,
  TaskGraphView,
} from '../domain/dependencies-view.js';
import type { PageRequest } from '../domain/task-filter.js';
import { requireReadable } from '../queries/require-readable.js';
import {
  edgesOfTask,
  type NeighbourRow,
  prerequisitesOf,
  takeDependencyTurn,
  waitingFor,
  writeEdges,
} from '../store/dependency-edges.sql.js';
import { graphEdges, type GraphTaskRow, graphTasks } from './task-graph.sql.js';
import { lockPrerequisites } from '../store/lock-prerequisites.sql.js';
import { type LockedTask, lockTasks } from '#lib/transitions';
import { recountDependencies } from '../store/recount-dependencies.sql.js';
import { refuseCycle } from './refuse-cycle.js';

const ALL_BLOCKS: PageRequest = { limit: 200 };
const GRAPH_EDGES = 2_000;

interface Outcome {
  becameReady: boolean;
  /** A prerequisite ended without success, so the coordinator applies the edge's policy. */
  needsSettlement: boolean;
}

/** The dependencies of tasks: read, and changed while a task is PENDING. */
@Injectable()
export class TaskDependencies {
  constructor(
    private readonly db: Database,
    private readonly wakeUps: WakeUps,
  ) {}

  /**
   * The prerequisites of the task, and a page of its dependents.
   *
   * @throws DroverError `task_not_found`, `malformed_cursor`
   */
  async read(
    caller: Caller,
    taskId: string,
    page: PageRequest = ALL_BLOCKS,
  ): Promise<DependenciesView> {
    const { workspaceId } = caller;
    const after = idOfCursor(page.cursor);
    const tenant = this.db.tenant(workspaceId);
    // The task before its edges: if they change in between, the version is too old, not too new.
    const task = await requireReadable(tenant, caller, taskId);
    const dependsOn = await tenant.rows(prerequisitesOf, [workspaceId, taskId]);
    const blocks = await tenant.rows(waitingFor, [workspaceId, taskId, after, page.limit + 1]);
    const { items, nextCursor } = toPage(blocks, page.limit, (row) => [row.id], toNeighbour);
    return {
      taskId,
      status: task.status,
      unmetDependencies: task.unmet_dependencies,
      dependsOn: dependsOn.map(toNeighbour),
      blocks: items,
      nextCursor,
      version: task.version,
    };
  }

  /**
   * The tasks that can be reached along dependencies, and the edges between them.
   *
   * @param limit maximum number of tasks on each side, the nearest, including the task itself
   * @throws DroverError `task_not_found`
   */
  async graph(caller: Caller, taskId: string, limit: number): Promise<TaskGraphView> {
    const { workspaceId } = caller;
    const tenant = this.db.tenant(workspaceId);
    await requireReadable(tenant, caller, taskId);
    const tasks = await tenant.rows(graphTasks, [workspaceId, taskId, limit]);
    const ids = tasks.map(({ id }) => id);
    const edges = await tenant.rows(graphEdges, [workspaceId, ids, GRAPH_EDGES + 1]);
    return {
      taskId,
      tasks: tasks.map(toGraphTask),
      edges: edges.slice(0, GRAPH_EDGES).map(({ task_id, depends_on_id, policy, settled }) => {
        return { taskId: task_id, dependsOnId: depends_on_id, policy, settled };
      }),
      truncated: tasks.some(({ whole }) => !whole) || edges.length > GRAPH_EDGES,
    };
  }

  /**
   * Adds, replaces or removes dependencies of a PENDING task.
   *
   * @param ifVersion the version that the caller has read; another version refuses the change
   * @throws DroverError `task_not_found` (the task, or a prerequisite), `dependency_not_found`,
   *   `dependency_locked`, `dependency_cycle` with the path, `version_mismatch`
   */
  async change(
    caller: Caller,
    taskId: string,
    change: DependencyChange,
    ifVersion?: number,
  ): Promise<DependenciesView> {
    const { workspaceId } = caller;
    const outcome = await this.db
      .tenant(workspaceId)
      .transaction((tx) => applyChange(tx, caller, { taskId, change, ifVersion }));
    if (outcome.becameReady) this.wakeUps.claims(workspaceId, 1);
    if (outcome.needsSettlement) this.wakeUps.coordinator();
    return this.read(caller, taskId);
  }
}

interface Request {
  taskId: string;
  change: DependencyChange;
  ifVersion: number | undefined;
}

async function applyChange(tx: Transaction, caller: Caller, request: Request): Promise<Outcome> {
  const { workspaceId } = caller;
  const { taskId, change } = request;
  await tx.rows(takeDependencyTurn, [workspaceId]);
  const edges = await tx.rows(edgesOfTask, [workspaceId, taskId]);
  const current = edges.map((edge) => ({ taskId: edge.depends_on_id, policy: edge.policy }));
  const plan = planDependencies(current, change);
  const written = plan?.written.map((requested) => requested.taskId) ?? [];

  const locked = await lockTasks(tx, workspaceId, [taskId, ...written]);
  requireChangeable(
    locked.find((task) => task.id === taskId),
    request,
  );
  if (!plan) throw new DroverError('dependency_not_found');
  if (change.kind !== 'remove')
    requireKnown(new Set([...locked, ...edges].map(idOf)), change.requested);
  requireRoom(plan);
  if (written.length === 0 && plan.removed.length === 0) {
    return { becameReady: false, needsSettlement: false };
  }
  await refuseCycle(tx, workspaceId, { taskId, dependsOn: written });
  return write(tx, caller, { taskId, plan });
}

function idOf(row: { id: string } | { depends_on_id: string }): string {
  return 'id' in row ? row.id : row.depends_on_id;
}

function requireChangeable(task: LockedTask | undefined, { ifVersion }: Request): void {
  if (!task) throw new DroverError('task_not_found');
  if (ifVersion !== undefined && ifVersion !== task.version) {
    throw new DroverError('version_mismatch', { members: { currentVersion: task.version } });
  }
  if (task.status !== 'PENDING') {
    throw new DroverError('dependency_locked', {
      detail: `The task is ${task.status}.`,
      members: { current: task.status },
    });
  }
}

function requireRoom({ total }: DependencyPlan): void {
  if (total <= MAX_DEPENDENCIES) return;
  const message = `would make ${total} dependencies; a task can have ${MAX_DEPENDENCIES}`;
  throw new DroverError('validation_failed', { errors: [{ field: 'dependsOn', message }] });
}

async function write(
  tx: Transaction,
  caller: Caller,
  { taskId, plan }: { taskId: string; plan: DependencyPlan },
): Promise<Outcome> {
  const { workspaceId } = caller;
  const prerequisites = await lockPrerequisites(
    tx,
    workspaceId,
    plan.written.map((requested) => requested.taskId),
  );
  const written = plan.written.map(({ taskId: id, policy }) => {
    const end = prerequisites.get(id);
    return { depends_on_id: id, policy, settled: end ? isSettledAtOnce(end, policy) : false };
  });
  await tx.rows(writeEdges, [workspaceId, taskId, plan.removed, JSON.stringify(written)]);
  const actor = actorOf(caller);
  const details = { written: plan.written, removed: plan.removed };
  const changed = await firstRow(tx, recountDependencies, [
    workspaceId,
    taskId,
    actor.kind,
    actor.id,
    JSON.stringify(details),
    ['dependsOn'],
  ]);
  return {
    becameReady: changed?.became_ready ?? false,
    needsSettlement: [...prerequisites.values()].some((task) => task.ended_without_success),
  };
}

function toGraphTask({ id, title, status, ...row }: GraphTaskRow): GraphTaskView {
  return {
    taskId: id,
    title,
    status,
    retryAt: row.retry_at?.toISOString() ?? null,
    abortReason: row.abort_reason,
    pausedFor: row.paused_for,
  };
}

function toNeighbour(row: NeighbourRow): NeighbourView {
  return {
    taskId: row.id,
    title: row.title,
    status: row.status,
    policy: row.policy,
    settled: row.settled_at !== null,
    settledAt: row.settled_at?.toISOString() ?? null,
    createdAt: row.created_at.toISOString(),
  };
}
