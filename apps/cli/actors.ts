import type { Cli } from './cli.js';
import { ALL, readList } from './lists.js';

/** Formats an actor of the API, such as `user:` or `agent:` and an id, by its name. */
export type NameActor = (actor: string) => string;

/**
 * Reads the names of actors. An actor whose name the caller must not read keeps its id, and so do
 * all with --json.
 */
export async function readActors(cli: Cli, actors: readonly (string | null)[]): Promise<NameActor> {
  const names = new Map<string, string>();
  const wanted = [...new Set(actors.filter((actor) => actor !== null))];
  const idsOf = (kind: string) =>
    wanted.filter((actor) => actor.startsWith(kind)).map((actor) => actor.slice(kind.length));
  if (!cli.out.json) {
    await Promise.all([
      ...idsOf('agent:').map(async (id) => names.set(`agent:${id}`, await agentName(cli, id))),
      readMembers(cli, idsOf('user:'), names),
      readKeys(cli, idsOf('api_key:'), names),
    ]);
  }
  return (actor) => names.get(actor) ?? actor;
}

/** The name of an agent, or its id if the caller must not read it. */
export async function agentName({ drover }: Cli, id: string): Promise<string> {
  const params = { path: { id } };
  return drover.get('/api/v1/agents/{id}', { params }).then(
    ({ name }) => name,
    () => id,
  );
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
