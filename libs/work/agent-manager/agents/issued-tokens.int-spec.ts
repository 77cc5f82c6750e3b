import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { newId } from '#lib/kernel';
import { apiClient, type ApiClient } from '../../../../test/support/api-client.js';
import {
  sharedServer,
  type TestServer,
  type TestWorkspace,
} from '../../../../test/support/shared-server.js';
import { aMember, anAgent } from '../../../../test/support/factories.js';
import { aTask } from '../../../../test/support/task-factories.js';

let server: TestServer;
let workspace: TestWorkspace;
let agentId: string;
/** Two members with the role ADMIN. */
let [leaving, staying] = ['', ''];

beforeAll(async () => {
  server = await sharedServer();
});
beforeEach(async () => {
  workspace = await server.newWorkspace();
  agentId = await anAgent(server.db.owner, workspace.id);
  leaving = await aMember(server.db.owner, workspace.id, 'ADMIN');
  staying = await aMember(server.db.owner, workspace.id, 'MEMBER');
});
afterAll(() => server.stop());

function as(userId: string): ApiClient {
  const tokens = server.tokens;
  const claims = { userId, sessionId: newId(), workspaceId: workspace.id };
  return withToken(tokens.issueUserToken(claims).token);
}

const withToken = (token: string) => apiClient(server.url, { authorization: `Bearer ${token}` });

async function issuedBy(api: ApiClient, body = {}): Promise<ApiClient> {
  const issued = await api.post<{ token: string }>(`/agents/${agentId}/token`, body);
  expect(issued.status).toBe(201);
  return withToken(issued.body.token);
}

async function list(query = '', api = workspace.api) {
  const path = `/workspaces/${workspace.id}/agent-tokens${query}`;
  const { status, body } = await api.get<{ items: Record<string, unknown>[] }>(path);
  expect(status).toBe(200);
  return body.items;
}

const works = async (agent: ApiClient) => (await agent.get(`/agents/${agentId}/tasks`)).status;

const ENDS: [string, () => Promise<{ status: number }>][] = [
  ['is removed', () => workspace.api.delete(`/workspaces/${workspace.id}/members/${leaving}`)],
  ['leaves', () => as(leaving).delete(`/workspaces/${workspace.id}/members/${leaving}`)],
  [
    'is disabled',
    async () => {
      await server.db.owner.query('UPDATE users SET is_operator = true WHERE id = $1', [
        workspace.userId,
      ]);
      return workspace.api.patch(`/users/${leaving}`, { disabled: true });
    },
  ],
];

it.each(ENDS)(
  'a user who %s loses the tokens that they issued, and nobody else does',
  async (_, end) => {
    const key = await as(leaving).post<{ key: string; id: string }>(
      `/workspaces/${workspace.id}/api-keys`,
      { name: 'Theirs', scopes: ['agents:write'] },
    );
    const theirs = await issuedBy(as(leaving));
    const byKey = await issuedBy(withToken(key.body.key));
    const others = await issuedBy(as(staying));
    expect(await list(`?issuedBy=${leaving}`)).toEqual([
      expect.objectContaining({ agentId, issuedBy: leaving, issuedByKey: null }),
      expect.objectContaining({ agentId, issuedBy: leaving, issuedByKey: key.body.id }),
    ]);
    await aTask(server.db.owner, workspace.id);
    const claimed = await theirs.post<{ tasks: { run: { id: string; token: string } }[] }>(
      `/agents/${agentId}/claim`,
      {},
    );
    const { id: runId, token } = claimed.body.tasks[0]?.run ?? { id: '', token: '' };
    expect([await works(theirs), await works(byKey), await works(others)]).toEqual([200, 200, 200]);

    expect((await end()).status).toBeLessThan(300);
    expect([await works(theirs), await works(byKey), await works(others)]).toEqual([401, 401, 200]);
    const refused = { status: 401, body: { code: 'token_revoked' } };
    expect(await withToken(token).post(`/runs/${runId}/start`)).toMatchObject(refused);
    expect(await list()).toMatchObject([{ issuedBy: staying }]);
  },
);

it('the list has the valid tokens, after a rotation the new one', async () => {
  await issuedBy(as(staying), { expiresInSeconds: 3_600 });
  const [token] = await list(`?agentId=${agentId}`);
  const lasts = Date.parse(String(token?.['expiresAt'])) - Date.parse(String(token?.['issuedAt']));
  expect(Math.round(lasts / 60_000)).toBe(60);
  await issuedBy(as(leaving), { rotate: true });
  expect(await list()).toMatchObject([{ issuedBy: leaving }]);
  expect(await list(`?agentId=${newId()}`)).toEqual([]);
  await workspace.api.delete(`/agents/${agentId}/token`);
  expect(await list()).toEqual([]);
});

it('only admins see the list of tokens', async () => {
  const path = `/workspaces/${workspace.id}/agent-tokens`;
  expect(await as(staying).get(path)).toMatchObject({ status: 403, body: { code: 'forbidden' } });
});
