import type { TaskSweeps } from '#lib/transitions';
import type { Step } from './step.js';

/** Aborts tasks that waited in the queue longer than they may. */
export function expireQueued(tasks: TaskSweeps): Step {
  return {
    name: 'expire_queued',
    sweep: (fence, limit, scope) => tasks.expireQueued(fence, limit, scope),
  };
}
