import createClient from 'openapi-fetch';
import type { components, paths } from '#api-types';

type Task = components['schemas']['Task'];
type ErrorCode = components['schemas']['ErrorCode'];

export interface Access {
  url: string;
  userToken: string;
  workspaceId: string;
  agent: { id: string; token: string };
}

const client = (url: string, token: string, headers: Record<string, string> = {}) =>
  createClient<paths>({ baseUrl: url, headers: { authorization: `Bearer ${token}`, ...headers } });

/** Runs one task from its creation to its completion, with types from the document alone. */
export async function completeATask({ url, userToken, workspaceId, agent }: Access): Promise<Task> {
  const user = client(url, userToken, { 'x-workspace-id': workspaceId });
  const worker = client(url, agent.token);
  const created = good(
    await user.POST('/api/v1/agent-tasks', { body: { title: 'Typed', taskType: 'typed' } }),
  );
  const ids = good(
    await user.GET('/api/v1/agent-tasks', { params: { query: { taskType: 'typed' } } }),
  ).items.map(({ id }) => id);
  if (!ids.includes(created.id)) throw new Error('The list lacks the task');

  const { tasks } = good(
    await worker.POST('/api/v1/agents/{id}/claim', {
      params: { path: { id: agent.id } },
      body: {},
    }),
  );
  const [claimed] = tasks;
  if (claimed?.task.id !== created.id) throw new Error('Another task was claimed');
  const params = { path: { runId: claimed.run.id } };
  good(
    await worker.POST('/api/v1/runs/{runId}/complete', {
      params,
      body: { outputResult: { ok: 1 } },
    }),
  );

  const path = { id: created.id };
  return good(await user.GET('/api/v1/agent-tasks/{id}', { params: { path } }));
}

/** Returns the code of the refusal for a missing task. */
export async function codeOfAMissingTask({
  url,
  userToken,
  workspaceId,
}: Access): Promise<ErrorCode> {
  const user = client(url, userToken, { 'x-workspace-id': workspaceId });
  const path = { id: '0198c0de-7000-7000-8000-000000000000' };
  const { error } = await user.GET('/api/v1/agent-tasks/{id}', { params: { path } });
  if (error === undefined) throw new Error('It is there');
  return error.code;
}

function good<T>({ data, error }: { data?: T; error?: components['schemas']['Problem'] }): T {
  if (data === undefined) throw new Error(`${error?.code}: ${error?.advice}`);
  return data;
}

/** Code that the types must refuse. Without these errors the types would prove nothing. */
export const refused = {
  // @ts-expect-error No such code.
  code: 'no_such_code' satisfies ErrorCode,
  // @ts-expect-error Null is not a title.
  title: { title: null, taskType: 'typed' } satisfies components['schemas']['CreateTask'],
  // @ts-expect-error It can be null.
  owner: (task: Task): string => task.description,
  // @ts-expect-error No such path.
  path: (): keyof paths => '/api/v1/no-such-path',
};
