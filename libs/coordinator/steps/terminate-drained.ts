import type { TaskSweeps } from '#lib/transitions';
import type { Step } from './step.js';

/** Terminates agents that were told to drain and hold nothing any more. */
export function terminateDrained(tasks: TaskSweeps): Step {
  return {
    name: 'terminate_drained',
    sweep: (fence, limit, scope) => tasks.terminateDrained(fence, limit, scope),
  };
}
