import { Injectable } from '@nestjs/common';
import { Database, firstRow } from '#lib/database';
import { instruments, Logger } from '#lib/observability';
import { type DataKey } from './domain/sealed-text.js';
import { KeyRing } from './key-ring.js';
import { holdsSealed, sealAnew, SEALED_COLUMNS } from './domain/sealed-columns.js';
import {
  anythingToReseal,
  lockSealedTasks,
  type SealedTaskRow,
  setUnreadableAside,
  writeResealed,
} from './store/reseal-tasks.sql.js';
import { TaskSealer } from './task-sealer.js';

/** Tasks in one transaction. */
const BATCH = 100;

export interface Resealed {
  /** Tasks whose values are under the current key now. */
  resealed: number;
  /** Tasks with a value that does not open; they stay as they are. */
  unreadable: number;
  /** Whether anything was left before; nothing done then means that others hold what is left. */
  more: boolean;
}

/**
 * Brings everything that is sealed under the current key, a batch at a time, while the servers run.
 * Any number may do it at once: each takes the tasks that nobody else holds.
 */
@Injectable()
export class Resealing {
  constructor(
    private readonly database: Database,
    private readonly ring: KeyRing,
    private readonly sealer: TaskSealer,
    private readonly logger: Logger,
  ) {}

  /** A new key if it is time for one, a batch, and the keys that nobody needs any more removed. */
  async round(): Promise<Resealed> {
    if (await this.ring.isDue()) await this.rotate();
    const batch = await this.batch(BATCH);
    if (!batch.more) await this.ring.removeUnused();
    return batch;
  }

  /** Makes a new data key the current one. What the others have sealed is left to the batches. */
  async rotate(): Promise<void> {
    const key = await this.ring.rotate();
    this.logger.info('secrets are sealed with a new key', { dataKeyId: key.id });
  }

  async batch(limit: number): Promise<Resealed> {
    const { service } = this.database;
    const key = await this.ring.current();
    const anything = await firstRow(service, anythingToReseal, [key.id]);
    if (!anything?.found) return { resealed: 0, unreadable: 0, more: false };
    return service.transaction(async (tx) => {
      const rows = await tx.rows(lockSealedTasks, [key.id, limit]);
      const { done, unreadable } = await this.anew(rows, key);
      if (done.length > 0) await tx.rows(writeResealed, [key.id, JSON.stringify(done)]);
      if (unreadable.length > 0) {
        await tx.rows(setUnreadableAside, [key.id, JSON.stringify(unreadable)]);
        this.logger.error('secrets of tasks can not be sealed anew', {
          taskIds: unreadable.map(({ id }) => id),
        });
      }
      instruments.secrets.inc({ operation: 'resealed' }, done.length);
      instruments.secrets.inc({ operation: 'unreadable' }, unreadable.length);
      return { resealed: done.length, unreadable: unreadable.length, more: true };
    });
  }

  private async anew(rows: readonly SealedTaskRow[], key: DataKey) {
    const keys = await this.sealer.keysOf(rows);
    const done: object[] = [];
    const unreadable: { workspace_id: string; id: string }[] = [];
    for (const row of rows) {
      const { workspace_id, id } = row;
      const outcome = sealAnew(row, key, keys);
      if (outcome.kind === 'unreadable') unreadable.push({ workspace_id, id });
      else {
        const sealed = SEALED_COLUMNS.some((column) => holdsSealed(outcome.columns[column]));
        done.push({ workspace_id, id, sealed, ...outcome.columns });
      }
    }
    return { done, unreadable };
  }
}
