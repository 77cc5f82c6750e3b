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
