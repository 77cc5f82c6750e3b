import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { TokenService } from '#lib/identity';
import { startTestApp, type TestApp, type TestWorkspace } from '../support/app.js';
import { aSessionOf } from '../support/factories.js';
import { forge } from '../api/support/forgery.js';
import { createKey, claimRun, closeClients, type HeldRun, connectClient } from './clients.js';

/** The checks of `/mcp` before any tool is called. */

let app: TestApp;
let workspace: TestWorkspace;
let key: string;
let run: HeldRun;

beforeAll(async () => {
  app = await startTestApp({ ROLES: 'api', PUBLIC_URL: 'https://drover.example' });
  workspace = await app.newWorkspace();
  key = await createKey(workspace);
  run = await claimRun(workspace);
});
afterEach(closeClients);
afterAll(() => app.stop());

const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };

async function post(body: unknown, headers: Record<string, string | undefined> = {}) {
  const all = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...headers,
  };
  const given = Object.entries(all).filter((one): one is [string, string] => one[1] !== undefined);
  const response = await fetch(`${app.url}/mcp`, {
    method: 'POST',
    headers: given,
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const text = await response.text();
  const json = text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
  return { status: response.status, headers: response.headers, body: json };
}

it('a message gets a JSON answer without a session', async () => {
  const { status, headers, body } = await post(PING);
  expect({ status, body }).toEqual({ status: 200, body: { jsonrpc: '2.0', id: 1, result: {} } });
  expect(headers.get('content-type')).toMatch(/^application\/json/);
  expect(headers.get('mcp-session-id')).toBeNull();
});

describe('credentials', () => {
  const hour = 3_600;
  const now = Math.floor(Date.now() / 1_000);
  const secret = 'a secret of the tests that is long enough';

  it.each<[string, () => string | undefined, string]>([
    ['no credentials', () => undefined, 'unauthenticated'],
    ['nonsense', () => 'Bearer nonsense', 'invalid_token'],
    ['an agent token', () => `Bearer ${run.agent.token}`, 'wrong_token_kind'],
    [
      'an expired run token',
      () => `Bearer ${forge(run.token, { secret, payload: { exp: now - hour } })}`,
      'token_expired',
    ],
  ])('a request with %s gets 401', async (_, authorization, code) => {
    const { status, headers, body } = await post(PING, { authorization: authorization() });
    expect({ status, code: body.code }).toEqual({ status: 401, code });
    expect(headers.get('www-authenticate')).toBe('Bearer');
  });

  it('a revoked run token is refused', async () => {
    const held = await claimRun(workspace);
    const { call } = await connectClient('http', app, held.token);
    await call('start');
    await workspace.api.delete(`/runs/${held.runId}/token`);
    await expect(call('complete')).rejects.toThrow('token_revoked');
  });

  it('a user token acts in the workspace of the request', async () => {
    const { userId } = workspace;
    const other = await app.newWorkspace();
    await app.db.owner.query(
      `INSERT INTO workspace_members (workspace_id, user_id, role) VALUES ($1, $2, 'OWNER')`,
      [other.id, userId],
    );
    const sessionId = await aSessionOf(app.db.owner, userId);
    const tokens = app.app.get(TokenService, { strict: false });
    const { token } = tokens.issueUserToken({ userId, sessionId, workspaceId: null });
    const title = 'By its owner';
    const params = { name: 'create_task', arguments: { title, taskType: 'x' } };
    const answer = await post(
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
      { authorization: `Bearer ${token}`, 'x-workspace-id': workspace.id },
    );
    expect(answer.body).toMatchObject({ result: { structuredContent: { data: { title } } } });
  });
});

describe('browsers', () => {
  it.each(['https://evil.example', 'null', 'http://drover.example'])(
    'a page of the origin %s is refused',
    async (origin) => {
      expect((await post(PING, { origin })).status).toBe(403);
    },
  );

  it('a page of the server can call', async () => {
    expect((await post(PING, { origin: 'https://drover.example' })).status).toBe(200);
  });
});

describe('an invalid request', () => {
  it.each<[string, unknown, number]>([
    ['no JSON', '{', 400],
    ['nothing', '', 400],
    ['a number', 7, 400],
    ['no message', { hello: 1 }, 400],
    ['several at a time', [PING, PING], 400],
    ['too large a one', { ...PING, params: { x: 'x'.repeat(1_100_000) } }, 413],
  ])('an invalid request is refused: %s', async (_, body, status) => {
    expect((await post(body)).status).toBe(status);
  });

  it.each<[string, Record<string, string>, number]>([
    ['text', { 'content-type': 'text/plain' }, 415],
    ['an answer in text', { accept: 'text/plain' }, 406],
    ['another protocol', { 'mcp-protocol-version': 'nonsense' }, 400],
  ])('an invalid request is refused: %s', async (_, headers, status) => {
    expect((await post(PING, headers)).status).toBe(status);
  });

  it.each(['GET', 'DELETE'])('the method %s is refused', async (method) => {
    const headers = { authorization: `Bearer ${key}`, accept: 'text/event-stream' };
    const response = await fetch(`${app.url}/mcp`, { method, headers });
    expect({ status: response.status, allow: response.headers.get('allow') }).toEqual({
      status: 405,
      allow: 'POST',
    });
  });

  it('an unknown method gets the protocol error', async () => {
    const { status, body } = await post({ ...PING, method: 'resources/list' });
    expect({ status, body }).toMatchObject({ status: 200, body: { error: { code: -32601 } } });
  });
});

it('calls count against the rate limit of the API', async () => {
  const limited = await startTestApp({ ROLES: 'api', REQUESTS_PER_SECOND_PER_TOKEN: '1' });
  try {
    const { call } = await connectClient(
      'http',
      limited,
      await createKey(await limited.newWorkspace()),
    );
    const calls = Array.from({ length: 20 }, () => call('list_tasks').catch(String));
    expect(JSON.stringify(await Promise.all(calls))).toContain('rate_limited');
  } finally {
    await limited.stop();
  }
});
