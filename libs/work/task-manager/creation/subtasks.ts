import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '#lib/config';
import { firstRow, type SqlRunner, type Transaction } from '#lib/database';
import { actorOf, type Caller, DroverError } from '#lib/kernel';
import { lockTasks } from '#lib/transitions';
import { refuseCycle } from '../dependencies/refuse-cycle.js';
import { hasProgram } from '../domain/requirements.js';
import type { NewTask, TaskRequest } from '../domain/new-task.js';
import {
  asSubtasks,
  type Creator,
  holdingOf,
  type Invalid,
  isCreatorOfSubtasks,
  parentNamed,
  type Requested,
  whyNoSubtasks,
  whyTooMany,
} from '../domain/subtasks.js';
import { takeDependencyTurn, writeEdges } from '../store/dependency-edges.sql.js';
import { recountDependencies } from '../store/recount-dependencies.sql.js';
import { commandPolicy, countSubtasks, familyOf, parentOfSubtasks } from './subtasks.sql.js';

/** Tasks that agents and runs create below their own task. */
@Injectable()
export class Subtasks {
  constructor(@Inject(CONFIG) private readonly config: Pick<Config, 'tasks'>) {}

  /**
   * The requested tasks with their parent's values, and the run that creates them. Tasks of people
   * stay unchanged.
   *
   * @throws DroverError `validation_failed`, `task_not_found`, `stale_run`, `subtask_limit`,
   *   `run_commands_forbidden`
   */
  async fillIn(
    runner: SqlRunner,
    caller: Caller,
    requested: Requested,
  ): Promise<{ tasks: readonly TaskRequest[]; runId?: string }> {
    if (!isCreatorOfSubtasks(caller)) {
      const errors = whyNoSubtasks(requested);
      return errors.length > 0 ? refuse({ errors }) : requested;
    }
    await requireCommandsAllowed(runner, caller, requested);
    const named = parentNamed(caller, requested);
    if (named.kind === 'invalid') return refuse(named);
    const parent = await this.parentOf(runner, caller, named.id);
    this.refuseTooMany({ depth: parent.depth + 1, subtasks: requested.tasks.length });
    const filledIn = asSubtasks(requested, named.id, parent);
    if (filledIn.kind === 'invalid') return refuse(filledIn);
    return { tasks: filledIn.tasks, ...(parent.run_id !== null && { runId: parent.run_id }) };
  }

  /**
   * Before anything is written: locks the parent with those of the `prerequisiteIds` that subtasks
   * can depend on.
   *
   * @returns these
   * @throws DroverError `stale_run`, `subtask_limit`
   */
  async lockFamily(
    tx: Transaction,
    caller: Caller,
    tasks: readonly NewTask[],
    prerequisiteIds: readonly string[],
  ): Promise<readonly string[]> {
    const parentId = tasks[0]?.parentTaskId;
    if (parentId === undefined || !isCreatorOfSubtasks(caller)) return prerequisiteIds;
    const { workspaceId } = caller;
    if (tasks.some(({ blocksParent }) => blocksParent)) {
      await tx.rows(takeDependencyTurn, [workspaceId]);
    }
    const family = await tx.rows(familyOf, [workspaceId, parentId, prerequisiteIds]);
    const ids = family.map(({ id }) => id);
    await lockTasks(tx, workspaceId, [...new Set([parentId, ...ids])]);
    const { depth } = await this.parentOf(tx, caller, parentId);
    const most = this.config.tasks.maxSubtasksPerTask;
    const counted = await firstRow(tx, countSubtasks, [workspaceId, parentId, most]);
    this.refuseTooMany({ depth: depth + 1, subtasks: (counted?.subtasks ?? 0) + tasks.length });
    return ids;
  }

  /**
   * After the tasks are written: makes the parent wait, after its run, for the subtasks that block
   * it.
   *
   * @throws DroverError `dependency_cycle`
   */
  async holdParent(tx: Transaction, caller: Caller, tasks: readonly NewTask[]): Promise<void> {
    const blocking = tasks.filter(({ blocksParent }) => blocksParent).map(({ id }) => id);
    const taskId = tasks[0]?.parentTaskId;
    if (blocking.length === 0 || taskId === undefined) return;
    const { workspaceId } = caller;
    await refuseCycle(tx, workspaceId, { taskId, dependsOn: blocking });
    const written = blocking.map((id) => ({ taskId: id, policy: 'ignore' }));
    const edges = blocking.map((id) => ({ depends_on_id: id, policy: 'ignore', settled: false }));
    await tx.rows(writeEdges, [workspaceId, taskId, [], JSON.stringify(edges)]);
    const { kind, id } = actorOf(caller);
    const details = JSON.stringify({ written, removed: [] });
    await tx.rows(recountDependencies, [workspaceId, taskId, kind, id, details, ['dependsOn']]);
  }

  private async parentOf(runner: SqlRunner, caller: Creator, parentId: string) {
    const parent = await firstRow(runner, parentOfSubtasks, [caller.workspaceId, parentId]);
    const holding = holdingOf(caller, parent);
    if (holding === 'stale') throw new DroverError('stale_run');
    if (holding === 'unseen' || parent === undefined) throw new DroverError('task_not_found');
    return parent;
  }

  private refuseTooMany(wanted: { depth: number; subtasks: number }): void {
    const detail = whyTooMany(wanted, this.config.tasks);
    if (detail !== null) throw new DroverError('subtask_limit', { detail });
  }
}

/**
 * The program of a run can be steered by whoever writes its task. Workers execute a command with
 * their own rights.
 */
async function requireCommandsAllowed(
  runner: SqlRunner,
  { kind, workspaceId }: Creator,
  { tasks }: Requested,
): Promise<void> {
  if (kind !== 'run' || !tasks.some(hasProgram)) return;
  const policy = await firstRow(runner, commandPolicy, [workspaceId]);
  if (!policy?.allow_run_commands) throw new DroverError('run_commands_forbidden');
}

function refuse({ errors }: Pick<Invalid, 'errors'>): never {
  throw new DroverError('validation_failed', { errors: errors.slice(0, 50) });
}
