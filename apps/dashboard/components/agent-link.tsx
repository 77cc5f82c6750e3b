import { Link } from '@tanstack/react-router';
import { useRead } from '../api/read.js';
import { stripControls } from '../domain/format.js';
import { useAgents } from './pickers.js';

/** Links to an agent by its name, as soon as the name is loaded. */
export function AgentLink({ id }: { id: string }) {
  const agent = useRead(['agent-names', id], (api, signal) =>
    api.get('/api/v1/agents/{id}', { params: { path: { id } }, signal }),
  );
  return (
    <Link to="/agents/$id" params={{ id }} className="link">
      <bdi>{agent.data === undefined ? 'an agent' : stripControls(agent.data.name)}</bdi>
    </Link>
  );
}

/** The same in a long list, which reads the names of many agents at once. */
export function AgentName({ id }: { id: string }) {
  const agents = useAgents();
  const known = agents.data?.find((agent) => agent.id === id);
  if (agents.isPending) return null;
  if (known === undefined) return <AgentLink id={id} />;
  return (
    <Link to="/agents/$id" params={{ id }} className="link">
      <bdi>{stripControls(known.name)}</bdi>
    </Link>
  );
}
