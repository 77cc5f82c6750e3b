import type { Config } from '#lib/config';
import type { SweepResult } from '#lib/transitions';
import type { Pass } from './pass.js';

/** When the next row of a reconciler is due. The coordinator asks once a second: one look at an index. */
export interface Due {
  /** SQL: milliseconds from now, by the database's clock; NULL: nothing. Its parameters are $1, $2 … */
  ms: string;
  params?: readonly ((config: Pick<Config, 'gateway' | 'admission'>) => number)[];
  /** The rest that a cycle leaves may well be forbidden, and is looked at again only a second later. */
  mayBeForbidden?: true;
}

/** @param time an SQL expression: the first of the times, NULL if there is none */
export function dueAt(time: string): Due {
  return { ms: `(extract(epoch FROM ${time} - now()) * 1000)::float8` };
}

/** @param condition an SQL condition: there is something */
export function dueAtOnceIf(condition: string): Due {
  return { ms: `CASE WHEN ${condition} THEN 0::float8 END` };
}

/** The facts about a recovery pattern before it runs. Names, counters, due times and docs come from it. */
export interface ReconcilerFacts {
  /** In the status, the metrics and the log: clients see it. */
  name: string;
  /** Under which a forced recovery counts what it moved. */
  counter: string;
  /** The rows that it moves, for the table in the README. */
  moves: string;
  /** The line in a workspace's log when rows of it were moved. Absent for patterns that move rows all the time. */
  notable?: string;
  /** Without it: found by the next cycle that comes for something else, or by the schedule. */
  due?: Due;
  /**
   * Too expensive for every cycle: it runs at its own pace, always with `thorough`. `partly`: it also runs
   * in every cycle without `thorough`, and thoroughly when that moved nothing.
   */
  slow?: true | 'partly';
  /** It has all workspaces in view at once, so a pass over one of them leaves it out. */
  acrossWorkspaces?: true;
}

/** A recovery pattern: finds one kind of what is overdue or wrong, and sets it right. */
export interface Reconciler {
  /** A few short transactions. */
  sweep(pass: Pass): Promise<SweepResult>;
}

export interface ReconcilerClass {
  readonly facts: ReconcilerFacts;
  new (...dependencies: never[]): Reconciler;
}
