import { Injectable } from '@nestjs/common';
import type { SqlRunner } from '#lib/database';
import { DroverError } from '#lib/kernel';
import { type ColumnOfTemplate, type Original, sentence } from '../domain/originals.js';
import type { SecretValues } from '../domain/secret-values.js';
import {
  type SecretsInput,
  writeScheduleSecrets,
  writeTaskTemplateSecrets,
} from './task-secrets.sql.js';
import { TaskSecrets } from './task-secrets.js';

/** The secrets of schedules and of templates: those that the tasks that they create receive. */
@Injectable()
export class TemplateSecrets {
  constructor(private readonly secrets: TaskSecrets) {}

  /**
   * @param document the tasks of a schedule, or the task of a template
   * @param values secrets that are hidden wherever they stand
   * @returns the document without its secrets, and the input of `write`
   */
  async seal<Document extends object>(
    { column_name: name, ...at }: ColumnOfTemplate,
    document: Document,
    values: SecretValues,
  ): Promise<{ shown: Document; input: SecretsInput<ColumnOfTemplate> }> {
    const documents = { [name]: document };
    const sealed = await this.secrets.sealColumns<ColumnOfTemplate, typeof documents>(
      at,
      documents,
      values,
    );
    const [input] = sealed.inputs;
    return {
      shown: sealed.shown[name] as Document,
      input: input as SecretsInput<ColumnOfTemplate>,
    };
  }

  /**
   * Runs after the statement that writes the row of the schedule or template, in its transaction.
   */
  async write(runner: SqlRunner, input: SecretsInput<ColumnOfTemplate>): Promise<void> {
    const writing = 'schedule_id' in input ? writeScheduleSecrets : writeTaskTemplateSecrets;
    await runner.rows(writing, [input.workspace_id, JSON.stringify([input])]);
  }

  /** Performs a transaction that writes secrets. See `TaskSecrets.written`. */
  written<T>(transaction: Promise<T>): Promise<T> {
    return this.secrets.written(transaction);
  }

  /**
   * The document with its secrets.
   *
   * @param shown the column
   * @param original its original of the same moment, if it has secrets
   * @throws DroverError `secrets_unreadable`
   */
  async open<Document extends object>(
    shown: Document,
    original: Original<ColumnOfTemplate> | null,
  ): Promise<Document> {
    if (original === null) return shown;
    const outcome = await this.secrets.open(original);
    if (outcome.kind === 'opened') return outcome.value as Document;
    throw new DroverError('secrets_unreadable', { detail: `${sentence(outcome)}.` });
  }
}
