import type { TaskSweeps } from '#lib/transitions';
import type { Step } from './step.js';

/** Ends runs that were claimed by hand and whose lease has passed. */
export function expireLeases(tasks: TaskSweeps): Step {
  return {
    name: 'expire_leases',
    sweep: (fence, limit, scope) => tasks.expireLeases(fence, limit, scope),
  };
}
