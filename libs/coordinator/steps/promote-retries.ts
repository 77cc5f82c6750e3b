import type { TaskSweeps } from '#lib/transitions';
import type { Step } from './step.js';

/** Puts aborted tasks whose retry is due back into the queue. */
export function promoteRetries(tasks: TaskSweeps): Step {
  return {
    name: 'promote_retries',
    sweep: (fence, limit, scope) => tasks.promoteDueRetries(fence, limit, scope),
  };
}
