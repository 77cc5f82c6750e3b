import type { StateSweeps } from '#lib/transitions';
import type { Rhythm } from './rhythm.js';
import type { Step } from './step.js';

/** Fails tasks that wait for each other in a cycle, which the check of new edges should have refused. */
export function failCycles(states: StateSweeps, rhythm: Rhythm): Step {
  return {
    name: 'fail_cycles',
    sweep: (fence, limit, scope) =>
      rhythm.perhaps(scope, (asked) => states.failCycles(fence, limit, asked)),
  };
}
