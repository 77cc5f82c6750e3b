import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId, type MemberRole } from '#lib/kernel';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { aMember, anAgent, aUser, aWorkspace } from '../../../../test/support/factories.js';
import { waitFor } from '../../../../test/support/wait-for.js';
import { TokenService } from '../index.js';
import { MEMBER_ROLES } from '../domain/roles.js';
import { SCOPES } from '../domain/scopes.js';
import { type IdentityApp, startIdentityApp } from '../testing/app.js';

let db: TestDatabase;
let server: IdentityApp;
let tokens: TokenService;
let workspaceId: string;
const members = new Map<MemberRole, string>();

beforeAll(async () => {
  db = await createTestDatabase();
  server = await startIdentityApp(db);
  tokens = server.app.get(TokenService);
  workspaceId = await aWorkspace(db.owner);
  for (const role of MEMBER_ROLES) members.set(role, await aMember(db.owner, workspaceId, role));
});

afterAll(async () => {
  await server?.close();
  await db?.drop();
});

function userToken(role: MemberRole, forWorkspace: string | null = null): string {
  const userId = members.get(role) ?? '';
  return tokens.issueUserToken({ userId, sessionId: newId(), workspaceId: forWorkspace }).token;
}

function agentToken(): string {
  return tokens.issueAgentToken({ workspaceId, agentId: newId(), tokenVersion: 1 }).token;
}

function runToken(): string {
  const [agentId, taskId, runId] = [newId(), newId(), newId()];
  return tokens.issueRunToken({ workspaceId, agentId, taskId, runId });
}

interface NewKey {
  id: string;
  key: string;
}

async function apiKey(body: object, role: MemberRole = 'OWNER'): Promise<NewKey> {
  const path = `/workspaces/${workspaceId}/api-keys`;
  const made = await server.api(userToken(role)).post<NewKey>(path, { name: 'a key', ...body });
  expect(made.status).toBe(201);
  return made.body;
}

async function ask(path: string, token?: string, workspace?: string) {
  const { status, body, headers } = await server.api(token, workspace).get<{ code?: string }>(path);
  return { status, code: body.code, body, challenge: headers.get('www-authenticate') };
}

const PROJECTS = ['projects:read', 'projects:write'];

function withoutNulls(body: object): object {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
}

describe('a route', () => {
  it('a public route is open, whatever is sent', async () => {
    expect((await ask('/probe/public')).status).toBe(200);
    expect((await ask('/probe/public', 'nonsense')).status).toBe(200);
  });

  it.each<[string, () => string | undefined, string]>([
    ['nothing', () => undefined, 'unauthenticated'],
    ['nonsense', () => 'nonsense', 'invalid_token'],
    ['a key that nobody made', () => `drv_${'0'.repeat(8)}_${'0'.repeat(48)}`, 'invalid_token'],
    ['a malformed key', () => 'drv_x', 'invalid_token'],
  ])('a route asks for credentials when %s is sent', async (_, token, code) => {
    expect(await ask('/probe/any', token())).toMatchObject({
      status: 401,
      code,
      challenge: 'Bearer',
    });
  });

  const kinds = ['user', 'agent', 'run', 'api_key'] as const;
  it.each(kinds)('a route for agents only answers a %s accordingly', async (kind) => {
    const token = await tokenOf(kind);
    const expected = kind === 'agent' ? { status: 200 } : { status: 401, code: 'wrong_token_kind' };
    expect(await ask('/probe/agent', token, workspaceId)).toMatchObject(expected);
  });

  it.each(kinds)('a route for all kinds accepts a %s', async (kind) => {
    const answer = await ask('/probe/any', await tokenOf(kind), workspaceId);
    expect(answer).toMatchObject({ status: 200, body: { kind, workspaceId } });
  });

  it.each(kinds)('a route names the caller to a %s, whatever its permissions', async (kind) => {
    const token = kind === 'api_key' ? await keyOf(['projects:write']) : await tokenOf(kind);
    const id = expect.any(String);
    const named = {
      user: { role: 'OWNER', userId: members.get('OWNER') },
      agent: { agentId: id },
      run: { agentId: id, taskId: id, runId: id },
      api_key: { role: 'MEMBER', userId: id, apiKeyId: id, scopes: PROJECTS },
    };
    const { status, body } = await ask('/auth/caller', token, workspaceId);
    expect(status).toBe(200);
    expect(withoutNulls(body)).toEqual({ kind, workspaceId, ...named[kind] });
  });

  it.each(kinds)('an account route is for users and refuses a %s', async (kind) => {
    const status = kind === 'user' ? 200 : 401;
    expect((await ask('/probe/account', await tokenOf(kind))).status).toBe(status);
  });

  async function tokenOf(kind: (typeof kinds)[number]): Promise<string> {
    if (kind === 'user') return userToken('OWNER');
    if (kind === 'agent') return agentToken();
    if (kind === 'run') return runToken();
    return keyOf(['tasks:read']);
  }

  async function keyOf(scopes: string[]): Promise<string> {
    return (await apiKey({ scopes })).key;
  }

  const pairs = MEMBER_ROLES.flatMap((role, has) =>
    MEMBER_ROLES.map((needs, least) => ({ role, needs, status: has >= least ? 200 : 403 })),
  );
  it.each(pairs)(
    'a route for $needs answers $role with $status',
    async ({ role, needs, status }) => {
      const path = `/probe/role/${needs.toLowerCase()}`;
      expect((await ask(path, userToken(role), workspaceId)).status).toBe(status);
    },
  );
});

describe('the workspace of a request', () => {
  it('the only workspace of a user is the default', async () => {
    const { status, body } = await ask('/probe/any', userToken('OWNER'));
    expect([status, body]).toMatchObject([200, { workspaceId }]);
  });

  it('a user of several workspaces or of none must name one', async () => {
    const several = await aMember(db.owner, workspaceId);
    const member =
      'INSERT INTO workspace_members (workspace_id, user_id, role) VALUES ($1, $2, $3)';
    await db.owner.query(member, [await aWorkspace(db.owner), several, 'VIEWER']);
    for (const userId of [several, await aUser(db.owner)]) {
      const { token } = tokens.issueUserToken({ userId, sessionId: newId(), workspaceId: null });
      expect(await ask('/probe/any', token)).toMatchObject({
        status: 400,
        code: 'workspace_required',
      });
    }
  });

  it('the workspace of a token cannot be changed by a header', async () => {
    const token = userToken('OWNER', workspaceId);
    expect((await ask('/probe/any', token)).status).toBe(200);
    expect((await ask('/probe/any', token, workspaceId.toUpperCase())).status).toBe(200);
    expect((await ask('/probe/any', token, newId())).code).toBe('workspace_not_found');
  });

  it('the user must be a member of the workspace', async () => {
    const foreign = await aWorkspace(db.owner);
    for (const id of [foreign, newId()]) {
      expect(await ask('/probe/any', userToken('OWNER'), id)).toMatchObject({
        status: 404,
        code: 'workspace_not_found',
      });
      expect((await ask('/probe/any', userToken('OWNER', id))).status).toBe(404);
      expect((await ask(`/probe/in/${id}`, userToken('OWNER'))).status).toBe(404);
      expect((await ask(`/probe/in/${id}`, agentToken())).status).toBe(404);
      expect((await ask('/probe/any', agentToken(), id)).status).toBe(404);
    }
  });

  it('the header must match the workspace of the path', async () => {
    const path = `/probe/in/${workspaceId}`;
    expect((await ask(path, userToken('OWNER'))).status).toBe(200);
    expect((await ask(path, userToken('OWNER'), workspaceId)).status).toBe(200);
    expect((await ask(path, userToken('OWNER'), newId())).status).toBe(404);
  });

  it('a workspace that is no id is refused', async () => {
    expect((await ask('/probe/any', userToken('OWNER'), 'x')).code).toBe('malformed_header');
    expect((await ask('/probe/in/x', userToken('OWNER'))).code).toBe('validation_failed');
  });
});

describe('an API key', () => {
  it('an API key is shown once and stored as a hash', async () => {
    const { key, id } = await apiKey({ scopes: ['tasks:read'] });
    const list = await server
      .api(userToken('ADMIN'))
      .get<{ items: { id: string }[] }>(`/workspaces/${workspaceId}/api-keys?limit=200`);
    expect(list.body.items.map((item) => item.id)).toContain(id);
    expect(JSON.stringify(list.body)).not.toContain(key.slice(-48));
    const { rows } = await db.owner.query<{ all: string }>(
      'SELECT string_agg(k::text, $1) AS all FROM api_keys k',
      [' '],
    );
    expect(rows[0]?.all).not.toContain(key.slice(-48));
  });

  it('an API key can do what its scopes and its role allow', async () => {
    const reader = await apiKey({ scopes: ['tasks:read'], role: 'MEMBER' });
    const viewer = await apiKey({ scopes: [...SCOPES], role: 'VIEWER' });
    expect((await ask('/probe/role/viewer', reader.key)).status).toBe(200);
    expect(await ask('/probe/role/member', reader.key)).toMatchObject({
      status: 403,
      code: 'insufficient_scope',
    });
    expect(await ask('/probe/role/member', viewer.key)).toMatchObject({
      status: 403,
      code: 'forbidden',
    });
  });

  it('an API key gains nothing by adding or promoting an accomplice', async () => {
    const path = `/workspaces/${workspaceId}/members`;
    const admin = await apiKey({ scopes: ['workspace:admin', 'tasks:read'], role: 'ADMIN' });
    const viewer = await aMember(db.owner, workspaceId, 'VIEWER');
    const accomplice = { email: 'accomplice@example.test', role: 'ADMIN' };
    const invitations = `/workspaces/${workspaceId}/invitations`;
    const forbidden = { status: 403, body: { code: 'forbidden' } };
    const limited = server.api(admin.key);
    expect(await limited.post(invitations, accomplice)).toMatchObject(forbidden);
    expect(await limited.patch(`${path}/${viewer}`, { role: 'ADMIN' })).toMatchObject(forbidden);
    const whole = await apiKey({ scopes: [...SCOPES], role: 'ADMIN' });
    expect((await server.api(whole.key).post(invitations, accomplice)).status).toBe(201);
    const raised = await server.api(whole.key).patch(`${path}/${viewer}`, { role: 'ADMIN' });
    expect(raised).toMatchObject({ status: 200, body: { role: 'ADMIN' } });
    expect((await limited.patch(`${path}/${viewer}`, { role: 'VIEWER' })).status).toBe(200);
    expect((await limited.delete(`${path}/${viewer}`)).status).toBe(200);
  });

  it("an API key has at most its creator's permissions, and ends with the membership", async () => {
    const maker = await aMember(db.owner, workspaceId, 'ADMIN');
    const sessionId = newId();
    const token = tokens.issueUserToken({ userId: maker, sessionId, workspaceId }).token;
    const path = `/workspaces/${workspaceId}/api-keys`;
    const made = await server
      .api(token)
      .post<NewKey>(path, { name: 'k', scopes: [...SCOPES], role: 'ADMIN' });
    const { key } = made.body;
    expect((await ask('/probe/role/admin', key)).status).toBe(200);
    const owner = server.api(userToken('OWNER'));
    const member = `/workspaces/${workspaceId}/members/${maker}`;
    await owner.patch(member, { role: 'MEMBER' });
    expect((await ask('/probe/role/admin', key)).status).toBe(403);
    expect((await ask('/probe/role/member', key)).status).toBe(200);
    await owner.delete(member);
    expect((await ask('/probe/role/viewer', key)).code).toBe('token_revoked');
  });

  it('a revoked API key is refused', async () => {
    const { key, id } = await apiKey({ scopes: ['tasks:read'] });
    expect((await ask('/probe/any', key)).status).toBe(200);
    const path = `/workspaces/${workspaceId}/api-keys/${id}`;
    expect((await server.api(userToken('ADMIN')).delete(path)).status).toBe(204);
    expect((await ask('/probe/any', key)).code).toBe('token_revoked');
    expect((await server.api(userToken('ADMIN')).delete(path)).status).toBe(204);
    const absent = `/workspaces/${workspaceId}/api-keys/${newId()}`;
    expect((await server.api(userToken('ADMIN')).delete(absent)).status).toBe(404);
  });

  it('an API key expires on time', async () => {
    const { key, id } = await apiKey({ scopes: ['tasks:read'] });
    await db.owner.query(`UPDATE api_keys SET expires_at = now() - interval '1 s' WHERE id = $1`, [
      id,
    ]);
    expect((await ask('/probe/any', key)).code).toBe('token_expired');
  });

  it('an API key creates no other keys, and only admins create keys', async () => {
    const { key } = await apiKey({ scopes: [...SCOPES], role: 'ADMIN' });
    const path = `/workspaces/${workspaceId}/api-keys`;
    const body = { name: 'k', scopes: ['tasks:read'] };
    expect((await server.api(key).post(path, body)).status).toBe(401);
    expect((await server.api(userToken('MEMBER')).post(path, body)).status).toBe(403);
    const unknown = { name: 'k', scopes: ['everything'], role: 'OWNER', expiresInSeconds: 0.5 };
    const bad = await server
      .api(userToken('OWNER'))
      .post<{ errors: { field: string }[] }>(path, unknown);
    expect(bad.body.errors.map(({ field }) => field).sort()).toEqual([
      'expiresInSeconds',
      'role',
      'scopes',
    ]);
  });

  it('the last use of an API key is stored at the latest when the server ends', async () => {
    const second = await startIdentityApp(db);
    const { key, id } = await apiKey({ scopes: ['tasks:read'] });
    await second.api(key).get('/probe/any');
    await second.close();
    await waitFor('the stamp', async () => {
      const { rows } = await db.owner.query<{ used: boolean }>(
        'SELECT last_used_at IS NOT NULL AS used FROM api_keys WHERE id = $1',
        [id],
      );
      return rows[0]?.used;
    });
  });
});

describe('an archived workspace', () => {
  it('an archived workspace admits nobody with any token', async () => {
    const own = await aWorkspace(db.owner);
    const userId = await aMember(db.owner, own);
    const agentId = await anAgent(db.owner, own);
    const sessionId = newId();
    const user = tokens.issueUserToken({ userId, sessionId, workspaceId: own }).token;
    const agent = tokens.issueAgentToken({ workspaceId: own, agentId, tokenVersion: 1 }).token;
    const held = { workspaceId: own, agentId, taskId: newId(), runId: newId() };
    const run = tokens.issueRunToken(held);
    for (const token of [user, agent, run])
      expect((await ask('/probe/any', token)).status).toBe(200);
    const archived = await server.api(user).post(`/workspaces/${own}/archive`);
    expect(archived.status).toBe(200);
    expect((await ask('/probe/any', user)).status).toBe(404);
    expect((await ask('/probe/any', agent)).code).toBe('token_revoked');
    expect((await ask('/probe/any', run)).code).toBe('token_revoked');
  });
});
