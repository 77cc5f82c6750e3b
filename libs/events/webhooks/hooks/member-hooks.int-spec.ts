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

const disable = async (query: string, change = { disabled: true }) => {
  const operator = await aMember(server.db.owner, workspace.id, 'VIEWER');
  await server.db.owner.query('UPDATE users SET is_operator = true WHERE id = $1', [operator]);
  return as(operator).patch<Hooks>(`/users/${leaving}${query}`, change);
};

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

it('a disabled user loses their hooks in all workspaces, which the answer lists', async () => {
  const first = workspace.id;
  const [webhook, inbound] = await hooksOf(as(leaving));
  const others = await hooksOf(workspace.api);
  workspace = await server.newWorkspace();
  await server.db.owner.query(
    `INSERT INTO workspace_members (workspace_id, user_id, role) VALUES ($1, $2, 'ADMIN')`,
    [workspace.id, leaving],
  );
  const [second] = await hooksOf(as(leaving));
  const { status, body } = await disable('');
  expect(status).toBe(200);
  expect(body.hooks).toHaveLength(4);
  expect(body.hooks).toEqual(
    expect.arrayContaining([
      { workspaceId: first, kind: 'webhook', id: webhook, enabled: false },
      { workspaceId: first, kind: 'inbound_hook', id: inbound, enabled: false },
      { workspaceId: workspace.id, kind: 'webhook', id: second, enabled: false },
    ]),
  );
  expect(await enabledHooks()).toEqual([]);
  const { rows } = await server.db.owner.query<{ id: string }>(
    `SELECT id FROM webhooks WHERE workspace_id = $1 AND disabled_at IS NULL
     UNION ALL SELECT id FROM inbound_hooks WHERE workspace_id = $1 AND disabled_at IS NULL`,
    [first],
  );
  expect(rows.map(({ id }) => id)).toEqual(others);
});

it('the hooks of a disabled user stay enabled on request and when the user is enabled', async () => {
  const hooks = await hooksOf(as(leaving));
  const { body } = await disable('?keepHooks=true');
  expect(body.hooks.map(({ id, enabled }) => [id, enabled])).toEqual(hooks.map((id) => [id, true]));
  const enabled = await disable('', { disabled: false });
  expect(enabled.body.hooks).toEqual([]);
  expect(await enabledHooks()).toEqual(hooks);
});

// A second server knows for up to three seconds the role that a member had.
it.each([
  ['demoted', `UPDATE workspace_members SET role = 'VIEWER' WHERE user_id = $1`],
  ['disabled', 'UPDATE users SET disabled_at = now() WHERE id = $1'],
])(
  'a %s member cannot create or enable hooks with a role that a server remembers',
  async (_, change) => {
    const api = as(leaving);
    const [webhook, inbound] = await hooksOf(api);
    const { rowCount } = await server.db.owner.query(change, [leaving]);
    expect(rowCount).toBe(1);
    for (const answer of [
      await api.post('/webhooks', { url: 'https://example.com', events: ['*'] }),
      await api.post('/inbound-hooks', { kind: 'github', rules: [RULE] }),
      await api.patch(`/webhooks/${webhook}`, { enabled: true }),
      await api.patch(`/inbound-hooks/${inbound}`, { enabled: true }),
    ]) {
      expect(answer).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    }
  },
);
