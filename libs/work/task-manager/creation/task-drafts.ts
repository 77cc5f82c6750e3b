import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '#lib/config';
import type { SqlRunner } from '#lib/database';
import { DroverError } from '#lib/kernel';
import { type ColumnOfTask, SecretValues, TaskSecrets } from '#lib/secrets';
import { Estimates } from '#lib/models';
import { draftTasks, type NewTask, type TaskRequest } from '../domain/new-task.js';
import { hiddenTags, refuseSecretRouting, secretValuesOf } from '../domain/task-secrets.js';

export interface CreationRequest {
  tasks: readonly TaskRequest[];
  /** How the client calls the task at an index, for the names of fields. */
  fieldOf: (index: number) => string;
  /** Of the request's span; absent when it is not traced. */
  traceparent?: string | undefined;
}

/** What a request asks for, made into tasks: with what it leaves out, and with its secrets sealed. */
@Injectable()
export class TaskDrafts {
  constructor(
    private readonly secrets: TaskSecrets,
    private readonly estimates: Estimates,
    @Inject(CONFIG) private readonly config: Pick<Config, 'tasks'>,
  ) {}

  /**
   * @param given secrets that the creator was given: they stay out of the fields by which agents are found
   * @throws DroverError `validation_failed`, or `dependency_cycle` with its path
   */
  of({ tasks, fieldOf }: CreationRequest, given: SecretValues): NewTask[] {
    const drafted = draftTasks(tasks, fieldOf, this.config.tasks.defaultTimeoutSeconds);
    switch (drafted.kind) {
      case 'ok':
        drafted.tasks.forEach((task, index) => refuseSecretRouting(task, fieldOf(index), given));
        return drafted.tasks;
      case 'invalid':
        throw new DroverError('validation_failed', { errors: drafted.errors });
      case 'cycle':
        throw new DroverError('dependency_cycle', { members: { path: drafted.path } });
    }
  }

  /** With what each is expected to use. */
  async estimated(workspaceId: string, drafts: readonly NewTask[]): Promise<readonly NewTask[]> {
    const known = await this.estimates.of(workspaceId);
    for (const draft of drafts) Object.assign(draft, known.estimate(draft));
    return drafts;
  }

  /** What a run was given that its subtasks may have, and must not show. People are given nothing. */
  async givenTo(
    runner: SqlRunner,
    workspaceId: string,
    runId: string | undefined,
  ): Promise<SecretValues> {
    if (runId === undefined) return SecretValues.NONE;
    return this.secrets.valuesOfRun(runner, workspaceId, runId);
  }

  /** The tasks as everybody may see them, and the originals of what is secret in them. */
  sealed(workspaceId: string, drafts: readonly NewTask[], given: SecretValues): Promise<NewTask[]> {
    return Promise.all(drafts.map((task) => this.sealedOne(workspaceId, task, given)));
  }

  /** The writing of sealed tasks. @throws as TaskSecrets.written */
  written<T>(writing: Promise<T>): Promise<T> {
    return this.secrets.written(writing);
  }

  private async sealedOne(
    workspaceId: string,
    task: NewTask,
    given: SecretValues,
  ): Promise<NewTask> {
    const { title, description, inputContext, metadata, secrets, tags } = task;
    const values = given.and(secretValuesOf(task));
    const { shown, inputs } = await this.secrets.sealColumns<ColumnOfTask, object>(
      { workspace_id: workspaceId, task_id: task.id },
      { title, description, input_context: inputContext, metadata, secrets },
      values,
    );
    const originals = inputs.filter(({ key_id }) => key_id !== undefined);
    if (originals.length === 0) return task;
    const { input_context, ...others } = shown as typeof shown & { input_context: object };
    const hidden = { inputContext: input_context, tags: hiddenTags(tags, values) };
    return { ...task, ...others, ...hidden, originals } as NewTask;
  }
}
