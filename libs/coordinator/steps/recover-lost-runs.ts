import { type TaskSweeps, together } from '#lib/transitions';
import type { StaleAgents } from '../stale-agents.js';
import type { Step } from './step.js';

/**
 * Ends the runs of agents that are in ERROR or TERMINATED, and those whose gateway is gone while another
 * one beats for their agents; their tasks are retried or fail.
 */
export function recoverLostRuns(tasks: TaskSweeps, agents: Pick<StaleAgents, 'listeningMs'>): Step {
  return {
    name: 'recover_lost_runs',
    sweep: async (fence, limit, scope) =>
      together(
        await tasks.recoverRunsOfLostAgents(fence, limit, scope),
        await tasks.recoverRunsOfLostGateways(fence, limit, agents.listeningMs(), scope),
      ),
  };
}
