import { Injectable } from '@nestjs/common';
import { prepareAssignment } from '#lib/agent-manager';
import { Database, firstRow, type Transaction, violatedConstraint } from '#lib/database';
import { actorOf, assertNever, type Caller, DroverError } from '#lib/kernel';
import { illegalCommand } from '../commands/illegal-command.js';
import { TaskCommands } from '../commands/task-commands.js';
import { plansOf, refuseArchived } from '../creation/refuse-archived.js';
import { modelOf, refuseModels } from '../creation/refuse-models.js';
import { refuseOtherProject } from '../creation/refuse-repositories.js';
import { DECIDE, type TaskCommand } from '../domain/commands.js';
import { type LockedTask, lockTasks, type TaskStatus } from '#lib/transitions';
import { refuseSecretRouting, SECRET_FIELDS } from '../domain/task-secrets.js';
import {
  type FoundUpdate,
  planUpdate,
  requireUpdatable,
  type TaskUpdate,
} from '../domain/task-update.js';
import type { TaskRow, TaskView } from '../domain/task-view.js';
import { TaskQueries } from '../queries/task-queries.js';
import { writeSecrets } from '#lib/secrets';
import { commandKindOf, type CurrentEstimate, Estimates, estimatedAnew } from '#lib/models';
import { WakeUps } from '#lib/valkey';
import { toTaskView } from '../store/task-columns.sql.js';
import { taskState } from '../store/task-state.sql.js';
import { taskViews } from '../store/task-views.sql.js';
import { updateTask } from './update-task.sql.js';
import { UpdateSecrets } from './update-secrets.js';

/** The statuses that a client can request. Each stands for a command. */
export const REQUESTED_STATUSES = ['PENDING', 'PAUSED', 'ABORTED', 'ARCHIVED'] as const;
export type RequestedStatus = (typeof REQUESTED_STATUSES)[number];

export interface UpdateRequest {
  fields: TaskUpdate;
  /** Moves the task after the fields have changed. */
  status?: RequestedStatus;
  /** The reason of the move. */
  reason?: string;
  /** The version that the caller has read. Another version refuses the update. */
  ifVersion?: number;
}

const MISSING_REFERENCES = {
  agent_tasks_project_fkey: { code: 'project_not_found', field: 'projectId' },
  agent_tasks_milestone_fkey: { code: 'milestone_not_found', field: 'milestoneId' },
} as const;

/** Changes the fields of a task, and moves it if `status` says so. */
@Injectable()
export class TaskUpdates {
  constructor(
    private readonly db: Database,
    private readonly commands: TaskCommands,
    private readonly queries: TaskQueries,
    private readonly secrets: UpdateSecrets,
    private readonly estimates: Estimates,
    private readonly wakeUps: WakeUps,
  ) {}

  /**
   * An update without changes writes nothing, and a refused one has changed nothing: fields and
   * move are one transaction.
   *
   * @throws DroverError `task_not_found`, `version_mismatch`, `task_closed`, `agent_not_found`,
   *   `agent_terminated`, `project_not_found`, `project_archived`, `milestone_not_found`,
   *   `milestone_archived`, `model_not_allowed`, `validation_failed` if its repository is for another
   *   project, `illegal_transition`, `secrets_unreadable`
   */
  async update(caller: Caller, id: string, request: UpdateRequest): Promise<TaskView> {
    const { workspaceId } = caller;
    const hasFields = Object.values(request.fields).some((value) => value !== undefined);
    if (!hasFields && !request.status)
      await this.requireVersion(workspaceId, id, request.ifVersion);
    else await this.change(caller, { id, request, hasFields });
    return this.queries.get(workspaceId, id);
  }

  private async change(
    caller: Caller,
    { id, request, hasFields }: { id: string; request: UpdateRequest; hasFields: boolean },
  ): Promise<void> {
    const { workspaceId } = caller;
    let isOthersNow = false;
    const changing = this.db.tenant(workspaceId).transaction(async (tx) => {
      if (hasFields) isOthersNow = await this.changeFields(tx, caller, { id, request });
      // The requested version is gone once the fields have changed under it.
      const ifVersion = hasFields ? undefined : request.ifVersion;
      return request.status && this.move(tx, caller, id, { ...request, ifVersion });
    });
    const afterCommit = await this.secrets.written(changing).catch((error: unknown) => {
      throw explainMissing(error);
    });
    if (isOthersNow) {
      this.wakeUps.claims(workspaceId, 1);
      this.wakeUps.coordinator();
    }
    if (afterCommit) afterCommit();
  }

  /**
   * @returns whether other agents can take it now
   */
  private async changeFields(
    tx: Transaction,
    caller: Caller,
    { id, request }: { id: string; request: UpdateRequest },
  ): Promise<boolean> {
    const { workspaceId } = caller;
    const { agentId } = request.fields;
    const row = await lockedRow(tx, caller, { id, request });
    await prepareAssignment(tx, workspaceId, agentId ? [{ field: 'agentId', agentId }] : []);
    // The redacted texts that the client was shown are compared with their originals, and replaced
    // by them. New tags and requirements must not contain a secret.
    const opensSecrets = [...SECRET_FIELDS, 'tags' as const, 'requiredCapabilities' as const].some(
      (field) => request.fields[field] !== undefined,
    );
    const shown = toTaskView(row);
    const task = opensSecrets ? toTaskView(await this.secrets.opened(tx, row)) : shown;
    const plan = planUpdate(task, await this.estimated(shown, request.fields), shown);
    if (plan.changed.length === 0) return false;
    requireUpdatable(task, plan, request.fields);
    if (opensSecrets) refuseSecretRouting({ ...plan.next, taskType: task.taskType }, '');
    const named = plansOf(plan.next).filter(({ kind }) => plan.changed.includes(`${kind}Id`));
    await refuseArchived(tx, workspaceId, named);
    if (plan.changed.includes('projectId')) await refuseProject(tx, task, plan.next.projectId);
    const sealed = opensSecrets
      ? await this.secrets.sealed(row, plan)
      : { shown: {}, originals: [] };
    const actor = actorOf(caller);
    const params = [
      workspaceId,
      id,
      actor.kind,
      actor.id,
      JSON.stringify(plan.details),
      plan.changed,
      JSON.stringify({ ...plan.next, ...sealed.shown }),
      plan.removedTags,
      plan.addedTags,
    ];
    await tx.pipeline([[updateTask, params], ...writeSecrets(workspaceId, sealed.originals)]);
    return plan.changed.includes('requiredCapabilities');
  }

  /** With the estimate that follows from the request. */
  private async estimated(task: TaskView, asked: TaskUpdate): Promise<FoundUpdate> {
    const current = { ...(task as CurrentEstimate), commandKind: commandKindOf(task) };
    const from = estimatedAnew(current, asked);
    const known = from && (await this.estimates.of(task.workspaceId));
    return { ...asked, estimatedTokens: undefined, ...(from && known?.estimate(from)) };
  }

  private async move(
    tx: Transaction,
    caller: Caller,
    id: string,
    { status, reason, ifVersion }: UpdateRequest,
  ): Promise<() => void> {
    const [task] = await lockTasks(tx, caller.workspaceId, [id]);
    if (!task) throw new DroverError('task_not_found');
    const command = commandFor(status as RequestedStatus, task.status);
    return this.commands.within(tx, caller, command, { id, reason, ifVersion });
  }

  private async requireVersion(workspaceId: string, id: string, ifVersion?: number): Promise<void> {
    const task = await firstRow(this.db.tenant(workspaceId), taskState, [workspaceId, id]);
    if (!task) throw new DroverError('task_not_found');
    checkVersion(task, ifVersion);
  }
}

/** The command that leads to the status. PENDING resumes a task, or retries one that ended. */
function commandFor(requested: RequestedStatus, current: TaskStatus): TaskCommand {
  switch (requested) {
    case 'PAUSED':
      return 'pause';
    case 'ABORTED':
      return 'cancel';
    case 'ARCHIVED':
      return 'archive';
    case 'PENDING':
      return current === 'FAILED' || current === 'ABORTED' ? 'retry' : 'resume';
    default:
      return assertNever(requested);
  }
}

/** @throws DroverError `task_not_found`, `version_mismatch`, `illegal_transition` */
async function lockedRow(
  tx: Transaction,
  caller: Caller,
  { id, request }: { id: string; request: UpdateRequest },
): Promise<TaskRow> {
  const [locked] = await lockTasks(tx, caller.workspaceId, [id]);
  if (!locked) throw new DroverError('task_not_found');
  checkVersion(locked, request.ifVersion);
  if (request.status) requireLegal(locked, caller, request.status);
  // Read under the lock, because sub-selects of a statement that waited for it would be older than
  // the row.
  const row = await firstRow(tx, taskViews, [caller.workspaceId, [id]]);
  if (!row) throw new DroverError('task_not_found');
  return row;
}

/** @throws DroverError `model_not_allowed`, `validation_failed` */
async function refuseProject(
  tx: Transaction,
  task: TaskView,
  projectId: string | null,
): Promise<void> {
  const { workspaceId, repositoryId } = task;
  const next = { projectId, field: 'projectId' };
  const model = modelOf(task);
  if (model !== undefined) await refuseModels(tx, workspaceId, [{ model, ...next }]);
  if (repositoryId !== null)
    await refuseOtherProject(tx, workspaceId, { id: repositoryId, ...next });
}

function checkVersion(task: { version: number }, ifVersion: number | undefined): void {
  if (ifVersion === undefined || ifVersion === task.version) return;
  throw new DroverError('version_mismatch', { members: { currentVersion: task.version } });
}

function requireLegal(task: LockedTask, caller: Caller, requested: RequestedStatus): void {
  const command = commandFor(requested, task.status);
  const request = { actor: actorOf(caller) };
  const decision = DECIDE[command](task, request);
  if (decision.kind === 'illegal') throw illegalCommand(task, command, request, decision.to);
}

function explainMissing(error: unknown): unknown {
  const constraint = violatedConstraint(error) as keyof typeof MISSING_REFERENCES | undefined;
  const missing = constraint && MISSING_REFERENCES[constraint];
  if (!missing) return error;
  const errors = [{ field: missing.field, message: 'names nothing in this workspace' }];
  return new DroverError(missing.code, { errors, cause: error });
}
