import { randomUUID } from 'node:crypto';
import { type Database, firstRow } from '#lib/database';
import { type Message, messagesOf } from '../domain/message.js';
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
} from '../store/cursor.sql.js';

/** Seconds for which a dead or sleeping reader blocks the others of its consumer. */
const LEASE_SECONDS = 10;
const RENEWED_EVERY_MS = 3_000;
/** Milliseconds of a lease in which nobody else can have taken it, whatever the two clocks do. */
const HELD_FOR_MS = 5_000;

/** Messages of the entries after `from`, up to `to`. */
interface Batch {
  kind: 'batch';
  messages: readonly Message[];
  /** More entries follow. */
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

/** The start of a consumer that is new to the database: the oldest stored event or the next one. */
export type Beginning = 'oldest' | 'next';

interface JournalConsumer {
  name: string;
  begins?: Beginning;
  workspaces?(): Promise<readonly string[] | undefined>;
}

/** One consumer's position in the journal. One process at a time reads on from it. */
export class JournalCursor {
  readonly owner = randomUUID();
  private readonly reader: JournalReader;
  /** Entries that were read and not yet processed. */
  private pending: Batch | undefined;
  /** The following entries, requested meanwhile. */
  private ahead: Promise<Reading> | undefined;
  /** The time of the last renewal of the lease, and the consumer's position then. */
  private leasedAt = -Infinity;
  private position: string | undefined;

  constructor(
    private readonly database: Database,
    private readonly consumer: JournalConsumer,
    batchSize: number,
    /** Recent messages in memory, shared by all consumers of the process. */
    private readonly tail?: JournalTail,
  ) {
    this.reader = new JournalReader(database, batchSize, () => consumer.workspaces?.());
  }

  async outlook(): Promise<Outlook> {
    const found = await this.find();
    if (found) return found;
    const { name, begins = 'oldest' } = this.consumer;
    await this.database.service.rows(addConsumer, [name, begins === 'oldest']);
    return (await this.find()) as Outlook;
  }

  /** The next rows. The same rows again until `done` was called. */
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
   * The last numbers of messages of these workspaces before the rows that were read.
   *
   * @returns undefined if another process handled the batch meanwhile and raised them
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

  /**
   * Marks the rows that were read as processed. @returns false if another process has taken over
   */
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

  /** Renews the lease if it is time. @returns false if another process has taken over */
  async keep(): Promise<boolean> {
    if (performance.now() - this.leasedAt < RENEWED_EVERY_MS) return true;
    return (await this.lease()) !== undefined;
  }

  /**
   * Takes or renews the lease without reading. @returns the position; undefined if another process
   * reads
   */
  async take(): Promise<string | undefined> {
    return (await this.lease())?.position;
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
    // Another process may have been here meanwhile.
    if (BigInt(last) <= BigInt(lease.position)) return { kind: 'idle' };
    return (
      this.recent(lease.position) ??
      withMessages(await this.reader.read(lease.position, { last, xid: lease.xid }))
    );
  }

  /** The following messages, if the tail has all of them in memory. */
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

  /** Only below the horizon, where all rows exist and none will change. */
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
