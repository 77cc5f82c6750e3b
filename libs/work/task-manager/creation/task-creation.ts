import { Injectable } from '@nestjs/common';
import { QueueDepths } from '#lib/admission';
import { prepareAssignment } from '#lib/agent-manager';
import { Database, type TenantScope, type Transaction, violatedConstraint } from '#lib/database';
import { type IdempotencyRecord, storeAnswer } from '#lib/http';
import { type Caller, DroverError } from '#lib/kernel';
import { WakeUps } from '#lib/valkey';
import type { TaskRequest } from '../domain/new-task.js';
import type { TaskView } from '../domain/task-view.js';
import { type TaskTemplate, unknownSecrets } from '../domain/template.js';
import { lockPrerequisites } from '../store/lock-prerequisites.sql.js';
import { requireNamed, unknownIds } from '../queries/require-named.js';
import { moveWaitingStart } from './debouncing.js';
import { plansOf, refuseArchived } from './refuse-archived.js';
import { modelOf, refuseModels } from './refuse-models.js';
import { refuseRepositories } from './refuse-repositories.js';
import { Subtasks } from './subtasks.js';
import { type CreatedTasks, TaskBatch } from './task-batch.js';
import { type CreationRequest, TaskDrafts } from './task-drafts.js';
import { TaskInserts } from './task-inserts.js';

const SINGLE_FIELD = () => '';
const BATCH_FIELD = (index: number) => `tasks[${index}].`;

const MISSING_REFERENCES = {
  agent_tasks_project_fkey: 'project_not_found',
  agent_tasks_milestone_fkey: 'milestone_not_found',
  agent_tasks_repository_fkey: 'repository_not_found',
} as const;

/** A write in the transaction that creates the tasks: both happen, or neither. */
type Keep<Made = TaskView[]> = (tx: Transaction, created: Made) => Promise<void>;

/** The answer to a batch. */
interface CreatedBatch {
  ids: string[];
  /** Empty for a client that wants the ids alone. */
  items: TaskView[];
}

interface BatchOptions {
  record?: IdempotencyRecord | undefined;
  traceparent?: string | undefined;
  /** True if the ids are enough for the client. */
  minimal: boolean;
}

/** Creates all tasks of a request, or none. */
@Injectable()
export class TaskCreation {
  constructor(
    private readonly database: Database,
    private readonly inserts: TaskInserts,
    private readonly subtasks: Subtasks,
    private readonly drafts: TaskDrafts,
    private readonly depths: QueueDepths,
    private readonly wakeUps: WakeUps,
  ) {}

  /**
   * @throws DroverError `validation_failed` if a value is "[redacted]", `queue_full`,
   *   `exceeds_queue`, `subtask_limit`, `stale_run`,
   *   `task_not_found` (a dependency), `project_not_found`, `project_archived`,
   *   `milestone_not_found`, `milestone_archived`, `repository_not_found`, `repository_archived`,
   *   `model_not_allowed`, `agent_not_found`, `agent_terminated`
   */
  async createOne(
    caller: Caller,
    requested: TaskRequest,
    record?: IdempotencyRecord,
    traceparent?: string,
  ): Promise<TaskView> {
    refuseHidden([requested], () => '');
    return this.createWith(caller, requested, {
      traceparent,
      keep: record && keepingAnswer(caller, record, (views) => views[0]),
    });
  }

  /** createOne, with the writes of `keep` in the same transaction. @throws as both */
  async createWith(
    caller: Caller,
    requested: TaskRequest,
    { keep, traceparent }: { keep?: Keep; traceparent?: string },
  ): Promise<TaskView> {
    const request = { tasks: [requested], fieldOf: SINGLE_FIELD, traceparent };
    // The caller can add to the views that it keeps.
    let views: TaskView[] | undefined;
    const keepViews =
      keep && ((tx: Transaction, created: CreatedTasks) => keep(tx, (views = created.views())));
    const created = await this.create(caller, request, keepViews);
    return (views ?? created.views())[0] as TaskView;
  }

  /** @throws as createOne, and `dependency_cycle` with its path */
  async createBatch(
    caller: Caller,
    requested: readonly TaskRequest[],
    { record, traceparent, minimal }: BatchOptions,
  ): Promise<CreatedBatch> {
    refuseHidden(requested, (index) => `tasks[${index}]`);
    const request = { tasks: requested, fieldOf: BATCH_FIELD, traceparent };
    const answerOf = ({ ids, views }: CreatedTasks) => ({ ids, items: minimal ? [] : views() });
    const keep = record && keepingAnswer(caller, record, answerOf);
    return answerOf(await this.create(caller, request, keep));
  }

  /**
   * createBatch, with the writes of `keep` in the same transaction.
   *
   * @param fieldOf the place of a task in the request, for errors
   * @returns the ids of the tasks
   * @throws as both
   */
  async createTogether(
    caller: Caller,
    tasks: readonly TaskRequest[],
    keep: (tx: Transaction, ids: string[]) => Promise<void>,
    fieldOf: CreationRequest['fieldOf'] = BATCH_FIELD,
  ): Promise<string[]> {
    const request = { tasks, fieldOf };
    const { ids } = await this.create(caller, request, (tx, created) => keep(tx, created.ids));
    return ids;
  }

  /** Refuses what createBatch would refuse now, except for a full queue. @throws as createBatch */
  async check(
    caller: Caller,
    tasks: readonly TaskRequest[],
    fieldOf: CreationRequest['fieldOf'] = BATCH_FIELD,
  ): Promise<void> {
    const { workspaceId } = caller;
    const { request, drafts } = await this.prepare(caller, { tasks, fieldOf });
    const tenant = this.database.tenant(workspaceId);
    for (const [index, { projectId, milestoneId }] of request.tasks.entries()) {
      await requireNamed(tenant, workspaceId, { projectId, milestoneId }, fieldOf(index));
    }
    const batch = new TaskBatch(caller, drafts, request);
    const ids = batch.prerequisiteIds;
    const unknown = await unknownIds(tenant, workspaceId, ids);
    batch.refuseUnknown(new Set(ids.filter((id) => !unknown.has(id))));
  }

  private async create(
    caller: Caller,
    requested: CreationRequest,
    keep: Keep<CreatedTasks> | undefined,
  ): Promise<CreatedTasks> {
    const { workspaceId } = caller;
    const { request, given, drafts } = await this.prepare(caller, requested);
    const draft = new TaskBatch(caller, drafts, request);
    if (draft.debounced !== undefined) {
      const tenant = this.database.tenant(workspaceId);
      const waiting = await tenant.transaction((tx) => moveWaiting(tx, draft, keep));
      // It adds no task, so a full queue does not refuse it.
      if (waiting) return waiting;
    }
    return this.depths.within(workspaceId, drafts.length, async () => {
      const sealed = await this.drafts.sealed(workspaceId, drafts, given);
      return this.write(new TaskBatch(caller, sealed, request), keep);
    });
  }

  private async prepare(caller: Caller, requested: CreationRequest) {
    const { workspaceId } = caller;
    const tenant = this.database.tenant(workspaceId);
    refuseForeignKeys(caller, requested);
    const { tasks, runId } = await this.subtasks.fillIn(tenant, caller, requested);
    const request = { ...requested, tasks };
    const given = await this.drafts.givenTo(tenant, workspaceId, runId);
    const drafts = await this.drafts.estimated(workspaceId, this.drafts.of(request, given));
    await refuseArchived(tenant, workspaceId, named(request));
    await refuseModels(tenant, workspaceId, models(request));
    await refuseRepositories(tenant, workspaceId, repositories(request));
    await prepareAssignment(tenant, workspaceId, assigned(request));
    return { request, given, drafts };
  }

  private async write(
    batch: TaskBatch,
    keep: Keep<CreatedTasks> | undefined,
  ): Promise<CreatedTasks> {
    const { workspaceId } = batch.caller;
    const tenant = this.database.tenant(workspaceId);
    const alone = batch.prerequisiteIds.length === 0 && !batch.hasParent;
    const plain = alone && keep === undefined && batch.debounced === undefined;
    const writing = plain
      ? this.insertAlone(tenant, batch)
      : this.insertTogether(tenant, batch, keep);
    const created = await this.drafts.written(writing).catch((error: unknown) => {
      throw explainMissing(error);
    });
    if (created.ready > 0) this.wakeUps.claims(workspaceId, created.ready);
    if (batch.needsSettlement) this.wakeUps.coordinator();
    return created;
  }

  /** One statement suffices. A single task shares it with others that arrive at the same time. */
  private insertAlone(tenant: TenantScope, batch: TaskBatch): Promise<CreatedTasks> {
    return batch.insert(new Map(), async (rows, edges) => {
      const [first, second] = rows;
      if (first === undefined || second !== undefined || edges.length > 0) {
        return this.inserts.many(tenant, tenant.workspaceId, rows, edges);
      }
      return this.inserts.one(tenant.workspaceId, first);
    });
  }

  /** Locking prerequisites, or further writes, need a transaction. */
  private async insertTogether(
    tenant: TenantScope,
    batch: TaskBatch,
    keep: Keep<CreatedTasks> | undefined,
  ): Promise<CreatedTasks> {
    const { workspaceId } = tenant;
    return tenant.transaction(async (tx) => {
      const { caller, tasks, prerequisiteIds } = batch;
      const waiting = await moveWaiting(tx, batch, keep);
      if (waiting) return waiting;
      const ids = await this.subtasks.lockFamily(tx, caller, tasks, prerequisiteIds);
      const found = await lockPrerequisites(tx, workspaceId, ids);
      batch.checkPrerequisites(found);
      const created = await batch.insert(found, (rows, edges) =>
        this.inserts.many(tx, workspaceId, rows, edges),
      );
      await this.subtasks.holdParent(tx, caller, tasks);
      await keep?.(tx, created);
      return created;
    });
  }
}

/** The task that waits under the debounce key of the batch, with its new start. */
async function moveWaiting(
  tx: Transaction,
  batch: TaskBatch,
  keep: Keep<CreatedTasks> | undefined,
): Promise<CreatedTasks | undefined> {
  const waiting = await moveWaitingStart(tx, batch.caller, batch.debounced);
  if (!waiting) return undefined;
  const same = { ids: [waiting.id], ready: 0, views: () => [waiting] };
  await keep?.(tx, same);
  return same;
}

/** Stores the answer for the Idempotency-Key. */
function keepingAnswer<Made>(
  { workspaceId }: Caller,
  record: IdempotencyRecord,
  toAnswer: (created: Made) => unknown,
): Keep<Made> {
  return (tx, created) =>
    storeAnswer(tx, workspaceId, record, { status: 201, body: toAnswer(created) });
}

/**
 * The answer has the waiting task of a key, which runs and agents cannot read in every case.
 *
 * @throws DroverError `validation_failed`
 */
function refuseForeignKeys({ kind }: Caller, { tasks, fieldOf }: CreationRequest): void {
  if (kind !== 'agent' && kind !== 'run') return;
  const errors = tasks.flatMap(({ debounceKey }, index) =>
    debounceKey === undefined
      ? []
      : [{ field: `${fieldOf(index)}debounceKey`, message: 'is not for agents and runs' }],
  );
  if (errors.length > 0) throw new DroverError('validation_failed', { errors });
}

/**
 * A copy of a shown task has no secrets, and its run would get the public form of them.
 *
 * @throws DroverError `validation_failed`
 */
function refuseHidden(tasks: readonly TaskRequest[], pathOf: (index: number) => string): void {
  const errors = tasks.flatMap((task, index) =>
    unknownSecrets(task as unknown as TaskTemplate, pathOf(index)),
  );
  if (errors.length > 0) throw new DroverError('validation_failed', { errors });
}

function named({ tasks, fieldOf }: CreationRequest) {
  return tasks.flatMap((task, index) => plansOf(task, fieldOf(index)));
}

function models({ tasks, fieldOf }: CreationRequest) {
  return tasks.flatMap((task, index) => {
    const model = modelOf(task);
    if (model === undefined) return [];
    return [{ model, projectId: task.projectId, field: `${fieldOf(index)}agent.model` }];
  });
}

function repositories({ tasks, fieldOf }: CreationRequest) {
  return tasks.flatMap(({ repositoryId, projectId }, index) =>
    repositoryId ? [{ id: repositoryId, projectId, field: `${fieldOf(index)}repositoryId` }] : [],
  );
}

function assigned({ tasks, fieldOf }: CreationRequest) {
  return tasks.flatMap(({ agentId }, index) =>
    agentId ? [{ field: `${fieldOf(index)}agentId`, agentId }] : [],
  );
}

function explainMissing(error: unknown): unknown {
  const constraint = violatedConstraint(error) as keyof typeof MISSING_REFERENCES | undefined;
  const code = constraint && MISSING_REFERENCES[constraint];
  return code ? new DroverError(code, { cause: error }) : error;
}
