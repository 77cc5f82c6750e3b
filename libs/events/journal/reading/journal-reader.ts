import type { Database } from '#lib/database';
import type { JournalRow } from '../domain/journal-row.js';
import { readBatch } from '../store/cursor.sql.js';

/** Entries after `from`, up to `to`. */
export interface Batch {
  kind: 'batch';
  rows: JournalRow[];
  full: boolean;
  from: string;
  to: string;
}

/**
 * The result of reading below a horizon. `held_back`: somebody still writes below it, and later
 * rows must wait.
 */
export type Settled = Batch | { kind: 'held_back'; forMs: number };

/** The last id that was drawn, and a transaction id that was drawn after it was read. */
export interface Drawn {
  last: string;
  xid: string;
}

type Workspaces = () => Promise<readonly string[] | undefined> | undefined;

/** Ids in one batch of some workspaces, because the rows of all workspaces are searched for it. */
const SEARCHED = 50_000n;

/**
 * Reads the journal in the order of the ids, never past a transaction that may still write below
 * them. So nothing is skipped, and the order is the same at every read. No crash of Postgres takes
 * back what it has read.
 */
export class JournalReader {
  /**
   * Kept until everything up to it was read. Under a steady load the next horizon would always have
   * to wait, too.
   */
  private horizon: (Drawn & { since: number; onDisk: boolean }) | undefined;

  constructor(
    private readonly database: Database,
    private readonly batchSize: number,
    /** The workspaces whose rows are read, or undefined for all. */
    private readonly workspaces: Workspaces = () => undefined,
  ) {}

  /**
   * Whether rows after `from` can still lie below the horizon. Otherwise `read` takes a new one.
   */
  isBelowHorizon(from: string): boolean {
    return this.horizon !== undefined && BigInt(this.horizon.last) > BigInt(from);
  }

  /** After a failure: the order of ids and transactions may have been lost with Postgres. */
  forget(): void {
    this.horizon = undefined;
  }

  /** The next rows after `from`. @param drawn the new horizon, if one is needed */
  async read(from: string, drawn: Drawn | undefined): Promise<Settled> {
    if (drawn && !this.isBelowHorizon(from)) {
      this.horizon = { ...drawn, since: performance.now(), onDisk: false };
    }
    const { horizon } = this;
    if (!horizon) throw new Error('The journal is read without a horizon');
    const { xid, since } = horizon;
    // Rows below a horizon that was reached are older than the answer, so it misses no workspace.
    const workspaces = horizon.onDisk ? await this.workspaces() : undefined;
    const last = workspaces ? nearer(from, horizon.last) : horizon.last;
    const params = [from, last, xid, this.batchSize, workspaces];
    const found = await this.database.service.rows(readBatch, params);
    if (!found[0]?.settled) return { kind: 'held_back', forMs: performance.now() - since };
    if (!horizon.onDisk) {
      // Some commits are visible before they are durable (ADR 42), and the ids of lost ones are
      // assigned again.
      await this.database.service.flush();
      horizon.onDisk = true;
    }
    const rows = found.filter((row): row is JournalRow & { settled: boolean } => row.id !== null);
    const isCut = rows.length >= this.batchSize;
    const to = isCut ? (rows.at(-1)?.id ?? last) : last;
    return { kind: 'batch', rows, full: isCut || to !== horizon.last, from, to };
  }
}

function nearer(from: string, last: string): string {
  const end = BigInt(from) + SEARCHED;
  return end < BigInt(last) ? `${end}` : last;
}
