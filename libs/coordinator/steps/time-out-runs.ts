import type { TaskSweeps } from '#lib/transitions';
import type { Step } from './step.js';

/** Ends runs that are past their task's timeout and that their agent has not ended itself. */
export function timeOutRuns(tasks: TaskSweeps): Step {
  return {
    name: 'time_out_runs',
    sweep: (fence, limit, scope) => tasks.timeOutRuns(fence, limit, scope),
  };
}
