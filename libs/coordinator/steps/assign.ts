import type { SessionAssigner } from '#lib/runs';
import type { Step } from './step.js';

/** Gives ready tasks to push agents, as many as the gateways have room for; their sessions follow. */
export function assign(sessions: SessionAssigner): Step {
  return {
    name: 'assign',
    acrossWorkspaces: true,
    sweep: (fence, limit) => sessions.sweep(fence, limit),
  };
}
