import type { TaskSweeps } from '#lib/task-manager';
import type { Step } from './step.js';

/** Ends the runs of agents that are in ERROR or TERMINATED; their tasks are retried or fail. */
export function recoverLostRuns(tasks: TaskSweeps): Step {
  return {
    name: 'recover_lost_runs',
    sweep: (fence, limit, scope) => tasks.recoverRunsOfLostAgents(fence, limit, scope),
  };
}
