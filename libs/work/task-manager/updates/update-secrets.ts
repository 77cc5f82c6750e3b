import { Injectable } from '@nestjs/common';
import type { Transaction } from '#lib/database';
import { type ColumnOfTask, HeldSecrets, showsSecret, TaskSecrets } from '#lib/secrets';
import { cutTitle, mayBeCut } from '../domain/task-secrets.js';
import type { UpdatePlan } from '../domain/task-update.js';
import type { TaskRow } from '../domain/task-view.js';

/** The secrets of a task that is changed. */
@Injectable()
export class UpdateSecrets {
  constructor(
    private readonly secrets: TaskSecrets,
    private readonly held: HeldSecrets,
  ) {}

  /** The task with its secrets. @throws DroverError `secrets_unreadable` */
  async opened(tx: Transaction, row: TaskRow): Promise<TaskRow> {
    const { workspaceId, id, title, description, metadata, secrets, inputContext } = row;
    const fields = { id, title, description, metadata, secrets, inputContext };
    return { ...row, ...(await this.held.openOne(tx, workspaceId, fields)) };
  }

  /** The public form, and the writes of its originals: earlier ones may be removed. */
  async sealed({ workspaceId, id, ...row }: TaskRow, { next, values }: UpdatePlan) {
    const { title, description, metadata, secrets } = next;
    const { shown, inputs } = await this.secrets.sealColumns<ColumnOfTask, object>(
      { workspace_id: workspaceId, task_id: id },
      { title, description, metadata, secrets },
      values,
    );
    const before = row as Record<string, unknown>;
    const hid = (name: string) =>
      showsSecret(before[name]) || (name === 'title' && mayBeCut(row.title));
    const originals = inputs.filter(
      ({ column_name: name, key_id }) => key_id !== undefined || hid(name),
    );
    const { title: whole } = shown as { title: string };
    return { shown: { ...shown, title: cutTitle(whole) }, originals };
  }

  /** The write of sealed fields. @throws as TaskSecrets.written */
  written<T>(writing: Promise<T>): Promise<T> {
    return this.secrets.written(writing);
  }
}
