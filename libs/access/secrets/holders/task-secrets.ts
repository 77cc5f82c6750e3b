import { Injectable } from '@nestjs/common';
import { firstRow, type SqlRunner } from '#lib/database';
import { DroverError, redactText } from '#lib/kernel';
import { instruments } from '#lib/observability';
import {
  type Column,
  type ColumnOfTask,
  mapColumn,
  NO_KEY,
  type Opened,
  openOriginal,
  type Original,
  reseal,
  sealSecrets,
  type Unreadable,
} from '../domain/originals.js';
import { hasRoomForSecret, type Secret, secretsIn, SecretValues } from '../domain/secret-values.js';
import { asObject, type KnownValues, redactSecrets } from '../domain/secret-walk.js';
import { KeyRing } from '../keys/key-ring.js';
import {
  originalsOfTasks,
  type SecretsInput,
  type SecretsOfRun,
  secretsOfRuns,
} from './task-secrets.sql.js';

/** A document on its way into a column of a task. */
export interface Sealed {
  /** Its redacted form for the column, or the document itself if it contains no secret. */
  shown: unknown;
  /** The original for `writeSecrets`, if the document contains a secret. */
  original?: Original;
}

/** The originals from which a run has secrets. */
export function originalsOf(run: SecretsOfRun): Original<Column>[] {
  return [...(run.originals ?? []), ...(run.of_agent ?? []), ...(run.of_project ?? [])];
}

/** Seals the secrets of tasks on their way into the database, and opens them. */
@Injectable()
export class TaskSecrets {
  constructor(private readonly ring: KeyRing) {}

  /**
   * A document without secrets costs only the search.
   *
   * @param columnOf its destination; called only if there is something to seal
   * @param values further secrets, wherever they stand
   */
  async seal(
    document: unknown,
    columnOf: () => ColumnOfTask | Promise<ColumnOfTask>,
    values?: KnownValues,
  ): Promise<Sealed> {
    const shown = redactSecrets(document, values);
    if (shown === document) return { shown };
    return { shown, original: await this.original(document, await columnOf(), values) };
  }

  /**
   * Seals several columns of one task or agent at once.
   *
   * @returns the public form of each, and its original, or that there is none
   */
  async sealColumns<Of extends Column, Documents extends { [Name in Of['column_name']]?: unknown }>(
    at: Omit<Of, 'column_name'>,
    documents: Documents,
    values?: SecretValues,
  ): Promise<{ shown: Documents; inputs: SecretsInput<Of>[] }> {
    const shown: Record<string, unknown> = { ...documents };
    const inputs: SecretsInput<Of>[] = [];
    for (const [name, document] of Object.entries(documents)) {
      const column = { ...at, column_name: name } as Of;
      const part = mapColumn(column.column_name, document, (_, text) => text, values);
      shown[name] = typeof document === 'string' ? part : part && asObject(part);
      inputs.push(part === document ? column : await this.original(document, column, values));
    }
    return { shown: shown as Documents, inputs };
  }

  async open(original: Original<Column>): Promise<Opened> {
    const outcome = openOriginal(original, await this.keyOf(original));
    instruments.secrets.inc({ operation: outcome.kind });
    return outcome;
  }

  /**
   * The original for the same column of another task, which shows the same.
   *
   * @throws DroverError `secrets_unreadable`
   */
  async copied(original: Original, taskId: string): Promise<Original> {
    const { workspace_id, column_name } = original;
    const column = { workspace_id, task_id: taskId, column_name };
    const key = await this.ring.current();
    const outcome = reseal(original, await this.keyOf(original), key, column);
    if (outcome.kind !== 'opened') throw new DroverError('secrets_unreadable');
    instruments.secrets.inc({ operation: 'sealed' });
    return { ...column, key_id: key.id, sealed: outcome.value };
  }

  /** The secrets of a task that can be opened. */
  async valuesOf(
    originals: readonly Original<Column>[],
  ): Promise<{ values: SecretValues; unreadable?: Unreadable }> {
    const secrets: Secret[] = [];
    let unreadable: Unreadable | undefined;
    for (const original of originals) {
      const outcome = openOriginal(original, await this.keyOf(original), (secret, shown) => {
        secrets.push([secret, shown]);
        return null;
      });
      instruments.secrets.inc({ operation: outcome.kind });
      if (outcome.kind === 'opened') secrets.push(...secretsIn(outcome.value));
      else unreadable = outcome;
    }
    return { values: SecretValues.of(secrets), unreadable };
  }

  /** The secrets of a run, from its task, its agent and its project, that can be opened. */
  async valuesOfRun(runner: SqlRunner, workspaceId: string, runId: string): Promise<SecretValues> {
    const run = await firstRow(runner, secretsOfRuns, [workspaceId, [runId]]);
    const { values } = await this.valuesOf(run === undefined ? [] : originalsOf(run));
    return values;
  }

  /** The text without the secrets of these tasks, and without anything that looks like a secret. */
  async hideIn(
    text: string,
    runner: SqlRunner,
    workspaceId: string,
    taskIds: readonly string[],
  ): Promise<string> {
    if (!hasRoomForSecret(text)) return redactText(text);
    const originals = await runner.rows(originalsOfTasks, [workspaceId, taskIds]);
    const { values } = await this.valuesOf(originals);
    return values.redact(text);
  }

  /**
   * Performs a write that can contain originals.
   *
   * @throws DroverError `conflict_retry` if their key is gone; see `KeyRing.explain`
   */
  async written<T>(write: Promise<T>): Promise<T> {
    return write.catch((error: unknown) => {
      throw this.ring.explain(error);
    });
  }

  private async original<Of extends Column>(
    document: unknown,
    column: Of,
    values: KnownValues | undefined,
  ): Promise<Original<Of>> {
    const key = await this.ring.current();
    instruments.secrets.inc({ operation: 'sealed' });
    return { ...column, key_id: key.id, sealed: sealSecrets(key, document, column, values) };
  }

  private async keyOf({ key_id }: Original<Column>) {
    return key_id === NO_KEY ? undefined : this.ring.find(key_id);
  }
}
