import { firstRow, query, type SqlRunner } from '#lib/database';
import { DroverError } from '#lib/kernel';
import { type AgentLifecycle, legalAgentMoves } from '../domain/agent-state.js';
import { type MovedAgent, moveAgentsSql } from './move-agents.sql.js';

/** Index: primary key. $1 workspace, $2 agent. */
const lifecycleOf = query<{ lifecycle: AgentLifecycle }>(
  'lifecycle_of_agent',
  `SELECT lifecycle FROM agents WHERE workspace_id = $1 AND id = $2`,
);

export interface AgentMove {
  workspaceId: string;
  agentId: string;
  to: AgentLifecycle;
  /** Why: part of the event, and kept in the row of a TERMINATED agent. */
  reason: string;
}

/**
 * Writes transitions of agents; an illegal one is left out of the answer. An agent can be
 * TERMINATED only when it has no live run: end them first, in the same transaction.
 */
export function moveAgents(runner: SqlRunner, moves: readonly AgentMove[]): Promise<MovedAgent[]> {
  if (moves.length === 0) return Promise.resolve([]);
  const rows = moves.map(({ workspaceId, agentId, to, reason }) => ({
    workspace_id: workspaceId,
    id: agentId,
    to_lifecycle: to,
    reason,
  }));
  return runner.rows(moveAgentsSql, [JSON.stringify(rows)]);
}

/**
 * Moves one agent, or says why not.
 *
 * @throws DroverError `agent_not_found`, `agent_terminated`, or `illegal_transition` with the current
 *   state and the legal ones
 */
export async function moveAgent(runner: SqlRunner, move: AgentMove): Promise<MovedAgent> {
  const [moved] = await moveAgents(runner, [move]);
  if (moved) return moved;
  const agent = await firstRow(runner, lifecycleOf, [move.workspaceId, move.agentId]);
  if (!agent) throw new DroverError('agent_not_found');
  if (agent.lifecycle === 'TERMINATED') throw new DroverError('agent_terminated');
  throw new DroverError('illegal_transition', {
    detail: `The agent is ${agent.lifecycle}, and can't become ${move.to} from there.`,
    members: {
      current: agent.lifecycle,
      from: agent.lifecycle,
      to: move.to,
      legal: legalAgentMoves(agent.lifecycle),
    },
  });
}
