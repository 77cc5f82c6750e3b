import type { Sql } from '#lib/database';

/** One thing that is wrong. `subject` names the row that it is about. */
export interface Violation {
  subject: string;
  problem: string;
}

/** One statement that looks for violations of one invariant; it returns none where it holds. */
export interface Invariant {
  name: string;
  title: string;
  /** $1: rows at most. */
  sql: Sql<Violation>;
}

export interface Outcome {
  name: string;
  title: string;
  holds: boolean;
  /** The first few. */
  violations: Violation[];
}
