import { firstRow, type SqlRunner } from '#lib/database';
import { DroverError } from '#lib/kernel';
import { type AgentLifecycle, legalAgentTransitions } from '../domain/agent-state.js';
import {
  lifecycleOfAgent,
  type TransitionedAgent,
  transitionAgentsSql,
} from './transition-agents.sql.js';

export interface AgentTransition {
  workspaceId: string;
  agentId: string;
  to: AgentLifecycle;
  /** Part of the event, and stored in the row of a TERMINATED agent. */
  reason: string;
}

/**
 * Writes transitions of agents. An illegal one is missing in the result. An agent can be TERMINATED
 * only without live runs: end them first, in the same transaction.
 */
export function transitionAgents(
  runner: SqlRunner,
  transitions: readonly AgentTransition[],
): Promise<TransitionedAgent[]> {
  if (transitions.length === 0) return Promise.resolve([]);
  const rows = transitions.map(({ workspaceId, agentId, to, reason }) => ({
    workspace_id: workspaceId,
    id: agentId,
    to_lifecycle: to,
    reason,
  }));
  return runner.rows(transitionAgentsSql, [JSON.stringify(rows)]);
}

/**
 * Moves one agent, or explains why it cannot.
 *
 * @throws DroverError `agent_not_found`, `agent_terminated`, or `illegal_transition` with the
 *   current state and the legal ones
 */
export async function transitionAgent(
  runner: SqlRunner,
  transition: AgentTransition,
): Promise<TransitionedAgent> {
  const [moved] = await transitionAgents(runner, [transition]);
  if (moved) return moved;
  const agent = await firstRow(runner, lifecycleOfAgent, [
    transition.workspaceId,
    transition.agentId,
  ]);
  if (!agent) throw new DroverError('agent_not_found');
  if (agent.lifecycle === 'TERMINATED') throw new DroverError('agent_terminated');
  throw new DroverError('illegal_transition', {
    detail: `The agent is ${agent.lifecycle}, and can't become ${transition.to} from there.`,
    members: {
      current: agent.lifecycle,
      from: agent.lifecycle,
      to: transition.to,
      legal: legalAgentTransitions(agent.lifecycle),
    },
  });
}
