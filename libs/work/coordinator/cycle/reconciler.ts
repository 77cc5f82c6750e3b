import type { Config } from '#lib/config';
import type { SweepResult } from '#lib/transitions';
import type { Pass } from './pass.js';

/**
 * The time at which the next row of a reconciler is due. The coordinator asks once a second and
 * reads one entry of an index.
 */
export interface Due {
  /**
   * SQL: milliseconds from now, by the database's clock, or NULL if nothing is due. Its parameters
   * are $1, $2 …
   */
  ms: string;
  params?: readonly ((config: Pick<Config, 'gateway' | 'admission'>) => number)[];
  /**
   * A cycle can leave rows that it may not move for now. They are looked at again only a second
   * later.
   */
  mayBeForbidden?: true;
}

/**
 * The facts about a recovery pattern before it runs. Names, counters, due times and docs derive
 * from them.
 */
export interface ReconcilerFacts {
  /** The name in the status, the metrics and the log. Clients see it. */
  name: string;
  /** The counter of moved rows in the answer to a forced recovery. */
  counter: string;
  /** The rows that it moves, for the table in the README. */
  moves: string;
  /**
   * The line in a workspace's log when rows of it were moved. Patterns that move rows all the time
   * have none.
   */
  notable?: string;
  /** Without a due time, rows wait for the next cycle that another cause or the schedule starts. */
  due?: Due;
  /**
   * A step that is too expensive for every cycle runs at its own pace, always with `thorough`, and
   * a cycle starts for it. A `partly` step runs without `thorough` in all other cycles.
   */
  slow?: true | 'partly';
  /** Its slow part reads few rows, so it has no rounds and reads all of them. */
  whole?: true;
  /** It needs all workspaces in view, so a pass over one workspace leaves it out. */
  acrossWorkspaces?: true;
}

/** A recovery pattern: finds one kind of overdue or inconsistent rows and repairs them. */
export interface Reconciler {
  /** Runs a few short transactions. */
  sweep(pass: Pass): Promise<SweepResult>;
}

export interface ReconcilerClass {
  readonly facts: ReconcilerFacts;
  new (...dependencies: never[]): Reconciler;
}
