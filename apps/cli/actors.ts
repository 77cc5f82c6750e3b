import type { Cli } from './cli.js';
import { ALL, readList } from './lists.js';

/** Formats an actor of the API, such as `user:` or `agent:` and an id, by its name. */
export type NameActor = (actor: string) => string;

/**
 * Reads the names of actors. An actor whose name the caller must not read has its kind and its id,
 * and so have all with --json.
 */
export async function readActors(cli: Cli, actors: readonly (string | null)[]): Promise<NameActor> {
  const names = new Map<string, string>();
  const wanted = [...new Set(actors.filter((actor) => actor !== null))];
  const idsOf = (kind: string) =>
    wanted.filter((actor) => actor.startsWith(kind)).map((actor) => actor.slice(kind.length));
  if (!cli.out.json) {
    await Promise.all([
      readAgents(cli, idsOf('agent:'), names),
      readMembers(cli, idsOf('user:'), names),
      readKeys(cli, idsOf('api_key:'), names),
    ]);
  }
  return (actor) => names.get(actor) ?? actor.replace(/^(\w+):(?=[0-9a-f-]{36}$)/, describeKind);
}

const describeKind = (_: string, kind: string): string =>
  kind === 'api_key' ? 'API key ' : `${kind} `;

/** The names of agents by their ids. An agent that the caller must not read has its id. */
export async function agentNames(
  { drover, out }: Cli,
  ids: readonly string[],
): Promise<Map<string, string>> {
  if (out.json) return new Map();
  const read = async (id: string) => {
    const params = { path: { id } };
    const agent = await drover.get('/api/v1/agents/{id}', { params }).catch(() => undefined);
    return [id, agent?.name ?? id] as const;
  };
  return new Map(await Promise.all([...new Set(ids)].map(read)));
}

async function readAgents(cli: Cli, ids: readonly string[], names: Map<string, string>) {
  for (const [id, name] of await agentNames(cli, ids)) names.set(`agent:${id}`, name);
}

async function readMembers(cli: Cli, ids: readonly string[], names: Map<string, string>) {
  if (ids.length === 0) return;
  const path = { workspaceId: await cli.workspaceId() };
  const members = await readList(ALL, (query) =>
    cli.drover.get('/api/v1/workspaces/{workspaceId}/members', { params: { path, query } }),
  ).catch(() => []);
  for (const { userId, name, email } of members) names.set(`user:${userId}`, name || email);
}

async function readKeys(cli: Cli, ids: readonly string[], names: Map<string, string>) {
  if (ids.length === 0) return;
  const path = { workspaceId: await cli.workspaceId() };
  const keys = await readList(ALL, (query) =>
    cli.drover.get('/api/v1/workspaces/{workspaceId}/api-keys', { params: { path, query } }),
  ).catch(() => []);
  for (const { id, name } of keys) names.set(`api_key:${id}`, `API key ${name}`);
}
