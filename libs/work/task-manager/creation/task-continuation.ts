import { Injectable } from '@nestjs/common';
import { Database, firstRow } from '#lib/database';
import { type IdempotencyRecord, storeAnswer } from '#lib/http';
import { type Caller, DroverError } from '#lib/kernel';
import { type Original, type SecretValues, TaskSecrets, writeSecrets } from '#lib/secrets';
import type { TaskRequest } from '../domain/new-task.js';
import { requestedOf } from '../domain/requirements.js';
import { secretValuesOf } from '../domain/task-secrets.js';
import type { TaskView } from '../domain/task-view.js';
import { type ContinuedRow, continuedTask, linkContinuation } from './continue-task.sql.js';
import { TaskCreation } from './task-creation.js';

/** Continues the conversations of finished tasks in new ones. */
@Injectable()
export class TaskContinuation {
  constructor(
    private readonly database: Database,
    private readonly secrets: TaskSecrets,
    private readonly creation: TaskCreation,
  ) {}

  /**
   * Creates a task with the coding agent, the input and the conversation of a finished one. The
   * finished task stays unchanged, because its result, its cost and its dependents count.
   *
   * @param words.text the instructions of the new task
   * @param words.title by default, the beginning of the text
   * @param words.attachments the id of its attachments, in place of those of the finished task
   * @throws DroverError `task_not_found`, `not_continuable`, `secrets_unreadable`, and as
   *   `TaskCreation.createOne`
   */
  async continue(
    caller: Caller,
    id: string,
    { text, title, attachments }: { text: string; title?: string; attachments?: string },
    record?: IdempotencyRecord,
    traceparent?: string,
  ): Promise<TaskView> {
    const { workspaceId } = caller;
    const task = await firstRow(this.database.tenant(workspaceId), continuedTask, [
      workspaceId,
      id,
    ]);
    if (!task) throw new DroverError('task_not_found');
    if (task.agent === null || !task.is_over) throw new DroverError('not_continuable');
    const before = toRequest(await this.opened(task));
    const request = {
      ...before,
      title: title ?? titleOf(text, secretValuesOf(before)) ?? before.title,
      instructions: text,
    };
    if (attachments !== undefined) {
      request.inputContext = { ...request.inputContext, attachments };
    }
    const { checkpoint_data: checkpoint } = task;
    return this.creation.createWith(caller, request, {
      ...(traceparent !== undefined && { traceparent }),
      keep: async (tx, [view]) => {
        if (view === undefined) return;
        const params = [workspaceId, view.id, id, JSON.stringify(checkpoint)];
        await tx.pipeline([
          [linkContinuation, params],
          ...writeSecrets(workspaceId, await this.checkpointOf(task, view.id)),
        ]);
        Object.assign(view, { continuesId: id.toLowerCase(), checkpointData: checkpoint });
        await storeAnswer(tx, workspaceId, record, { status: 201, body: view });
      },
    });
  }

  /** The original of its checkpoint for the new task. */
  private checkpointOf({ originals }: ContinuedRow, taskId: string): Promise<Original[]> {
    const ofCheckpoint = (originals ?? []).filter((one) => one.column_name === 'checkpoint_data');
    return Promise.all(ofCheckpoint.map((one) => this.secrets.copied(one, taskId)));
  }

  /** The task with its secrets. */
  private async opened(task: ContinuedRow): Promise<ContinuedRow> {
    const whole: Record<string, unknown> = { ...task };
    for (const original of task.originals ?? []) {
      if (!(original.column_name in whole)) continue;
      const outcome = await this.secrets.open(original);
      if (outcome.kind !== 'opened') throw new DroverError('secrets_unreadable');
      whole[original.column_name] = outcome.value;
    }
    return whole as unknown as ContinuedRow;
  }
}

/** Up to 200 characters of the first line, in whole words. */
const TITLE = /^\s*(\S(?:.{0,198}\S)?)(?=\s|$)/u;

/** Returns undefined if the title would end within a secret, since a part of it is not found. */
function titleOf(text: string, values: SecretValues): string | undefined {
  const title = TITLE.exec(text)?.[1];
  if (title === undefined) return undefined;
  return values.hide(text.trimStart()).startsWith(values.hide(title)) ? title : undefined;
}

function toRequest(task: ContinuedRow): TaskRequest {
  const request = {
    title: task.title,
    ...(task.description !== null && { description: task.description }),
    taskType: task.task_type,
    priority: task.priority,
    agent: task.agent,
    inputContext: task.input_context,
    metadata: task.metadata,
    secrets: task.secrets,
    tags: task.tags,
    ...(task.project_id !== null && { projectId: task.project_id }),
    ...(task.milestone_id !== null && { milestoneId: task.milestone_id }),
    ...(task.repository_id !== null && { repositoryId: task.repository_id }),
    ...(task.acceptance_script !== null && { acceptanceScript: task.acceptance_script }),
    ...(task.concurrency_key !== null && {
      concurrencyKey: task.concurrency_key,
      concurrencyLimit: task.concurrency_limit,
    }),
    maxRetries: task.max_retries,
    retryBackoffSeconds: task.retry_backoff_seconds,
    timeoutSeconds: task.timeout_seconds,
  } as TaskRequest;
  return { ...request, requiredCapabilities: requestedOf(task.required_capabilities, request) };
}
