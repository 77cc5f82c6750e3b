import { randomUUID } from 'node:crypto';
import { type Database, firstRow } from '#lib/database';
import type { JournalRow } from './domain/journal-row.js';
import {
  advance,
  giveLeaseBack,
  type Outlook,
  readBatch,
  readNumbers,
  readOutlook,
  takeLease,
} from './store/cursor.sql.js';

/** How long a reader that died, or sleeps, keeps the others of its consumer waiting. */
const LEASE_SECONDS = 10;

/** The result of reading on. */
export type Reading =
  | { kind: 'idle' }
  /** Another process reads for this consumer. */
  | { kind: 'elsewhere' }
  /** Somebody still writes below the horizon: what comes behind has to wait. */
  | { kind: 'held_back'; forMs: number }
  | Batch;

/** Entries behind `from`, up to `to`. */
interface Batch {
  kind: 'batch';
  rows: JournalRow[];
  full: boolean;
  from: string;
  to: string;
}

/** Rows up to `last` are all there, once the transactions below `xid` have ended. */
interface Horizon {
  last: string;
  xid: string;
  since: number;
}

/**
 * One consumer's place in the journal. It reads in the order of the ids, never past a transaction that may still
 * write below them; so nothing is skipped, and the order is the same at every reading.
 */
export class JournalCursor {
  readonly owner = randomUUID();
  /** Entries that have been read and not been dealt with. */
  private pending: Batch | undefined;
  /** What comes behind them: asked for while they are dealt with. */
  private ahead: Promise<Reading> | undefined;
  /** Kept until all up to it has been read: under a steady load the next one would always have to wait as well. */
  private horizon: Horizon | undefined;

  constructor(
    private readonly database: Database,
    private readonly consumer: string,
    private readonly batchSize: number,
  ) {}

  async outlook(): Promise<Outlook> {
    const found = await firstRow(this.database.service, readOutlook, [this.consumer, this.owner]);
    if (!found) throw new Error(`There is no consumer ${this.consumer} of the journal`);
    return found;
  }

  /** The next rows; the same again until `done` has been called. */
  async read(): Promise<Reading> {
    const ahead = this.pending ? undefined : this.ahead;
    this.ahead = undefined;
    const reading = await (ahead ?? this.readOn());
    this.pending = reading.kind === 'batch' ? reading : undefined;
    if (this.pending?.full) this.readAhead(this.pending.to);
    return reading;
  }

  /**
   * The last numbers that were given to messages of these workspaces, before what has been read.
   *
   * @returns undefined when another process has dealt with it meanwhile, and has raised them
   */
  async numbersOf(workspaceIds: readonly string[]): Promise<Map<string, bigint> | undefined> {
    if (workspaceIds.length === 0) return new Map();
    const params = [this.consumer, this.pending?.from, workspaceIds];
    const rows = await this.database.service.rows(readNumbers, params);
    if (rows.length === 0) return undefined;
    return new Map(rows.map((row) => [row.workspace_id, BigInt(row.last_number)]));
  }

  /** The rows that were read have been dealt with. @returns false when another process has taken over */
  async done(numbers: ReadonlyMap<string, bigint> = new Map()): Promise<boolean> {
    const { pending } = this;
    if (!pending) return true;
    const counts = [[...numbers.keys()], [...numbers.values()].map(String)];
    const params = [this.consumer, this.owner, pending.from, pending.to, ...counts, LEASE_SECONDS];
    const moved = await firstRow(this.database.service, advance, params);
    this.pending = undefined;
    if (!moved) this.ahead = undefined;
    return moved !== undefined;
  }

  async giveBack(): Promise<void> {
    await this.database.service.rows(giveLeaseBack, [this.consumer, this.owner]);
  }

  private async readOn(): Promise<Reading> {
    const { last, position, elsewhere } = await this.outlook();
    if (elsewhere) return { kind: 'elsewhere' };
    if (BigInt(last) <= BigInt(position)) return { kind: 'idle' };
    const params = [this.consumer, this.owner, LEASE_SECONDS];
    const lease = await firstRow(this.database.service, takeLease, params);
    if (!lease) return { kind: 'elsewhere' };
    if (!this.horizon || BigInt(this.horizon.last) <= BigInt(lease.position)) {
      this.horizon = { last, xid: lease.xid, since: performance.now() };
    }
    return this.readUpTo(this.horizon, lease.position);
  }

  /** Only below the horizon, where all rows are there already and none will change. */
  private readAhead(from: string): void {
    if (!this.horizon || BigInt(this.horizon.last) <= BigInt(from)) return;
    this.ahead = this.readUpTo(this.horizon, from);
    this.ahead.catch(() => undefined);
  }

  private async readUpTo({ last, xid, since }: Horizon, from: string): Promise<Reading> {
    const params = [from, last, xid, this.batchSize];
    const found = await this.database.service.rows(readBatch, params);
    if (!found[0]?.settled) return { kind: 'held_back', forMs: performance.now() - since };
    const rows = found.filter((row): row is JournalRow & { settled: boolean } => row.id !== null);
    const full = rows.length >= this.batchSize;
    return { kind: 'batch', rows, full, from, to: full ? (rows.at(-1)?.id ?? last) : last };
  }
}
