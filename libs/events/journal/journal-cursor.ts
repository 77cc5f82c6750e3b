import { randomUUID } from 'node:crypto';
import { type Database, firstRow } from '#lib/database';
import { type Message, messagesOf } from './domain/message.js';
import { JournalReader, type Settled } from './journal-reader.js';
import type { JournalTail } from './journal-tail.js';
import {
  addConsumer,
  advance,
  giveLeaseBack,
  type Outlook,
  readNumbers,
  readOutlook,
  takeLease,
} from './store/cursor.sql.js';

/** How long a reader that died, or sleeps, keeps the others of its consumer waiting. */
const LEASE_SECONDS = 10;
const RENEWED_EVERY_MS = 3_000;
/** Of a lease: for how long nobody else can have taken it, whatever the two clocks do. */
const HELD_FOR_MS = 5_000;

/** Messages of the entries behind `from`, up to `to`. */
interface Batch {
  kind: 'batch';
  messages: readonly Message[];
  /** There is more behind it. */
  full: boolean;
  from: string;
  to: string;
}

/** The result of reading on. */
export type Reading =
  | { kind: 'idle' }
  /** Another process reads for this consumer. */
  | { kind: 'elsewhere' }
  | Exclude<Settled, { kind: 'batch' }>
  | Batch;

/** Where a consumer begins that the database does not know yet: with the oldest event that is kept, or the next one. */
export type Beginning = 'oldest' | 'next';

/** One consumer's place in the journal, which one process at a time reads on from. */
export class JournalCursor {
  readonly owner = randomUUID();
  private readonly reader: JournalReader;
  /** Entries that have been read and not been dealt with. */
  private pending: Batch | undefined;
  /** What comes behind them: asked for while they are dealt with. */
  private ahead: Promise<Reading> | undefined;
  /** When the lease was taken or renewed, and where the consumer stood then. */
  private leasedAt = -Infinity;
  private position: string | undefined;

  constructor(
    private readonly database: Database,
    private readonly consumer: { name: string; begins?: Beginning },
    batchSize: number,
    /** Has what is recent in memory, for all consumers of the process. */
    private readonly tail?: JournalTail,
  ) {
    this.reader = new JournalReader(database, batchSize);
  }

  async outlook(): Promise<Outlook> {
    const found = await this.find();
    if (found) return found;
    const { name, begins = 'oldest' } = this.consumer;
    await this.database.service.rows(addConsumer, [name, begins === 'oldest']);
    return (await this.find()) as Outlook;
  }

  /** The next rows; the same again until `done` has been called. */
  async read(): Promise<Reading> {
    const ahead = this.pending ? undefined : this.ahead;
    this.ahead = undefined;
    const reading = await (ahead ?? this.readOn()).catch((error: unknown) => {
      this.reader.forget();
      this.loseHold();
      throw error;
    });
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
    const params = [this.consumer.name, this.pending?.from, workspaceIds];
    const rows = await this.database.service.rows(readNumbers, params);
    if (rows.length === 0) {
      this.loseHold();
      return undefined;
    }
    return new Map(rows.map((row) => [row.workspace_id, BigInt(row.last_number)]));
  }

  /** The rows that were read have been dealt with. @returns false when another process has taken over */
  async done(numbers: ReadonlyMap<string, bigint> = new Map()): Promise<boolean> {
    const { pending } = this;
    if (!pending) return true;
    const now = performance.now();
    const counts = [[...numbers.keys()], [...numbers.values()].map(String)];
    const range = [pending.from, pending.to];
    const params = [this.consumer.name, this.owner, ...range, ...counts, LEASE_SECONDS];
    const moved = await firstRow(this.database.service, advance, params);
    this.pending = undefined;
    if (moved) this.holdAt(pending.to, now);
    else this.loseHold();
    return moved !== undefined;
  }

  /** Renews the lease, where it is time to. @returns false when another process has taken over */
  async keep(): Promise<boolean> {
    if (performance.now() - this.leasedAt < RENEWED_EVERY_MS) return true;
    return (await this.lease()) !== undefined;
  }

  async giveBack(): Promise<void> {
    this.loseHold();
    await this.database.service.rows(giveLeaseBack, [this.consumer.name, this.owner]);
  }

  private find(): Promise<Outlook | undefined> {
    return firstRow(this.database.service, readOutlook, [
      this.consumer.name,
      this.owner,
      HELD_FOR_MS / 1_000,
    ]);
  }

  private async readOn(): Promise<Reading> {
    const isHeld = performance.now() - this.leasedAt < HELD_FOR_MS;
    const recent = isHeld && this.position !== undefined && this.recent(this.position);
    if (recent) return recent;
    const { last, position, elsewhere, xid } = await this.outlook();
    if (elsewhere) return { kind: 'elsewhere' };
    if (BigInt(last) <= BigInt(position)) return { kind: 'idle' };
    const lease = xid === null ? await this.lease() : { position, xid };
    if (!lease) return { kind: 'elsewhere' };
    // Another one may have been here meanwhile.
    if (BigInt(last) <= BigInt(lease.position)) return { kind: 'idle' };
    return (
      this.recent(lease.position) ??
      withMessages(await this.reader.read(lease.position, { last, xid: lease.xid }))
    );
  }

  /** What comes next, where the tail has all of it in memory. */
  private recent(from: string): Reading | undefined {
    const stretch = this.tail?.recent(BigInt(from));
    if (!stretch) return undefined;
    const { messages, more, heldBackMs } = stretch;
    const to = `${stretch.upTo}`;
    if (to !== from) return { kind: 'batch', messages, full: more, from, to };
    return heldBackMs > 0 ? { kind: 'held_back', forMs: heldBackMs } : { kind: 'idle' };
  }

  private async lease(): Promise<{ position: string; xid: string } | undefined> {
    const now = performance.now();
    const params = [this.consumer.name, this.owner, LEASE_SECONDS];
    const lease = await firstRow(this.database.service, takeLease, params);
    if (lease) this.holdAt(lease.position, now);
    else this.loseHold();
    return lease;
  }

  private holdAt(position: string, since: number): void {
    this.position = position;
    this.leasedAt = since;
  }

  private loseHold(): void {
    this.position = this.ahead = undefined;
  }

  /** Only below the horizon, where all rows are there already and none will change. */
  private readAhead(from: string): void {
    if (!this.reader.isBelowHorizon(from)) return;
    this.ahead = this.reader.read(from, undefined).then(withMessages);
    this.ahead.catch(() => undefined);
  }
}

function withMessages(reading: Settled): Reading {
  if (reading.kind !== 'batch') return reading;
  const { kind, rows, full, from, to } = reading;
  return { kind, messages: rows.flatMap(messagesOf), full, from, to };
}
