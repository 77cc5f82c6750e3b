import type { StateSweeps } from '#lib/transitions';
import type { Step } from './step.js';

/** Warns the agents of runs that are long past their estimate, without progress. */
export function warnHung(states: StateSweeps): Step {
  return {
    name: 'warn_hung',
    sweep: (fence, limit, scope) => states.warnHung(fence, limit, scope),
  };
}
