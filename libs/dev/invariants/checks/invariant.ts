import type { Sql } from '#lib/database';

/** One violation. `subject` names its row. */
export interface Violation {
  subject: string;
  problem: string;
}

/**
 * One statement that searches for violations of one invariant. It returns no row if the invariant
 * holds.
 */
export interface Invariant {
  name: string;
  title: string;
  /** $1: maximum number of rows. */
  sql: Sql<Violation>;
}

export interface Outcome {
  name: string;
  title: string;
  holds: boolean;
  /** The first few violations. */
  violations: Violation[];
}
