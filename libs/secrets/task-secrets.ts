import { Injectable } from '@nestjs/common';
import { instruments } from '#lib/observability';
import {
  type ColumnOfTask,
  NO_KEY,
  type Opened,
  openOriginal,
  type Original,
  sealSecrets,
  type Unreadable,
} from './domain/originals.js';
import { type Secret, secretsIn, SecretValues } from './domain/secret-values.js';
import { redactSecrets } from './domain/secret-walk.js';
import { KeyRing } from './key-ring.js';

/** A document on its way into a column of a task. */
export interface Sealed {
  /** Its redacted form: the column. The document itself when it holds no secret. */
  shown: unknown;
  /** The original for `writeSecrets` with the column, if it holds one. */
  original?: Original;
}

/** Seals the secrets of tasks on their way into the database, and opens them. */
@Injectable()
export class TaskSecrets {
  constructor(private readonly ring: KeyRing) {}

  /**
   * A document without secrets costs the search and nothing else.
   *
   * @param columnOf where it goes; asked only when there is something to seal
   * @param values secrets as well, wherever they stand
   */
  async seal(
    document: unknown,
    columnOf: () => ColumnOfTask | Promise<ColumnOfTask>,
    values?: SecretValues,
  ): Promise<Sealed> {
    const shown = redactSecrets(document, values);
    if (shown === document) return { shown };
    const column = await columnOf();
    const key = await this.ring.current();
    instruments.secrets.inc({ operation: 'sealed' });
    const sealed = sealSecrets(key, document, column, values);
    return { shown, original: { ...column, key_id: key.id, sealed } };
  }

  async open(original: Original): Promise<Opened> {
    const outcome = openOriginal(original, await this.keyOf(original));
    instruments.secrets.inc({ operation: outcome.kind });
    return outcome;
  }

  /** The secrets of a task, as far as they open. */
  async valuesOf(
    originals: readonly Original[],
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

  /**
   * Does a write that may hold originals.
   *
   * @throws DroverError `conflict_retry` when their key has gone meanwhile; see `KeyRing.explain`
   */
  async written<T>(write: Promise<T>): Promise<T> {
    return write.catch((error: unknown) => {
      throw this.ring.explain(error);
    });
  }

  private async keyOf({ key_id }: Original) {
    return key_id === NO_KEY ? undefined : this.ring.find(key_id);
  }
}
