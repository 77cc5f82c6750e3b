import { Injectable } from '@nestjs/common';
import { instruments } from '#lib/observability';
import { type DataKey } from './domain/sealed-text.js';
import { KeyRing } from './key-ring.js';
import {
  type DataKeys,
  keyIdsOf,
  type Opened,
  openSecrets,
  placeOf,
  type SealedColumn,
  type SealedRow,
  sealSecrets,
  secretsOf,
  type Unreadable,
} from './domain/sealed-columns.js';
import { SecretValues } from './domain/secret-values.js';
import { holdsSecret } from './domain/secret-walk.js';

/** A value as it may be stored, and the key of what is sealed in it; null when nothing is. */
export interface SealedValue {
  value: unknown;
  keyId: string | null;
}

/** What sealing needs to know of a task that is about to be created. */
export interface SealableTask {
  id: string;
  wanted: { inputContext?: Record<string, unknown>; metadata?: Record<string, unknown> };
  sealedWith?: string;
}

/**
 * Seals the secrets of tasks on their way into the database, and opens them. A value without secrets
 * costs the look at it and nothing else.
 */
@Injectable()
export class TaskSealer {
  constructor(private readonly ring: KeyRing) {}

  /** New tasks with their secrets sealed; the tasks themselves when they have none. */
  async sealNew<Task extends SealableTask>(
    workspaceId: string,
    tasks: readonly Task[],
  ): Promise<readonly Task[]> {
    if (!tasks.some(hasSecrets)) return tasks;
    const key = await this.ring.current();
    return tasks.map((task) => {
      if (!hasSecrets(task)) return task;
      instruments.secrets.inc({ operation: 'sealed' });
      return sealedTask(workspaceId, task, key);
    });
  }

  /** @param values secrets as well, wherever they stand */
  async seal(
    task: { workspace_id: string; id: string },
    column: SealedColumn,
    value: unknown,
    values?: SecretValues,
  ): Promise<SealedValue> {
    if (!holdsSecret(value, values)) return { value, keyId: null };
    const key = await this.ring.current();
    instruments.secrets.inc({ operation: 'sealed' });
    return { value: sealSecrets(key, value, placeOf(task, column), values), keyId: key.id };
  }

  async open(row: SealedRow): Promise<Opened> {
    const outcome = openSecrets(row, await this.keysOf([row]));
    instruments.secrets.inc({ operation: outcome.kind });
    return outcome;
  }

  /** The values of all secrets in a task, as far as they open. */
  async valuesOf(row: SealedRow): Promise<{ values: SecretValues; unreadable?: Unreadable }> {
    const { secrets, unreadable } = secretsOf(row, await this.keysOf([row]));
    instruments.secrets.inc({ operation: unreadable?.kind ?? 'opened' });
    return { values: SecretValues.of(secrets), unreadable };
  }

  /** The keys that the rows need, as far as there are any. */
  async keysOf(rows: readonly SealedRow[]): Promise<DataKeys> {
    const ids = new Set(rows.flatMap((row) => [...keyIdsOf(row)]));
    const keys = new Map<string, DataKey>();
    for (const id of ids) {
      const key = await this.ring.find(id);
      if (key) keys.set(id, key);
    }
    return keys;
  }

  /** What a write of sealed values is refused with; see `KeyRing.explain`. */
  explain(error: unknown): unknown {
    return this.ring.explain(error);
  }
}

function hasSecrets({ wanted }: SealableTask): boolean {
  return holdsSecret(wanted.inputContext) || holdsSecret(wanted.metadata);
}

function sealedTask<Task extends SealableTask>(
  workspaceId: string,
  task: Task,
  key: DataKey,
): Task {
  const row = { workspace_id: workspaceId, id: task.id };
  const seal = (column: SealedColumn, value: Record<string, unknown> | undefined) =>
    sealSecrets(key, value, placeOf(row, column)) as typeof value;
  const { inputContext, metadata } = task.wanted;
  const wanted = {
    ...task.wanted,
    inputContext: seal('input_context', inputContext),
    metadata: seal('metadata', metadata),
  };
  return { ...task, wanted, sealedWith: key.id };
}
