import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import pLimit from 'p-limit';
import { Database, firstRow } from '#lib/database';
import { BackgroundLoop, Doorbell } from '#lib/kernel';
import { instruments, Logger } from '#lib/observability';
import { WakeUps } from '#lib/valkey';
import { type Message, messagesOf } from '../domain/message.js';
import { journalPace, type RoundResult } from '../domain/pace.js';
import { type Batch, JournalReader } from './journal-reader.js';
import { onEveryWakeUp } from '../consuming/every-wake-up.js';
import { readEnds, readFurthest, readPage } from '../store/cursor.sql.js';

/** Rows of the journal in one batch, and the messages kept for readers that are slightly behind. */
const BATCH_SIZE = 1_000;
const RECENT = 2_000;
/**
 * It reads at least every second. If it has not for this long, it hangs or fails, and others read
 * for themselves.
 */
const LATE_MS = 3_000;
/** Rows of a page of one workspace, and rows of all workspaces that are searched for it. */
const PAGE = { rows: 500, through: 50_000n };
/**
 * A restarted server has all its streams back at once, and other requests need connections, too.
 */
const PAGES_AT_ONCE = 4;

/** Some messages of a workspace. There are no others up to the row `upTo`. */
export interface Stretch {
  messages: readonly Message[];
  upTo: bigint;
}

/** The same for all workspaces. */
export interface Recent extends Stretch {
  /** More messages follow. */
  more: boolean;
  /** Time for which a writing transaction has held back the next messages, in milliseconds. */
  heldBackMs: number;
}

/** A reader of its workspace's events. */
export interface Follower {
  readonly workspaceId: string;
  /**
   * The follower has all events of the rows up to it. The tail raises it if there was nothing for
   * an up-to-date follower.
   */
  from: bigint;
  /** Announces that there may be more to read. */
  ring(): void;
}

/**
 * The end of the journal. A server follows it once for all its streams and consumers, from the
 * first of them to the last. It has no cursor in the database, so nothing waits for it. Each
 * follower knows its own position.
 */
@Injectable()
export class JournalTail implements BeforeApplicationShutdown {
  private readonly followers = new Set<Follower>();
  private readonly listeners = new Set<() => void>();
  private readonly pages = pLimit(PAGES_AT_ONCE);
  private tail: RunningTail | undefined;

  constructor(
    private readonly database: Database,
    private readonly wakeUps: WakeUps,
    private readonly logger: Logger,
  ) {}

  /** Rings the follower when there may be more for it. @returns stops it */
  follow(follower: Follower): () => void {
    return this.runFor(this.followers, follower);
  }

  /** Calls back when there are rows for everybody. @returns removes the listener */
  hear(listener: () => void): () => void {
    return this.runFor(this.listeners, listener);
  }

  /** Announces a commit: read now, not at the next poll. */
  nudge(): void {
    this.tail?.nudge();
  }

  /** The messages after a row. Undefined unless all of them are in memory. */
  recent(from: bigint): Recent | undefined {
    const { tail } = this;
    if (tail?.position === undefined || from < tail.recentFrom || tail.isLate()) return undefined;
    return tail.behind(from, BATCH_SIZE);
  }

  /**
   * The last row that was written or is being written, and the last one that is no longer stored.
   */
  async ends(): Promise<{ last: bigint; dropped: bigint }> {
    const ends = await firstRow(this.database.service, readEnds, [null]);
    if (!ends) throw new Error('The sequences of the journal are missing');
    return { last: BigInt(ends.last), dropped: BigInt(ends.dropped) };
  }

  /** The row that the most advanced consumer has reached. All rows up to it exist. */
  async consumed(): Promise<bigint> {
    const [furthest] = await this.database.service.rows(readFurthest);
    return BigInt(furthest?.position ?? 0);
  }

  /**
   * A row such that all rows up to it exist and every later commit comes after it. It is a moment
   * old, or the call waits until it is known, and then for writing transactions.
   *
   * @returns undefined if it is not known after `withinMs`
   */
  async settled(withinMs: number): Promise<bigint | undefined> {
    return this.until(() => this.tail?.position, withinMs);
  }

  /** All rows up to this one exist, also those that are no events. Undefined while it hangs. */
  get known(): bigint | undefined {
    return this.tail?.isLate() === false ? this.tail.position : undefined;
  }

  /** Waits until all rows that are written now are known, or `withinMs` have passed. */
  async reachEnd(withinMs: number): Promise<void> {
    const { last } = await this.ends();
    this.nudge();
    await this.until(() => ((this.known ?? -1n) >= last ? true : undefined), withinMs);
  }

  /**
   * The next messages of a follower: from memory if they are recent, otherwise a page of the
   * workspace from the journal.
   *
   * @returns undefined if there are none yet
   */
  async read({ workspaceId, from }: Follower): Promise<Stretch | undefined> {
    const { tail } = this;
    if (tail?.position === undefined || from >= tail.position) return undefined;
    if (from >= tail.recentFrom) {
      const { messages, upTo } = tail.behind(from);
      return { messages: messages.filter((each) => each.workspaceId === workspaceId), upTo };
    }
    const end = from + PAGE.through;
    const to = end < tail.position ? end : tail.position;
    const tenant = this.database.tenant(workspaceId);
    const params = [workspaceId, `${from}`, `${to}`, PAGE.rows];
    const rows = await this.pages(() => tenant.rows(readPage, params));
    const last = rows.length < PAGE.rows ? undefined : rows.at(-1);
    return { messages: rows.flatMap(messagesOf), upTo: last ? BigInt(last.id) : to };
  }

  async beforeApplicationShutdown(): Promise<void> {
    const { tail } = this;
    this.tail = undefined;
    await tail?.stop();
  }

  /** Runs the tail until a value is there, at most `withinMs`. */
  private async until<T>(find: () => T | undefined, withinMs: number): Promise<T | undefined> {
    const bell = new Doorbell();
    const leave = this.follow({ workspaceId: '', from: 0n, ring: () => bell.ring() });
    const until = performance.now() + withinMs;
    try {
      for (let left = withinMs; left > 0; left = until - performance.now()) {
        const found = find();
        if (found !== undefined) return found;
        await bell.wait(left);
      }
      return find();
    } finally {
      leave();
    }
  }

  private runFor<T>(all: Set<T>, one: T): () => void {
    all.add(one);
    this.tail ??= new RunningTail(this.database, this.wakeUps, this.logger, (news) =>
      this.tell(news),
    );
    return () => {
      all.delete(one);
      if (this.followers.size + this.listeners.size === 0) void this.beforeApplicationShutdown();
    };
  }

  private tell({ before, position, workspaces }: News): void {
    for (const listener of this.listeners) listener();
    for (const follower of this.followers) {
      const isCurrent = before !== undefined && follower.from >= before;
      if (isCurrent && !workspaces.has(follower.workspaceId)) follower.from = position;
      else follower.ring();
    }
  }
}

/** The messages of rows after `from`, up to `to`. */
interface Chunk {
  messages: readonly Message[];
  from: bigint;
  to: bigint;
}

/** The tail has moved on, with events of these workspaces. */
interface News {
  before: bigint | undefined;
  position: bigint;
  workspaces: ReadonlySet<string>;
}

class RunningTail {
  /** All rows up to it exist and are known. Undefined until the first horizon was reached. */
  position: bigint | undefined;
  /** The messages of the rows after `recentFrom` are in memory. */
  recentFrom = 0n;
  /** Consecutive chunks without a gap. */
  private chunks: Chunk[] = [];
  private kept = 0;
  private heldBackMs = 0;
  private start: bigint | undefined;
  private lookedAt = performance.now();
  private readonly reader: JournalReader;
  private readonly loop: BackgroundLoop;
  private readonly stopListening: () => void;

  constructor(
    private readonly database: Database,
    wakeUps: WakeUps,
    logger: Logger,
    private readonly tell: (news: News) => void,
  ) {
    this.reader = new JournalReader(database, BATCH_SIZE);
    const pace = journalPace();
    this.loop = new BackgroundLoop(
      async () => pace(await this.round()),
      (error) => {
        this.reader.forget();
        logger.warn('the journal cannot be followed, trying again', { error });
        return pace({ kind: 'failed' });
      },
    );
    this.stopListening = onEveryWakeUp(wakeUps, () => this.loop.nudge());
    this.loop.start();
  }

  async stop(): Promise<void> {
    this.stopListening();
    await this.loop.stop();
  }

  nudge(): void {
    this.loop.nudge();
  }

  isLate(): boolean {
    return performance.now() - this.lookedAt > LATE_MS;
  }

  /**
   * @param atMost maximum number of messages, if no chunk has more
   */
  behind(from: bigint, atMost = Infinity): Recent {
    // From the end, because most of the many followers have all but the newest.
    let first = this.chunks.length;
    while (first > 0 && (this.chunks[first - 1] as Chunk).to > from) first--;
    const messages: Message[] = [];
    let upTo = from;
    let next = first;
    for (; next < this.chunks.length; next++) {
      const chunk = this.chunks[next] as Chunk;
      const more = chunk.from < from ? behindRow(chunk.messages, from) : chunk.messages;
      if (messages.length > 0 && messages.length + more.length > atMost) break;
      messages.push(...more);
      upTo = chunk.to;
    }
    return { messages, upTo, more: next < this.chunks.length, heldBackMs: this.heldBackMs };
  }

  private async round(): Promise<RoundResult> {
    const known = this.position ?? this.start;
    const needsHorizon = known === undefined || !this.reader.isBelowHorizon(`${known}`);
    const ends = await firstRow(this.database.service, readEnds, [
      needsHorizon ? `${known ?? -1n}` : null,
    ]);
    const last = BigInt(ends?.last ?? 0);
    this.lookedAt = performance.now();
    if (this.position !== undefined && last < this.position) return this.beginAnew();
    // One row before the end, so that the first horizon lies after it and is kept until it is
    // reached.
    this.start ??= last > 0n ? last - 1n : 0n;
    const from = this.position ?? this.start;
    if (last <= from) return this.idle(last);
    const horizon = ends?.xid ? { last: `${last}`, xid: ends.xid } : undefined;
    const reading = await this.reader.read(`${from}`, horizon);
    this.heldBackMs = reading.kind === 'held_back' ? reading.forMs : 0;
    instruments.eventsHeldBack.set({ consumer: 'streams' }, this.heldBackMs / 1_000);
    if (reading.kind !== 'batch') return reading;
    this.advance(reading);
    return { kind: reading.full ? 'full' : 'drained' };
  }

  /** A standby without all rows has taken over. The known end refers to rows that never existed. */
  private beginAnew(): RoundResult {
    this.position = this.start = undefined;
    this.chunks = [];
    this.kept = 0;
    this.recentFrom = 0n;
    this.reader.forget();
    return { kind: 'idle' };
  }

  private idle(last: bigint): RoundResult {
    if (this.position === undefined) {
      this.position = this.recentFrom = last;
      this.tell({ before: undefined, position: last, workspaces: new Set() });
    }
    return { kind: 'idle' };
  }

  private advance({ rows, from, to }: Batch): void {
    const before = this.position;
    const messages = rows.flatMap(messagesOf);
    const position = (this.position = BigInt(to));
    this.chunks.push({ messages, from: BigInt(from), to: position });
    this.kept += messages.length;
    this.forget();
    const workspaces = new Set(messages.map(({ workspaceId }) => workspaceId));
    this.tell({ before, position, workspaces });
  }

  /**
   * Removes the oldest chunks as long as enough messages remain. Rows without messages make chunks,
   * too.
   */
  private forget(): void {
    let count = 0;
    for (const { messages } of this.chunks) {
      const isSpare = this.kept - messages.length >= RECENT || this.chunks.length - count > RECENT;
      if (!isSpare) break;
      this.kept -= messages.length;
      count += 1;
    }
    if (count > 0) this.chunks.splice(0, count);
    this.recentFrom = this.chunks[0]?.from ?? this.recentFrom;
  }
}

function behindRow(messages: readonly Message[], row: bigint): readonly Message[] {
  // A row has two ids.
  const last = 2n * row + 1n;
  return messages.filter(({ id }) => BigInt(id) > last);
}
