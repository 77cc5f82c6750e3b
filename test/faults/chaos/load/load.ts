import { setTimeout as delay } from 'node:timers/promises';
import type { Budgets } from '../stage/budgets.js';
import { Random } from '../random.js';
import { BACKLOG, CLIENTS } from '../settings.js';
import { type Books, Client } from './client.js';
import { Journal } from './journal.js';
import { CREATING, OPERATIONS, type OperationName, WEIGHTS } from './operations.js';

const REST_MS = { least: 60, most: 350 };

export interface LoadOptions {
  seed: number;
  addresses: readonly string[];
  key: string;
  budgets: Budgets;
  books: Books;
  /** Returns the number of queued and running tasks. */
  backlog: () => number;
}

/** Clients that create tasks and command them, one request after the other, during the run. */
export class Load {
  readonly journal: Journal;
  private readonly ending = new AbortController();
  private stopped = false;
  private readonly clients: Promise<void>[];

  constructor(private readonly options: LoadOptions) {
    this.journal = new Journal(options.budgets);
    const random = new Random(options.seed);
    this.clients = Array.from({ length: CLIENTS }, (_, n) => this.run(n, random.fork(n)));
  }

  /** Stops new operations. Resolves when the current ones are answered. */
  async stop(): Promise<void> {
    this.stopped = true;
    await Promise.all(this.clients);
  }

  /** Stops at once without waiting for answers. */
  abort(): void {
    this.stopped = true;
    this.ending.abort();
  }

  private async run(n: number, random: Random): Promise<void> {
    const { addresses, key, books } = this.options;
    const client = new Client(addresses, key, books, { first: n });
    while (!this.stopped) {
      const name = this.next(random);
      const operation = OPERATIONS[name](random, this.journal);
      if (operation) operation.remember(await client.ask(operation, this.ending.signal));
      await delay(random.int(REST_MS.least, REST_MS.most));
    }
  }

  private next(random: Random): OperationName {
    const name = random.weighted<OperationName>(WEIGHTS);
    const isTooMuch = CREATING.includes(name) && this.options.backlog() > BACKLOG;
    return isTooMuch ? 'read' : name;
  }
}
