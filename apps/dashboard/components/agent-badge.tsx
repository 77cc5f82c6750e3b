import { type Agent, agentWord } from '../domain/status.js';
import { Badge } from './badge.js';

/** The status of an agent. */
export function AgentBadge({ agent }: { agent: Agent }) {
  const word = agentWord(agent);
  return <Badge state={word === undefined ? agent.status : 'STARTING'} {...(word && { word })} />;
}
