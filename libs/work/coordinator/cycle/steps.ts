import { CONFIG, type Config } from '#lib/config';
import { RECONCILERS, type CounterName, type StepName } from '../patterns/index.js';
import type { Reconciler, ReconcilerFacts } from './reconciler.js';
import { atPace, type PacedReconciler } from './rhythm.js';

/** A reconciler of this process. */
export interface Step extends PacedReconciler {
  facts: ReconcilerFacts & { name: StepName; counter: CounterName };
}

/** Injection token of the steps, in the order of the cycle. */
export const STEPS = Symbol('STEPS');

export const stepsProvider = {
  provide: STEPS,
  inject: [CONFIG, ...RECONCILERS],
  useFactory: ({ coordinator }: Config, ...reconcilers: Reconciler[]): Step[] =>
    reconcilers.map((reconciler, at) => {
      const { facts } = RECONCILERS[at] as { facts: Step['facts'] };
      const slowMs = coordinator.reconcileIntervalSeconds * 1_000;
      return { facts, ...atPace(reconciler, facts.slow, slowMs) };
    }),
};
