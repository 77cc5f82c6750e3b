import { Injectable } from '@nestjs/common';
import { Database, firstRow, type SqlRunner, violatedConstraint } from '#lib/database';
import { type IdempotencyRecord, validateDto } from '#lib/http';
import {
  type ApiKeyCaller,
  type Caller,
  DroverError,
  newId,
  type Page,
  toPage,
  type UserCaller,
} from '#lib/kernel';
import { keepHidden, showsSecret, TemplateSecrets } from '#lib/secrets';
import { TaskCreation } from '../creation/task-creation.js';
import { secretValuesOf } from '../domain/task-secrets.js';
import type { TaskView } from '../domain/task-view.js';
import {
  secretsInTexts,
  type TaskTemplate,
  toTemplate,
  unknownSecrets,
} from '../domain/template.js';
import { CreateTaskDto } from '../http/dto/task-requests.dto.js';
import {
  changeTaskTemplate,
  deleteTaskTemplate,
  findTaskTemplate,
  insertTaskTemplate,
  type ListedTemplateRow,
  listTaskTemplates,
  lockTaskTemplate,
  lockTaskTemplates,
  type TemplateRow,
} from './task-templates.sql.js';

/** Maximum number of templates of a workspace. */
const MAX_TEMPLATES = 1_000;

/** The visible form of a template. */
interface Texts {
  name: string;
  description?: string | null;
}

export interface TemplateRequest extends Texts {
  task: object;
}

/** A template in the API. TaskTemplateDto describes its fields. */
export interface TemplateView {
  id: string;
  name: string;
  description: string | null;
  task: TaskTemplate;
  createdBy: string;
  version: number;
  createdAt: string;
  updatedAt: string;
}

/** Named templates of a workspace for tasks. */
@Injectable()
export class TaskTemplates {
  constructor(
    private readonly database: Database,
    private readonly creation: TaskCreation,
    private readonly secrets: TemplateSecrets,
  ) {}

  /**
   * @throws DroverError `validation_failed`, `task_template_exists`, `task_template_limit`, and
   *   those of the creation of its task
   */
  async create(
    caller: UserCaller | ApiKeyCaller,
    { name, description = null, task }: TemplateRequest,
  ): Promise<TemplateView> {
    const { workspaceId, userId } = caller;
    const id = newId();
    const template = toTemplate(task);
    await this.check(caller, name, template);
    const texts = { name, description };
    const { shown, input } = await this.sealed(workspaceId, id, texts, template);
    const created = await this.write(workspaceId, async (tx) => {
      await tx.rows(lockTaskTemplates, [workspaceId]);
      const columns = [name, description, JSON.stringify(shown)];
      const params = [workspaceId, id, ...columns, userId, MAX_TEMPLATES];
      if (!(await firstRow(tx, insertTaskTemplate, params))) {
        throw new DroverError('task_template_limit', { members: { limit: MAX_TEMPLATES } });
      }
      await this.secrets.write(tx, input);
      return found(tx, workspaceId, id);
    });
    return toView(created);
  }

  /** Newest first. */
  async list(
    { workspaceId }: Caller,
    page: { before: string | null; limit: number; name?: string | undefined },
  ): Promise<Page<TemplateView>> {
    const params = [workspaceId, page.before, page.limit + 1, page.name ?? null];
    const rows = await this.database.tenant(workspaceId).rows(listTaskTemplates, params);
    return toPage(rows, page.limit, ({ id }) => [id], toView, rows[0]?.cut);
  }

  /** @throws DroverError `task_template_not_found` */
  async get({ workspaceId }: Caller, id: string): Promise<TemplateView> {
    return toView(await found(this.database.tenant(workspaceId), workspaceId, id));
  }

  /**
   * Absent fields stay. A "[redacted]" in the task keeps its value.
   *
   * @throws DroverError `task_template_not_found`, `version_mismatch`, `secrets_unreadable` and
   *   those of `create`
   */
  async change(
    caller: Caller,
    id: string,
    { name, description, task }: Partial<TemplateRequest>,
    version?: number,
  ): Promise<TemplateView> {
    const { workspaceId } = caller;
    const known = await found(this.database.tenant(workspaceId), workspaceId, id);
    const given = toTemplate(task ?? known.task);
    await this.check(caller, name ?? known.name, await this.restored(known, given));
    const changed = await this.write(workspaceId, async (tx) => {
      if (!(await firstRow(tx, lockTaskTemplate, [workspaceId, id]))) throw notFound();
      // A second statement, which sees the original of a change that this one waited for.
      const row = await found(tx, workspaceId, id);
      if (version !== undefined && version !== row.version) {
        throw new DroverError('version_mismatch', { members: { currentVersion: row.version } });
      }
      const texts = {
        name: name ?? row.name,
        description: description === undefined ? row.description : description,
      };
      const template = await this.restored(row, task ? given : row.task);
      const { shown, input } = await this.sealed(workspaceId, id, texts, template);
      const columns = [texts.name, texts.description, JSON.stringify(shown)];
      await tx.rows(changeTaskTemplate, [workspaceId, id, ...columns]);
      await this.secrets.write(tx, input);
      return found(tx, workspaceId, id);
    });
    return toView(changed);
  }

  /** Its tasks stay. @throws DroverError `task_template_not_found` */
  async remove({ workspaceId }: Caller, id: string): Promise<void> {
    const tenant = this.database.tenant(workspaceId);
    if (!(await firstRow(tenant, deleteTaskTemplate, [workspaceId, id]))) throw notFound();
  }

  /**
   * Creates a task with the fields of a template.
   *
   * @param fields replace those of the template; a "[redacted]" keeps its value, and null leaves a
   *   field out
   * @throws DroverError `task_template_not_found`, `secrets_unreadable`, and as
   *   `TaskCreation.createOne`
   */
  async createTask(
    caller: Caller,
    id: string,
    fields: object,
    record?: IdempotencyRecord,
  ): Promise<TaskView> {
    const { workspaceId } = caller;
    const row = await found(this.database.tenant(workspaceId), workspaceId, id);
    const current = await this.secrets.open(row.task, row.original);
    const given = keepHidden(toTemplate(fields), current, row.task) as TaskTemplate;
    refuse(unknownSecrets(given));
    const task = wholeTask(row.name, withoutNulls({ ...current, ...given }));
    return this.creation.createOne(caller, task, record);
  }

  private async check(caller: Caller, name: string, template: TaskTemplate): Promise<void> {
    await this.creation.check(caller, [wholeTask(name, template)], () => 'task.');
  }

  /** @throws DroverError `validation_failed` if somebody could see a secret, or no run gets it */
  private async sealed(workspaceId: string, id: string, texts: Texts, template: TaskTemplate) {
    const values = secretValuesOf(wholeTask(texts.name, template));
    refuse([...unknownSecrets(template, 'task'), ...secretsInTexts(texts, values)]);
    const place = { workspace_id: workspaceId, template_id: id, column_name: 'task' } as const;
    return this.secrets.seal(place, template, values);
  }

  /** The task of a change, with the secrets of the template that it keeps. */
  private async restored({ task, original }: TemplateRow, given: TaskTemplate) {
    if (!showsSecret(given)) return given;
    return keepHidden(given, await this.secrets.open(task, original), task) as TaskTemplate;
  }

  private async write<T>(workspaceId: string, work: (tx: SqlRunner) => Promise<T>): Promise<T> {
    const writing = this.database.tenant(workspaceId).transaction(work);
    return this.secrets.written(writing).catch((error: unknown) => {
      if (violatedConstraint(error) !== 'task_templates_name_key') throw error;
      throw new DroverError('task_template_exists', { cause: error });
    });
  }
}

/** Null means no limit for a timeout, and the default for every other field. */
function withoutNulls(task: TaskTemplate): TaskTemplate {
  const fields = Object.entries(task);
  return Object.fromEntries(
    fields.filter(([name, value]) => value !== null || name === 'timeoutSeconds'),
  );
}

/**
 * The task as POST /agent-tasks accepts it. The name of the template is the title of a task without
 * one.
 *
 * @throws DroverError `validation_failed`
 */
function wholeTask(name: string, template: TaskTemplate): CreateTaskDto {
  return validateDto(CreateTaskDto, { ...template, title: template['title'] ?? name });
}

function toView(row: ListedTemplateRow): TemplateView {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    task: row.task,
    createdBy: row.created_by,
    version: row.version,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

function refuse(errors: { field: string; message: string }[]): void {
  if (errors.length > 0) throw new DroverError('validation_failed', { errors });
}

async function found(runner: SqlRunner, workspaceId: string, id: string): Promise<TemplateRow> {
  const row = await firstRow(runner, findTaskTemplate, [workspaceId, id]);
  if (!row) throw notFound();
  return row;
}

const notFound = (): DroverError => new DroverError('task_template_not_found');
