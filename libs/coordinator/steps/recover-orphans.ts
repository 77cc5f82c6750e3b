import type { StateSweeps } from '#lib/transitions';
import type { Rhythm } from './rhythm.js';
import type { Step } from './step.js';

/** Retries tasks that no live run holds, and ends live runs that no task names. */
export function recoverOrphans(states: StateSweeps, rhythm: Rhythm): Step {
  return {
    name: 'recover_orphans',
    sweep: (fence, limit, scope) =>
      rhythm.perhaps(scope, (asked) => states.recoverOrphans(fence, limit, asked)),
  };
}
