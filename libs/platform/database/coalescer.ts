import { DroverError } from '#lib/kernel';

export interface CoalescerOptions<Item, Result> {
  /** Items in one batch at most. */
  maxBatch: number;
  /** Batches of one group under way at once. */
  maxInFlight: number;
  /** Two items of the same identity never share a batch: the later one waits for the next. */
  identityOf(item: Item): string;
  /**
   * One statement for the whole batch. Answers with a result for each item, in their order.
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
 * Puts calls that come at the same time into one statement.
 *
 * Setting up a statement that moves a task, writes its history and announces it costs Postgres a
 * millisecond, whether it moves one row or fifty. Nothing waits for company: a call on its own goes
 * out at the end of the event loop's turn; what comes while the statement runs goes out together
 * when it is done. So batches grow with the load and a quiet server answers as fast as before.
 *
 * One bad item does not fail the others: a batch that the database refuses is repeated item by item.
 */
export class Coalescer<Item, Result> {
  private readonly groups = new Map<string, Group<Item, Result>>();

  constructor(private readonly options: CoalescerOptions<Item, Result>) {}

  /** @param group calls of different groups (workspaces) never share a statement */
  submit(group: string, item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      const state = this.groups.get(group) ?? { queue: [], inFlight: 0, scheduled: false };
      this.groups.set(group, state);
      state.queue.push({ item, resolve, reject });
      this.schedule(group, state);
    });
  }

  // Not at once, so that all requests that were read from their sockets in this turn go together.
  private schedule(group: string, state: Group<Item, Result>): void {
    if (state.scheduled || state.inFlight >= this.options.maxInFlight) return;
    state.scheduled = true;
    setImmediate(() => {
      state.scheduled = false;
      void this.flush(group, state);
    });
  }

  private async flush(group: string, state: Group<Item, Result>): Promise<void> {
    const batch = this.take(state);
    state.inFlight += 1;
    if (state.queue.length > 0) this.schedule(group, state);
    await this.runBatch(group, batch);
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

  private async runBatch(group: string, batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const items = batch.map(({ item }) => item);
      const results = await this.options.run(group, items);
      batch.forEach(({ resolve }, index) => resolve(results[index] as Result));
    } catch (error) {
      if (batch.length > 1 && isAboutAnItem(error)) {
        for (const waiting of batch) await this.runBatch(group, [waiting]);
      } else {
        for (const { reject } of batch) reject(error);
      }
    }
  }
}

/** Trouble with the database itself comes as our own error, and concerns all items alike. */
function isAboutAnItem(error: unknown): boolean {
  return !(error instanceof DroverError);
}
