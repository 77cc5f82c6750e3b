import { stripControls } from '../domain/format.js';
import { AgentLink } from './agent-link.js';
import { useMembers } from './members.js';

interface CallerProps {
  /** A caller of the API: `user:<id>`, `agent:<id>`, `api_key:<id>`, or the name of a forge's user. */
  of: string;
  /** The name, if the API has given it. */
  name?: string | null;
}

/** The name of a person or an agent who did something. */
export function Caller({ of, name = null }: CallerProps) {
  const [, kind, id] = /^(user|agent|api_key):([0-9a-f-]{36})$/.exec(of) ?? [];
  if (kind === 'agent' && id !== undefined) return <AgentLink id={id} />;
  if (kind === 'api_key')
    return <bdi title={of}>{name === null ? 'an API key' : `API key ${stripControls(name)}`}</bdi>;
  if (kind === 'user' && id !== undefined) return <Person id={id} />;
  return <bdi>{stripControls(of)}</bdi>;
}

function Person({ id }: { id: string }) {
  const person = useMembers().data?.items.find(({ userId }) => userId === id);
  if (person === undefined) return <span title={`user:${id}`}>a user</span>;
  return <bdi title={stripControls(person.email)}>{stripControls(person.name)}</bdi>;
}
