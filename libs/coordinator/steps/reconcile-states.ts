import type { StateSweeps } from '#lib/transitions';
import type { Rhythm } from './rhythm.js';
import type { Step } from './step.js';

/** Makes counts and marks anew that disagree with what they are made from. */
export function reconcileStates(states: StateSweeps, rhythm: Rhythm): Step {
  return {
    name: 'reconcile_states',
    sweep: (fence, limit, scope) =>
      rhythm.perhaps(scope, (asked) => states.reconcileStates(fence, limit, asked)),
  };
}
