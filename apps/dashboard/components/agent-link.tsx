import { Link } from '@tanstack/react-router';
import { useRead } from '../api/read.js';
import { plainOf } from '../domain/format.js';

/** An agent by its name, as soon as that is known. */
export function AgentLink({ id }: { id: string }) {
  const agent = useRead(['agent-names', id], (api, signal) =>
    api.get('/api/v1/agents/{id}', { params: { path: { id } }, signal }),
  );
  return (
    <Link to="/agents/$id" params={{ id }} className="link">
      <bdi>{agent.data === undefined ? 'its agent' : plainOf(agent.data.name)}</bdi>
    </Link>
  );
}
