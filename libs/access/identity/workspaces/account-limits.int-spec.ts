import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { newId } from '#lib/kernel';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { aMember, aUser, aWorkspace } from '../../../../test/support/factories.js';
import { TokenService } from '../index.js';
import { type IdentityApp, startIdentityApp } from '../testing/app.js';

const LIMIT = 3;
let db: TestDatabase;
let server: IdentityApp;
let userId = '';

beforeAll(async () => {
  db = await createTestDatabase();
  const env = {
    MAX_WORKSPACES_PER_USER: `${LIMIT}`,
    MAX_API_KEYS_PER_USER: `${LIMIT}`,
    OPEN_SIGN_UP: 'true',
  };
  server = await startIdentityApp(db, { env });
});
beforeEach(async () => {
  userId = await aUser(db.owner);
});
afterAll(async () => {
  await server?.close();
  await db?.drop();
});

function apiOf(user = userId) {
  const claims = { userId: user, sessionId: newId(), workspaceId: null };
  return server.api(server.app.get(TokenService).issueUserToken(claims).token);
}

const createWorkspace = (api = apiOf()) =>
  api.post<{ id: string }>('/workspaces', { name: 'One more', slug: `one-${newId()}` });

it('a user creates a limited number of workspaces, and archived ones count', async () => {
  const answers = await Promise.all(Array.from({ length: LIMIT + 2 }, () => createWorkspace()));
  const made = answers.filter(({ status }) => status === 201);
  expect(made).toHaveLength(LIMIT);
  await apiOf().post(`/workspaces/${made[0]?.body.id}/archive`);
  expect(await createWorkspace()).toMatchObject({
    status: 409,
    body: { code: 'workspace_limit', limit: LIMIT },
  });
  expect((await createWorkspace(apiOf(await aUser(db.owner)))).status).toBe(201);
});

it('an operator creates any number of workspaces', async () => {
  await db.owner.query('UPDATE users SET is_operator = true WHERE id = $1', [userId]);
  for (let n = 0; n <= LIMIT; n++) expect((await createWorkspace()).status).toBe(201);
});

it('a user has a limited number of valid API keys in all workspaces', async () => {
  const own = await aWorkspace(db.owner);
  const other = await aWorkspace(db.owner);
  for (const workspaceId of [own, other]) {
    await db.owner.query(
      `INSERT INTO workspace_members (workspace_id, user_id, role) VALUES ($1, $2, 'ADMIN')`,
      [workspaceId, userId],
    );
  }
  const key = { name: 'A program', scopes: ['tasks:read'] };
  const create = (workspaceId: string, api = apiOf()) =>
    api.post<{ id: string }>(`/workspaces/${workspaceId}/api-keys`, key);
  const answers = await Promise.all([own, other, own, other, own].map((id) => create(id)));
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(LIMIT);
  const refused = { status: 409, body: { code: 'api_key_limit', limit: LIMIT } };
  expect(await create(own)).toMatchObject(refused);
  expect((await create(own, apiOf(await aMember(db.owner, own, 'ADMIN')))).status).toBe(201);
  const { rows } = await db.owner.query<{ id: string; workspace_id: string }>(
    'SELECT id, workspace_id FROM api_keys WHERE created_by = $1 LIMIT 1',
    [userId],
  );
  const [{ id, workspace_id: workspaceId }] = rows as [(typeof rows)[number]];
  expect((await apiOf().delete(`/workspaces/${workspaceId}/api-keys/${id}`)).status).toBe(204);
  expect((await create(other)).status).toBe(201);
});

it.each([
  ['a workspace that the user left', 'DELETE FROM workspace_members WHERE workspace_id = $1'],
  ['an archived workspace', 'UPDATE workspaces SET archived_at = now() WHERE id = $1'],
])('API keys of %s do not count', async (_, end) => {
  const [own, other] = [await aWorkspace(db.owner), await aWorkspace(db.owner)];
  for (const workspaceId of [own, other]) {
    await db.owner.query(
      `INSERT INTO workspace_members (workspace_id, user_id, role) VALUES ($1, $2, 'ADMIN')`,
      [workspaceId, userId],
    );
  }
  const create = (workspaceId: string) => {
    const key = { name: 'A program', scopes: ['tasks:read'] };
    return apiOf().post(`/workspaces/${workspaceId}/api-keys`, key);
  };
  for (let n = 0; n < LIMIT; n++) expect((await create(own)).status).toBe(201);
  expect((await create(other)).status).toBe(409);
  await db.owner.query(end, [own]);
  expect((await create(other)).status).toBe(201);
});

it('a common password is refused wherever a user chooses one', async () => {
  await db.owner.query('UPDATE users SET is_operator = true WHERE id = $1', [userId]);
  const password = 'Password2026!';
  const email = `${newId()}@example.test`;
  const user = { email, name: 'A user', password };
  const change = { currentPassword: 'an old one of mine', newPassword: password };
  for (const { status, body } of [
    await server.api().post('/auth/sign-up', user),
    await apiOf().post('/users', user),
    await apiOf().post('/auth/password', change),
  ]) {
    expect({ status, body }).toMatchObject({ status: 400, body: { code: 'validation_failed' } });
    expect(JSON.stringify(body)).toContain('commonest');
  }
});
