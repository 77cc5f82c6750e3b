import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { decodeJwt } from 'jose';
import { newId } from '#lib/kernel';
import { apiClient, type ApiClient } from '../../../../test/support/api-client.js';
import {
  sharedServer,
  type TestServer,
  type TestWorkspace,
} from '../../../../test/support/shared-server.js';
import { waitFor } from '../../../../test/support/wait-for.js';
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

interface Claimed {
  tasks: { run: { id: string; token: string } }[];
}

interface Completed {
  claimed: Claimed['tasks'];
}

interface Key {
  id: string;
  key: string;
  expiresAt: string;
}

const keysPath = () => `/workspaces/${workspace.id}/api-keys`;

async function aKey(body = {}): Promise<Key> {
  const key = { name: 'Theirs', scopes: ['agents:write'] };
  const made = await workspace.api.post<Key>(keysPath(), { ...key, ...body });
  expect(made.status).toBe(201);
  return made.body;
}

async function claimedRun(agent: ApiClient): Promise<{ id: string; token: string }> {
  await aTask(server.db.owner, workspace.id);
  const { body } = await agent.post<Claimed>(`/agents/${agentId}/claim`, {});
  const [task] = body.tasks;
  if (task === undefined) throw new Error('no task was claimed');
  return task.run;
}

const endOf = (token: string): number => (decodeJwt(token).exp ?? 0) * 1000;

it('a revoked API key ends the agent tokens that it issued, and those of their runs', async () => {
  const [key, other] = [await aKey(), await aKey()];
  const byKey = await issuedBy(withToken(key.key));
  const byOther = await issuedBy(withToken(other.key));
  const run = await claimedRun(byKey);
  expect((await workspace.api.delete(`${keysPath()}/${key.id}`)).status).toBe(204);
  expect([await works(byKey), await works(byOther)]).toEqual([401, 200]);
  const refused = { status: 401, body: { code: 'token_revoked' } };
  expect(await withToken(run.token).post(`/runs/${run.id}/start`)).toMatchObject(refused);
  expect(await list()).toMatchObject([{ issuedByKey: other.id }]);
});

it('a revoked API key keeps its agent tokens on request, until it is revoked again', async () => {
  const key = await aKey();
  const byKey = await issuedBy(withToken(key.key));
  const path = `${keysPath()}/${key.id}`;
  expect((await workspace.api.delete(`${path}?keepTokens=true`)).status).toBe(204);
  const issue = await withToken(key.key).post(`/agents/${agentId}/token`, {});
  expect([issue.status, await works(byKey)]).toEqual([401, 200]);
  expect(await list()).toMatchObject([{ issuedByKey: key.id }]);
  expect((await workspace.api.delete(path)).status).toBe(204);
  expect(await works(byKey)).toBe(401);
});

it('neither an agent token of an API key nor the token of its run outlives the key', async () => {
  const key = await aKey({ expiresInSeconds: 3_600 });
  const keyEnds = Date.parse(key.expiresAt);
  const path = `/agents/${agentId}/token`;
  const { body } = await withToken(key.key).post<{ token: string; expiresAt: string }>(path, {
    expiresInSeconds: 86_400,
  });
  expect(endOf(body.token)).toBe(Date.parse(body.expiresAt));
  expect(endOf(body.token)).toBeLessThanOrEqual(keyEnds);
  expect(endOf(body.token)).toBeGreaterThan(keyEnds - 60_000);
  const run = await claimedRun(withToken(body.token));
  expect(endOf(run.token)).toBe(endOf(body.token));
  await aTask(server.db.owner, workspace.id);
  const agent = withToken(body.token);
  expect((await agent.post(`/runs/${run.id}/start`)).status).toBeLessThan(300);
  const claimNext = { maxTasks: 1 };
  const completed = await agent.post<Completed>(`/runs/${run.id}/complete`, { claimNext });
  expect(endOf(completed.body.claimed[0]?.run.token ?? '')).toBe(endOf(body.token));
});

/**
 * Runs a statement of another transaction, which commits as soon as `request` waits for a lock.
 *
 * @returns the answer to the request
 */
async function whileUncommitted<T>(
  [sql, params]: [sql: string, params: unknown[]],
  request: () => Promise<T>,
): Promise<T> {
  const { owner } = server.db;
  const connection = await owner.connect();
  try {
    await connection.query('BEGIN');
    await connection.query(sql, params);
    const answer = request();
    await waitFor('the request to wait for the lock', async () => {
      const waiting = `SELECT FROM pg_locks
        WHERE NOT granted AND pg_backend_pid() <> pid AND $1 = ANY (pg_blocking_pids(pid))`;
      const { processID } = connection as unknown as { processID: number };
      return (await owner.query(waiting, [processID])).rows.length > 0;
    });
    await connection.query('COMMIT');
    return await answer;
  } finally {
    connection.release();
  }
}

it('a token that is issued while its user is disabled ends with the others', async () => {
  const { owner } = server.db;
  await owner.query('UPDATE users SET is_operator = true WHERE id = $1', [workspace.userId]);
  const issuing = `INSERT INTO agent_tokens (workspace_id, id, agent_id, issued_by, expires_at)
    VALUES ($1, $2, $3, $4, now() + interval '1 day')`;
  const disabled = await whileUncommitted(
    [issuing, [workspace.id, newId(), agentId, leaving]],
    () => workspace.api.patch(`/users/${leaving}`, { disabled: true }),
  );
  expect(disabled.status).toBe(200);
  expect(await list()).toEqual([]);
});

it('a user who is disabled meanwhile issues no token', async () => {
  const disabling = `WITH u AS (UPDATE users SET disabled_at = now() WHERE id = $2)
    SELECT FROM workspace_members WHERE workspace_id = $1 AND user_id = $2 FOR UPDATE`;
  const issued = await whileUncommitted([disabling, [workspace.id, leaving]], () =>
    as(leaving).post(`/agents/${agentId}/token`, {}),
  );
  expect(issued).toMatchObject({ status: 403, body: { code: 'forbidden' } });
  expect(await list()).toEqual([]);
});

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
