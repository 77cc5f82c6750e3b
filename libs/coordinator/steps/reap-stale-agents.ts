import type { StaleAgents } from '../stale-agents.js';
import type { Step } from './step.js';

/** Takes agents for dead that have been silent for longer than their threshold, unless we were deaf. */
export function reapStaleAgents(agents: StaleAgents): Step {
  return {
    name: 'reap_stale_agents',
    sweep: (fence, limit, scope) => agents.reap(fence, limit, scope),
  };
}
