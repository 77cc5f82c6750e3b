import type { Database } from '#lib/database';
import type { JournalRow } from './domain/journal-row.js';
import { readBatch } from './store/cursor.sql.js';

/** Entries behind `from`, up to `to`. */
export interface Batch {
  kind: 'batch';
  rows: JournalRow[];
  full: boolean;
  from: string;
  to: string;
}

/** The result of reading below a horizon. `held_back`: somebody still writes below it, and what is behind has to wait. */
export type Settled = Batch | { kind: 'held_back'; forMs: number };

/** The last id that anybody had drawn, and a transaction id that was drawn after that was read. */
export interface Drawn {
  last: string;
  xid: string;
}

/**
 * Reads the journal in the order of the ids, never past a transaction that may still write below them; so nothing is
 * skipped, and the order is the same at every reading. What it has read no crash of Postgres takes back.
 */
export class JournalReader {
  /** Kept until all up to it has been read: under a steady load the next one would always have to wait as well. */
  private horizon: (Drawn & { since: number; onDisk: boolean }) | undefined;

  constructor(
    private readonly database: Database,
    private readonly batchSize: number,
  ) {}

  /** Whether some rows behind `from` may still lie below the horizon; else `read` takes a new one. */
  isBelowHorizon(from: string): boolean {
    return this.horizon !== undefined && BigInt(this.horizon.last) > BigInt(from);
  }

  /** After a failure: with Postgres, the order of the ids and transactions that it had given out may have gone. */
  forget(): void {
    this.horizon = undefined;
  }

  /** The next rows behind `from`. @param drawn the new horizon, if one is needed */
  async read(from: string, drawn: Drawn | undefined): Promise<Settled> {
    if (drawn && !this.isBelowHorizon(from)) {
      this.horizon = { ...drawn, since: performance.now(), onDisk: false };
    }
    const { horizon } = this;
    if (!horizon) throw new Error('The journal is read without a horizon');
    const { last, xid, since } = horizon;
    const params = [from, last, xid, this.batchSize];
    const found = await this.database.service.rows(readBatch, params);
    if (!found[0]?.settled) return { kind: 'held_back', forMs: performance.now() - since };
    if (!horizon.onDisk) {
      // Some commits are seen before they are there (ADR 42), and the ids of those that are lost are given out again.
      await this.database.service.flush();
      horizon.onDisk = true;
    }
    const rows = found.filter((row): row is JournalRow & { settled: boolean } => row.id !== null);
    const full = rows.length >= this.batchSize;
    return { kind: 'batch', rows, full, from, to: full ? (rows.at(-1)?.id ?? last) : last };
  }
}
