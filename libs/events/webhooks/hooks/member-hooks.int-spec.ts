import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { newId } from '#lib/kernel';
import { apiClient, type ApiClient } from '../../../../test/support/api-client.js';
import { aMember } from '../../../../test/support/factories.js';
import {
  sharedServer,
  type TestServer,
  type TestWorkspace,
} from '../../../../test/support/shared-server.js';

interface Hook {
  id: string;
  enabled: boolean;
  createdBy: string;
}

interface Hooks {
  hooks: { kind: string; id: string; description: string | null; enabled: boolean }[];
}

let server: TestServer;
let workspace: TestWorkspace;
let leaving = '';

beforeAll(async () => {
  server = await sharedServer();
});
beforeEach(async () => {
  workspace = await server.newWorkspace();
  leaving = await aMember(server.db.owner, workspace.id, 'ADMIN');
});
afterAll(() => server.stop());

function as(userId: string): ApiClient {
  const claims = { userId, sessionId: newId(), workspaceId: workspace.id };
  const { token } = server.tokens.issueUserToken(claims);
  return apiClient(server.url, { authorization: `Bearer ${token}` });
}

const RULE = { on: 'push', do: 'create_task', task: { title: 'A push', taskType: 'push' } };

/** A webhook and an inbound hook. */
async function hooksOf(api: ApiClient): Promise<string[]> {
  const made = [
    await api.post<Hook>('/webhooks', { url: 'https://example.com', events: ['*'] }),
    await api.post<Hook>('/inbound-hooks', { kind: 'github', rules: [RULE], description: 'CI' }),
  ];
  expect(made.map(({ status }) => status)).toEqual([201, 201]);
  return made.map(({ body }) => body.id);
}

async function enabledHooks(): Promise<string[]> {
  const lists = [
    await workspace.api.get<{ items: Hook[] }>('/webhooks'),
    await workspace.api.get<{ items: Hook[] }>('/inbound-hooks'),
  ];
  const hooks = lists.flatMap(({ body }) => body.items);
  return hooks.filter(({ enabled }) => enabled).map(({ id }) => id);
}

const memberPath = (query = '') => `/workspaces/${workspace.id}/members/${leaving}${query}`;

const ENDS: [string, (query: string) => Promise<{ status: number; body: Hooks }>][] = [
  ['removed', (query) => workspace.api.delete<Hooks>(memberPath(query))],
  ['demoted', (query) => workspace.api.patch<Hooks>(memberPath(query), { role: 'MEMBER' })],
];

it.each(ENDS)('a %s member loses their hooks, which the answer lists', async (_, end) => {
  const [webhook, inbound] = await hooksOf(as(leaving));
  const others = await hooksOf(workspace.api);
  const { status, body } = await end('');
  expect(status).toBe(200);
  expect(body.hooks).toEqual([
    { kind: 'webhook', id: webhook, description: null, enabled: false },
    { kind: 'inbound_hook', id: inbound, description: 'CI', enabled: false },
  ]);
  expect(await enabledHooks()).toEqual(others);
});

it.each(ENDS)('the hooks of a %s member stay enabled on request', async (_, end) => {
  const hooks = await hooksOf(as(leaving));
  const { body } = await end('?keepHooks=true');
  expect(body.hooks.map(({ id, enabled }) => [id, enabled])).toEqual(hooks.map((id) => [id, true]));
  expect(await enabledHooks()).toEqual(hooks);
});

it('a member with a new role that can manage hooks keeps them', async () => {
  const hooks = await hooksOf(as(leaving));
  const { body } = await workspace.api.patch<Hooks>(memberPath(), { role: 'OWNER' });
  expect(body.hooks).toEqual([]);
  expect(await enabledHooks()).toEqual(hooks);
});

// A second server knows for up to three seconds the role that a member had.
it('a removed member cannot create or enable hooks with a role that a server remembers', async () => {
  const api = as(leaving);
  const [webhook, inbound] = await hooksOf(api);
  const { rowCount } = await server.db.owner.query(
    `UPDATE workspace_members SET role = 'VIEWER' WHERE user_id = $1`,
    [leaving],
  );
  expect(rowCount).toBe(1);
  for (const answer of [
    await api.post('/webhooks', { url: 'https://example.com', events: ['*'] }),
    await api.post('/inbound-hooks', { kind: 'github', rules: [RULE] }),
    await api.patch(`/webhooks/${webhook}`, { enabled: true }),
    await api.patch(`/inbound-hooks/${inbound}`, { enabled: true }),
  ]) {
    expect(answer).toMatchObject({ status: 403, body: { code: 'forbidden' } });
  }
});
