import type { Budgets } from '../stage/budgets.js';

/** The servers' promises about a task, as the clients received them. */
export interface Promised {
  /** The title that it was given, which is its Idempotency-Key too. */
  key: string;
  /** A cancellation was answered with 200. */
  cancelled: boolean;
  /** Somebody has asked for a retry, answered or not. */
  retried: boolean;
  archived: boolean;
  /** Somebody has read that it is completed. */
  completed: boolean;
  paused: boolean;
}

const RECENT = 80;

/** The clients' side of the story, to be compared with the database in the end. */
export class Journal {
  readonly tasks = new Map<string, Promised>();
  /** Titles of creations that nobody has answered: each may be there, or not. */
  readonly unanswered = new Set<string>();
  /** Pauses of types of tasks that somebody has still to end. */
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
