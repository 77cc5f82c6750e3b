import { Injectable } from '@nestjs/common';
import type { SqlRunner } from '#lib/database';
import { DroverError } from '#lib/kernel';
import { type ColumnOfSchedule, type Original, sentence } from '../domain/originals.js';
import type { SecretValues } from '../domain/secret-values.js';
import { type SecretsInput, writeScheduleSecrets } from './task-secrets.sql.js';
import { TaskSecrets } from './task-secrets.js';

interface Place {
  workspaceId: string;
  scheduleId: string;
}

/** The tasks of a schedule on their way into its row. */
export interface SealedTasks<Task> {
  /** Without the secrets. */
  shown: Task[];
  inputs: SecretsInput<ColumnOfSchedule>[];
}

/** The secrets of schedules: those that their tasks receive at each due time. */
@Injectable()
export class ScheduleSecrets {
  constructor(private readonly secrets: TaskSecrets) {}

  /** @param values secrets that are hidden wherever they stand */
  async seal<Task extends object>(
    { workspaceId, scheduleId }: Place,
    tasks: readonly Task[],
    values: SecretValues,
  ): Promise<SealedTasks<Task>> {
    const at = { workspace_id: workspaceId, schedule_id: scheduleId };
    const documents = { tasks };
    const sealed = await this.secrets.sealColumns<ColumnOfSchedule, typeof documents>(
      at,
      documents,
      values,
    );
    return { shown: [...sealed.shown.tasks], inputs: sealed.inputs };
  }

  /** Runs after the statement that writes the schedule's row, in its transaction. */
  async write(
    runner: SqlRunner,
    workspaceId: string,
    inputs: readonly SecretsInput<ColumnOfSchedule>[],
  ): Promise<void> {
    await runner.rows(writeScheduleSecrets, [workspaceId, JSON.stringify(inputs)]);
  }

  /** Performs a transaction that writes secrets. See `TaskSecrets.written`. */
  written<T>(transaction: Promise<T>): Promise<T> {
    return this.secrets.written(transaction);
  }

  /**
   * The tasks with their secrets.
   *
   * @param shown the column
   * @param original its original of the same moment, if it has secrets
   * @throws DroverError `secrets_unreadable`
   */
  async open<Task extends object>(
    shown: readonly Task[],
    original: Original<ColumnOfSchedule> | null,
  ): Promise<readonly Task[]> {
    if (original === null) return shown;
    const outcome = await this.secrets.open(original);
    if (outcome.kind === 'opened') return outcome.value as Task[];
    throw new DroverError('secrets_unreadable', { detail: `${sentence(outcome)}.` });
  }
}
