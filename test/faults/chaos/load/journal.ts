import type { Budgets } from '../stage/budgets.js';

/** The servers' promises about a task, as the clients received them. */
export interface Promised {
  /** The title of the creation, which is its Idempotency-Key, too. */
  key: string;
  /** True if a cancellation was answered with 200. */
  cancelled: boolean;
  /** True if a client has requested a retry, even without an answer. */
  retried: boolean;
  archived: boolean;
  /** True if a client has read the status COMPLETED. */
  completed: boolean;
  paused: boolean;
}

const RECENT = 80;

/** The clients' record of the run, which is compared with the database at the end. */
export class Journal {
  readonly tasks = new Map<string, Promised>();
  /** Titles of creations without an answer: each task can exist or not. */
  readonly unanswered = new Set<string>();
  /** Pauses of task types that a client still has to end. */
  readonly holds = new Set<string>();
  private readonly recent: string[] = [];

  constructor(readonly budgets: Budgets) {}

  created(id: string, key: string): void {
    this.tasks.set(id, {
      key,
      cancelled: false,
      retried: false,
      archived: false,
      completed: false,
      paused: false,
    });
    this.recent.push(id);
    if (this.recent.length > RECENT) this.recent.shift();
  }

  note(id: string, what: Partial<Promised>): void {
    const promised = this.tasks.get(id);
    if (promised) Object.assign(promised, what);
  }

  get recentIds(): readonly string[] {
    return this.recent;
  }

  get pausedIds(): string[] {
    return this.recent.filter((id) => this.tasks.get(id)?.paused);
  }
}
