import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '#lib/config';
import type { SqlRunner } from '#lib/database';
import { DroverError } from '#lib/kernel';
import { type ColumnOfTask, holdsSecrets, SecretValues, TaskSecrets } from '#lib/secrets';
import { commandKindOf, Estimates } from '#lib/models';
import { draftTasks, type NewTask, type TaskRequest } from '../domain/new-task.js';
import {
  cutTitle,
  hiddenTags,
  refuseSecretRouting,
  secretValuesOf,
} from '../domain/task-secrets.js';

export interface CreationRequest {
  tasks: readonly TaskRequest[];
  /** The path of the task at an index in the request, for the names of fields. */
  fieldOf: (index: number) => string;
  /** The traceparent of the request's span. Absent if it is not traced. */
  traceparent?: string | undefined;
}

/** Turns a request into tasks: fills in defaults and seals secrets. */
@Injectable()
export class TaskDrafts {
  constructor(
    private readonly secrets: TaskSecrets,
    private readonly estimates: Estimates,
    @Inject(CONFIG) private readonly config: Pick<Config, 'tasks'>,
  ) {}

  /**
   * @param given secrets that the creator received; they must not appear in fields that route tasks
   *   to agents
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

  /** The tasks with their estimates. */
  async estimated(workspaceId: string, drafts: readonly NewTask[]): Promise<readonly NewTask[]> {
    const known = await this.estimates.of(workspaceId);
    for (const draft of drafts) {
      draft.commandKind = commandKindOf(draft);
      Object.assign(draft, known.estimate(draft));
    }
    return drafts;
  }

  /** The secrets of a run that its subtasks may contain and must not show. People receive none. */
  async givenTo(
    runner: SqlRunner,
    workspaceId: string,
    runId: string | undefined,
  ): Promise<SecretValues> {
    if (runId === undefined) return SecretValues.NONE;
    return this.secrets.valuesOfRun(runner, workspaceId, runId);
  }

  /** The public form of the tasks, and the originals of their secrets. */
  async sealed(
    workspaceId: string,
    drafts: readonly NewTask[],
    given: SecretValues,
  ): Promise<NewTask[]> {
    const tasks: NewTask[] = [];
    for (const task of drafts) {
      const columns = columnsOf(task);
      // Most tasks have no secret, and cost this one search.
      const isPlain = given.isEmpty && !holdsSecrets(columns);
      tasks.push(
        isPlain
          ? withTags(task, SecretValues.NONE)
          : await this.sealedOne(workspaceId, task, columns, given),
      );
    }
    return tasks;
  }

  /** The write of sealed tasks. @throws as TaskSecrets.written */
  written<T>(writing: Promise<T>): Promise<T> {
    return this.secrets.written(writing);
  }

  private async sealedOne(
    workspaceId: string,
    task: NewTask,
    columns: ReturnType<typeof columnsOf>,
    given: SecretValues,
  ): Promise<NewTask> {
    const values = given.and(secretValuesOf(task));
    const at = { workspace_id: workspaceId, task_id: task.id };
    const { shown, inputs } = await this.secrets.sealColumns<ColumnOfTask, object>(
      at,
      columns,
      values,
    );
    const originals = inputs.filter(({ key_id }) => key_id !== undefined);
    const tagged = withTags(task, values);
    if (originals.length === 0) return tagged;
    const { title, input_context, acceptance_script, ...others } = shown as typeof columns;
    const shownFields = {
      title: cutTitle(title),
      inputContext: input_context,
      acceptanceScript: acceptance_script,
    };
    return { ...tagged, ...others, ...shownFields, originals } as NewTask;
  }
}

/** The columns of a task that can hold secrets. */
function columnsOf(task: NewTask) {
  const { title, description, inputContext, metadata, secrets } = task;
  const { agent, instructions, steps, deliverables, acceptance, acceptanceScript } = task;
  return {
    title,
    description,
    input_context: inputContext,
    metadata,
    secrets,
    agent,
    instructions,
    steps,
    deliverables,
    acceptance,
    acceptance_script: acceptanceScript,
  };
}

function withTags(task: NewTask, values: SecretValues): NewTask {
  return task.tags.length === 0 ? task : { ...task, tags: hiddenTags(task.tags, values) };
}
