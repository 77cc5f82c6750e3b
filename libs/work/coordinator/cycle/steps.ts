import { CONFIG, type Config } from '#lib/config';
import { RECONCILERS, type CounterName, type StepName } from '../patterns/index.js';
import type { Reconciler, ReconcilerFacts } from './reconciler.js';
import { sweepAtPace } from './rhythm.js';

/** A reconciler of this process. A slow one keeps its pace between cycles. */
export interface Step extends Reconciler {
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
      return { facts, sweep: sweepAtPace(reconciler, facts.slow, slowMs) };
    }),
};
