import type { StateSweeps } from '#lib/transitions';
import type { Step } from './step.js';

/** Ends runs that made no progress after their warning either; their tasks are retried. */
export function timeOutHung(states: StateSweeps): Step {
  return {
    name: 'time_out_hung',
    sweep: (fence, limit, scope) => states.timeOutHung(fence, limit, scope),
  };
}
