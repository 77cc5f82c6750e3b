import { CONFIG, type Config } from '#lib/config';
import { RECONCILERS, type CounterName, type StepName } from '../patterns/index.js';
import type { Reconciler, ReconcilerFacts } from './reconciler.js';
import { paced } from './rhythm.js';

/** A reconciler of this process, with the pace that it has kept so far if it is a slow one. */
export interface Step extends Reconciler {
  facts: ReconcilerFacts & { name: StepName; counter: CounterName };
}

/** Injects the steps in the order of the cycle. */
export const STEPS = Symbol('STEPS');

export const stepsProvider = {
  provide: STEPS,
  inject: [CONFIG, ...RECONCILERS],
  useFactory: ({ coordinator }: Config, ...reconcilers: Reconciler[]): Step[] =>
    reconcilers.map((reconciler, at) => {
      const { facts } = RECONCILERS[at] as { facts: Step['facts'] };
      const slowMs = coordinator.reconcileIntervalSeconds * 1_000;
      return { facts, sweep: paced(reconciler, facts.slow, slowMs) };
    }),
};
