import { type AgentCaller, type Caller, DroverError } from '#lib/kernel';

/**
 * An agent acts for itself alone; another agent's id is none that it can see.
 *
 * @throws DroverError `agent_not_found`
 */
export function requireSelf(caller: Caller, agentId: string): AgentCaller {
  if (caller.kind === 'agent' && caller.agentId === agentId) return caller;
  throw new DroverError('agent_not_found');
}

/** The same for an agent's run, which may speak for its agent where nothing but a sign of life is said. */
export function requireSelfOrRun(caller: Caller, agentId: string): AgentCaller {
  if (caller.kind !== 'run') return requireSelf(caller, agentId);
  const { workspaceId, tokenVersion, tokenId } = caller;
  const agent = { kind: 'agent', workspaceId, agentId: caller.agentId } as const;
  return requireSelf({ ...agent, tokenVersion, tokenId }, agentId);
}
