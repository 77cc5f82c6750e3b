import { Injectable } from '@nestjs/common';
import { Database, firstRow } from '#lib/database';
import { instruments, Logger } from '#lib/observability';
import { type Column, NO_KEY, type Original, ownerOf, reseal } from '../domain/originals.js';
import type { DataKey } from '../domain/sealed-text.js';
import { redactSecrets } from '../domain/secret-walk.js';
import { KeyRing } from './key-ring.js';
import { RESEALED } from './reseal.sql.js';

/** Maximum number of tasks or agents in one transaction. */
const BATCH = 100;

export interface Resealed {
  /** Tasks and agents whose originals are now under the current key. */
  resealed: number;
  /** Tasks with an original that cannot be opened. It stays unchanged. */
  unreadable: number;
  /** Whether anything was left before. If nothing was resealed, other processes hold the rest. */
  more: boolean;
}

/**
 * Brings all sealed values under the current key, in batches, while servers run. Any number of
 * processes can do it at once: each takes originals that nobody else holds.
 */
@Injectable()
export class Resealing {
  constructor(
    private readonly database: Database,
    private readonly ring: KeyRing,
    private readonly logger: Logger,
  ) {}

  /** Creates a new key if it is time, reseals one batch, and removes unused keys. */
  async round(): Promise<Resealed> {
    if (await this.ring.isDue()) await this.rotate();
    const batch = await this.batch(BATCH);
    if (!batch.more) await this.ring.removeUnused();
    return batch;
  }

  /**
   * Makes a new data key the current one. The batches then reseal the secrets of the others, and try
   * again those that nobody could open, because a missing key may be there now.
   */
  async rotate(): Promise<void> {
    if (await this.ring.isFirstUse()) {
      this.logger.warn('no data key uses the first master key yet', {
        remedy:
          'Append it to ENCRYPTION_KEYS of each server and restart them. A server without it ' +
          'cannot open secrets from now on.',
      });
    }
    const key = await this.ring.rotate();
    for (const { retryUnreadable } of RESEALED) await this.database.service.rows(retryUnreadable);
    this.logger.info('secrets are sealed with a new key', { dataKeyId: key.id });
  }

  /**
   * @param limit maximum number of tasks or agents
   */
  async batch(limit: number): Promise<Resealed> {
    const key = await this.ring.current();
    for (const kind of RESEALED) {
      const anything = await firstRow(this.database.service, kind.anythingToReseal, [key.id]);
      if (anything?.found) return this.batchOf(kind, key, limit);
    }
    return { resealed: 0, unreadable: 0, more: false };
  }

  private async batchOf(
    kind: (typeof RESEALED)[number],
    key: DataKey,
    limit: number,
  ): Promise<Resealed> {
    const { done, unreadable } = await this.database.service.transaction(async (tx) => {
      const result = await this.resealAll(await tx.rows(kind.lockOriginals, [key.id, limit]), key);
      await tx.rows(kind.writeResealed, [key.id, JSON.stringify(result.done)]);
      await tx.rows(kind.setUnreadableAside, [JSON.stringify(result.unreadable)]);
      return { done: ownersOf(result.done), unreadable: ownersOf(result.unreadable) };
    });
    if (unreadable.length > 0) await this.reportUnreadable(unreadable);
    instruments.secrets.inc({ operation: 'resealed' }, done.length);
    instruments.secrets.inc({ operation: 'unreadable' }, unreadable.length);
    return { resealed: done.length, unreadable: unreadable.length, more: true };
  }

  private async reportUnreadable(ofRows: readonly string[]): Promise<void> {
    const missing = await this.ring.missingMasterKeys();
    const remedy =
      missing.length > 0
        ? 'Add these master keys to ENCRYPTION_KEYS of all servers, restart them, then use --rotate-keys.'
        : 'The values were altered, or their key is lost. Store these secrets anew.';
    this.logger.error('secrets cannot be resealed', { ofRows, missing, remedy });
  }

  private async resealAll(originals: readonly Original<Column>[], key: DataKey) {
    const done: (Column & { sealed: unknown; shown?: unknown })[] = [];
    const unreadable: Column[] = [];
    for (const original of originals) {
      const { key_id, sealed: document, ...column } = original;
      const isInClear = key_id === NO_KEY;
      const old = isInClear ? undefined : await this.ring.find(key_id);
      const outcome = reseal(original, old, key);
      if (outcome.kind === 'unreadable') unreadable.push(column);
      else if (!isInClear) done.push({ ...column, sealed: outcome.value });
      else {
        const sealed = outcome.value === document ? null : outcome.value;
        done.push({ ...column, sealed, shown: redactSecrets(document) });
      }
    }
    return { done, unreadable };
  }
}

function ownersOf(columns: readonly Column[]): string[] {
  return [...new Set(columns.map((column) => ownerOf(column)[1]))];
}
