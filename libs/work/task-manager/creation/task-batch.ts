import { capabilityKey } from '#lib/agent-manager';
import { actorOf, type Caller, DroverError } from '#lib/kernel';
import type { NewEdge, NewTask } from '../domain/new-task.js';
import { holdsOf } from '../domain/task-times.js';
import type { TaskView } from '../domain/task-view.js';
import type { Prerequisite } from '../store/lock-prerequisites.sql.js';
import type { CreatedRow } from './create-tasks.sql.js';
import { viewOfNewTask } from './new-task-view.js';
import type { CreationRequest } from './task-drafts.js';
import type { TaskToCreate } from './task-inserts.js';

type Insert = (tasks: TaskToCreate[], edges: object[]) => Promise<CreatedRow>;

/** The tasks of one request in the database. */
export interface CreatedTasks {
  ids: string[];
  /** The number of tasks that wait for no other. */
  ready: number;
  views: () => TaskView[];
}

/** The tasks of one request on their way into the database. */
export class TaskBatch {
  /** Ids of prerequisites that existed before. */
  readonly prerequisiteIds: string[];
  /** Whether agents and runs create them below their own task. */
  readonly hasParent: boolean;
  /** The task, if it only moves the start of a waiting task of the same key. */
  readonly debounced: NewTask | undefined;
  needsSettlement: boolean;

  constructor(
    readonly caller: Caller,
    readonly tasks: readonly NewTask[],
    private readonly request: Pick<CreationRequest, 'fieldOf' | 'traceparent'>,
  ) {
    this.hasParent = tasks.some(({ parentTaskId }) => parentTaskId !== undefined);
    this.debounced = tasks.find(({ debounceKey }) => debounceKey !== undefined);
    // The coordinator gives slots to tasks of a concurrency key.
    this.needsSettlement = tasks.some(({ concurrencyKey }) => concurrencyKey !== undefined);
    const own = new Set(tasks.map((task) => task.id));
    const requested = new Set(tasks.flatMap((task) => task.edges.map((edge) => edge.dependsOnId)));
    this.prerequisiteIds = [...requested].filter((id) => !own.has(id));
  }

  async insert(
    prerequisites: ReadonlyMap<string, Prerequisite>,
    write: Insert,
  ): Promise<CreatedTasks> {
    const { caller, tasks } = this;
    const settled = (id: string) => prerequisites.get(id)?.completed ?? false;
    const unmet = (edges: readonly NewEdge[]) =>
      edges.filter((edge) => !settled(edge.dependsOnId)).length;
    const dependents = this.dependents();
    const { kind, id } = actorOf(caller);
    const createdBy = caller.kind === 'user' || caller.kind === 'api_key' ? caller.userId : null;
    const rows = tasks.map((task) => ({
      row: {
        ...task,
        edges: undefined,
        originals: undefined,
        capabilityKey: capabilityKey(task.requiredCapabilities),
        unmetDependencies: unmet(task.edges),
        // The end of a task of a concurrency key concerns the others of the key.
        hasDependents: dependents.has(task.id) || task.concurrencyKey !== undefined,
        actorKind: kind,
        // Several schedules create tasks in one batch.
        actorId: task.scheduleId ?? id,
        createdBy,
        traceparent: this.request.traceparent,
      },
      originals: task.originals ?? [],
    }));
    const edges = tasks.flatMap((task) =>
      task.edges.map((edge) => ({
        task_id: edge.taskId,
        depends_on_id: edge.dependsOnId,
        policy: edge.policy,
        settled: settled(edge.dependsOnId),
      })),
    );
    const created = await write(rows, edges);
    const at = created.created_at;
    const unmetOf = (task: NewTask) => unmet(task.edges) + holdsOf(task, at);
    const viewOf = (task: NewTask) =>
      viewOfNewTask(task, {
        workspaceId: caller.workspaceId,
        createdBy,
        at,
        unmet: unmetOf(task),
        settled,
        blocks: dependents.get(task.id) ?? [],
      });
    return {
      ids: tasks.map((task) => task.id),
      ready: tasks.filter((task) => unmetOf(task) === 0).length,
      views: () => tasks.map(viewOf),
    };
  }

  /** The tasks that depend on one of these, by its id. */
  private dependents(): ReadonlyMap<string, string[]> {
    const dependents = new Map<string, string[]>();
    for (const { taskId, dependsOnId } of this.tasks.flatMap(({ edges }) => edges)) {
      const known = dependents.get(dependsOnId);
      if (known) known.push(taskId);
      else dependents.set(dependsOnId, [taskId]);
    }
    for (const { id, blocksParent, parentTaskId } of this.tasks) {
      if (blocksParent && parentTaskId !== undefined)
        dependents.set(id, [...(dependents.get(id) ?? []), parentTaskId]);
    }
    return dependents;
  }

  checkPrerequisites(found: ReadonlyMap<string, Prerequisite>): void {
    this.refuseUnknown(found);
    this.needsSettlement ||= [...found.values()].some((task) => task.ended_without_success);
  }

  /** @throws DroverError `task_not_found` if a prerequisite is not in `known` */
  refuseUnknown(known: Pick<ReadonlySet<string>, 'has'>): void {
    const { kind } = this.caller;
    const isOfFamily = kind === 'agent' || kind === 'run';
    const message = isOfFamily
      ? 'must be the parent task or one of its subtasks'
      : 'there is no such task';
    const errors = this.tasks.flatMap((task, index) =>
      task.edges.flatMap((edge, position) => {
        const missing =
          this.prerequisiteIds.includes(edge.dependsOnId) && !known.has(edge.dependsOnId);
        const field = `${this.request.fieldOf(index)}dependsOn[${position}]`;
        return missing ? [{ field, message }] : [];
      }),
    );
    if (errors.length > 0) throw new DroverError('task_not_found', { errors });
  }
}
