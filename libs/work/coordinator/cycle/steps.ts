import { CONFIG, type Config } from '#lib/config';
import { Database } from '#lib/database';
import { RECONCILERS, type CounterName, type StepName } from '../patterns/index.js';
import type { Reconciler, ReconcilerFacts } from './reconciler.js';
import { atPace, type PacedReconciler, type Round } from './rhythm.js';
import { SearchRounds } from './search-rounds.js';

/** A reconciler of this process. */
export interface Step extends PacedReconciler {
  facts: ReconcilerFacts & { name: StepName; counter: CounterName };
}

/** Injection token of the steps, in the order of the cycle. */
export const STEPS = Symbol('STEPS');

export const stepsProvider = {
  provide: STEPS,
  inject: [CONFIG, Database, ...RECONCILERS],
  useFactory: ({ coordinator }: Config, db: Database, ...reconcilers: Reconciler[]): Step[] =>
    reconcilers.map((reconciler, at) => {
      const { facts } = RECONCILERS[at] as { facts: Step['facts'] };
      const slowMs = coordinator.reconcileIntervalSeconds * 1_000;
      return { facts, ...atPace(reconciler, facts.slow, slowMs, roundsOf(facts, db)) };
    }),
};

function roundsOf({ name, slow, whole }: ReconcilerFacts, database: Database): Round | undefined {
  if (!slow || whole) return undefined;
  const rounds = new SearchRounds(database, name);
  return (pass, search) => rounds.run(pass, search);
}
