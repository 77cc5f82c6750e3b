import { DroverError } from '#lib/kernel';
import { unaccompanied } from '../client/companion.js';

/**
 * The next statement gathers items while one runs. A second one keeps Postgres busy while this
 * process computes.
 */
const LIMITS = { maxBatch: 100, maxInFlight: 2 };

export interface CoalescerOptions<Item, Result> {
  /** Maximum number of items in one batch. */
  maxBatch?: number;
  /** Maximum number of concurrent batches of one group. */
  maxInFlight?: number;
  /** Two items of the same identity never share a batch. The later one waits for the next batch. */
  identityOf(item: Item): string;
  /**
   * One statement for the whole batch. Resolves with one result for each item, in order.
   *
   * It must leave nothing behind when it throws, as a statement does.
   */
  run(group: string, items: readonly Item[]): Promise<Result[]>;
}

interface Waiting<Item, Result> {
  item: Item;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

interface Group<Item, Result> {
  queue: Waiting<Item, Result>[];
  inFlight: number;
  scheduled: boolean;
}

/**
 * Puts calls that arrive at the same time into one statement.
 *
 * A statement that moves a task, writes its history and announces it costs Postgres a millisecond,
 * for one row or for fifty. No call waits for others: a single call goes out at the end of the
 * event loop's turn. Calls that arrive while the statement runs go out together when it ends. So
 * batches grow with the load, and a quiet server answers as fast as before.
 *
 * One bad item does not fail the others: if the database refuses a batch, its items are repeated
 * one by one.
 */
export class Coalescer<Item, Result> {
  private readonly groups = new Map<string, Group<Item, Result>>();

  private readonly options: Required<CoalescerOptions<Item, Result>>;

  constructor(options: CoalescerOptions<Item, Result>) {
    this.options = { ...LIMITS, ...options };
  }

  /**
   * @param group calls of different groups (workspaces) never share a statement
   */
  submit(group: string, item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      const state = this.groups.get(group) ?? { queue: [], inFlight: 0, scheduled: false };
      this.groups.set(group, state);
      state.queue.push({ item, resolve, reject });
      this.schedule(group, state);
    });
  }

  // Deferred, so that all requests read from sockets in this turn go together.
  private schedule(group: string, state: Group<Item, Result>): void {
    if (state.scheduled || state.inFlight >= this.options.maxInFlight) return;
    state.scheduled = true;
    // The statement is of all callers, so it has no caller's companion.
    unaccompanied(() =>
      setImmediate(() => {
        state.scheduled = false;
        void this.flush(group, state);
      }),
    );
  }

  private async flush(group: string, state: Group<Item, Result>): Promise<void> {
    const batch = this.take(state);
    state.inFlight += 1;
    if (state.queue.length > 0) this.schedule(group, state);
    await this.runBatch(group, state, batch);
    state.inFlight -= 1;
    if (state.queue.length > 0) this.schedule(group, state);
    else if (state.inFlight === 0) this.groups.delete(group);
  }

  private take(state: Group<Item, Result>): Waiting<Item, Result>[] {
    const taken = new Map<string, Waiting<Item, Result>>();
    const left: Waiting<Item, Result>[] = [];
    for (const waiting of state.queue) {
      const identity = this.options.identityOf(waiting.item);
      if (taken.size < this.options.maxBatch && !taken.has(identity)) taken.set(identity, waiting);
      else left.push(waiting);
    }
    state.queue = left;
    return [...taken.values()];
  }

  private async runBatch(
    group: string,
    state: Group<Item, Result>,
    batch: readonly Waiting<Item, Result>[],
  ): Promise<void> {
    try {
      const items = batch.map(({ item }) => item);
      const results = await this.options.run(group, items);
      batch.forEach(({ resolve }, index) => resolve(results[index] as Result));
    } catch (error) {
      if (batch.length > 1 && isAboutAnItem(error)) {
        for (const waiting of batch) await this.runBatch(group, state, [waiting]);
      } else {
        for (const { reject } of batch) reject(error);
        if (isConflict(error)) this.refuseSame(state, batch, error);
      }
    }
  }

  /**
   * Calls that waited behind one of the same identity have waited for the same lock. Each would wait
   * for it again, one after the other.
   */
  private refuseSame(
    state: Group<Item, Result>,
    batch: readonly Waiting<Item, Result>[],
    error: unknown,
  ): void {
    const { identityOf } = this.options;
    const refused = new Set(batch.map(({ item }) => identityOf(item)));
    const isSame = ({ item }: Waiting<Item, Result>) => refused.has(identityOf(item));
    for (const { reject } of state.queue.filter(isSame)) reject(error);
    state.queue = state.queue.filter((waiting) => !isSame(waiting));
  }
}

/** An error of the database itself is a Drover error and affects all items. */
function isAboutAnItem(error: unknown): boolean {
  return !(error instanceof DroverError);
}

function isConflict(error: unknown): boolean {
  return error instanceof DroverError && error.code === 'conflict_retry';
}
