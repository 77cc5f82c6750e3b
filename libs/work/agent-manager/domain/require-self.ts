import { type AgentCaller, type Caller, DroverError, tokenMarksOf } from '#lib/kernel';

/**
 * An agent can act only for itself and cannot see other agents' ids.
 *
 * @throws DroverError `agent_not_found`
 */
export function requireSelf(caller: Caller, agentId: string): AgentCaller {
  if (caller.kind === 'agent' && caller.agentId === agentId) return caller;
  throw new DroverError('agent_not_found');
}

/** The same, also for an agent's run, which can send a sign of life for its agent. */
export function requireSelfOrRun(caller: Caller, agentId: string): AgentCaller {
  if (caller.kind !== 'run') return requireSelf(caller, agentId);
  const agent = {
    kind: 'agent',
    workspaceId: caller.workspaceId,
    agentId: caller.agentId,
  } as const;
  return requireSelf({ ...agent, ...tokenMarksOf(caller) }, agentId);
}
