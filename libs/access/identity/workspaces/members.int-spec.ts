import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId, type MemberRole } from '#lib/kernel';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { aMember, aUser, aWorkspace } from '../../../../test/support/factories.js';
import { TokenService } from '../index.js';
import { type IdentityApp, startIdentityApp } from '../testing/app.js';

let db: TestDatabase;
let server: IdentityApp;
let other: IdentityApp;

beforeAll(async () => {
  db = await createTestDatabase();
  server = await startIdentityApp(db);
  other = await startIdentityApp(db);
});

afterAll(async () => {
  await server?.close();
  await other?.close();
  await db?.drop();
});

function apiOf(userId: string, on = server) {
  const claims = { userId, sessionId: newId(), workspaceId: null };
  return on.api(on.app.get(TokenService).issueUserToken(claims).token);
}

async function aTeam() {
  const workspaceId = await aWorkspace(db.owner);
  const owner = await aMember(db.owner, workspaceId, 'OWNER');
  return { workspaceId, owner, path: `/workspaces/${workspaceId}/members` };
}

async function anOperatingOwner(workspaceId: string): Promise<string> {
  const userId = await aMember(db.owner, workspaceId, 'OWNER');
  await db.owner.query('UPDATE users SET is_operator = true WHERE id = $1', [userId]);
  return userId;
}

describe('workspaces', () => {
  it('a workspace belongs to its creator', async () => {
    const userId = await aUser(db.owner);
    const made = await apiOf(userId).post<{ id: string; slug: string }>('/workspaces', {
      name: 'Über & Co',
    });
    expect([made.status, made.body.slug]).toEqual([201, expect.stringMatching(/^u-?ber-co-/)]);
    const list = await apiOf(userId).get('/workspaces');
    expect(list.body).toMatchObject({ items: [{ id: made.body.id, role: 'OWNER' }] });
    const one = await apiOf(userId, other).get(`/workspaces/${made.body.id}`);
    expect([one.status, one.headers.get('etag')]).toEqual([200, '"1"']);
  });

  it('each workspace has a unique, well-formed slug', async () => {
    const api = apiOf(await aUser(db.owner));
    expect((await api.post('/workspaces', { name: 'A', slug: 'taken' })).status).toBe(201);
    const again = await api.post('/workspaces', { name: 'B', slug: 'taken' });
    expect([again.status, again.body]).toMatchObject([409, { code: 'slug_taken' }]);
    expect((await api.post('/workspaces', { name: 'B', slug: 'No Good' })).status).toBe(400);
  });

  it('admins change workspaces under If-Match', async () => {
    const { workspaceId, owner } = await aTeam();
    const member = await aMember(db.owner, workspaceId, 'MEMBER');
    const path = `/workspaces/${workspaceId}`;
    expect((await apiOf(member).patch(path, { name: 'B' })).status).toBe(403);
    const renamed = await apiOf(owner).patch(path, { name: 'B' }, { 'if-match': '"1"' });
    expect(renamed.body).toMatchObject({ name: 'B', version: 2 });
    const opened = await apiOf(owner).patch(path, { network: 'host' });
    expect(opened.body).toMatchObject({ name: 'B', network: 'host' });
    expect((await apiOf(member).patch(path, { network: 'none' })).status).toBe(403);
    const allowedHosts = ['registry.example.com', '*.example.com:8443'];
    const listed = await apiOf(owner).patch(path, { network: 'allow', allowedHosts });
    expect(listed.body).toMatchObject({ network: 'allow', allowedHosts });
    const wrong = await apiOf(owner).patch(path, { allowedHosts: ['http://a.b'] });
    expect(wrong).toMatchObject({ status: 400, body: { errors: [{ field: 'allowedHosts' }] } });
    const allowedModels = ['claude-*', 'openai/gpt-5.5@latest'];
    expect(listed.body).toMatchObject({ allowedModels: ['*'] });
    const limited = await apiOf(owner).patch(path, { allowedModels });
    expect(limited.body).toMatchObject({ allowedModels });
    expect((await apiOf(member).patch(path, { allowedModels })).status).toBe(403);
    const stale = await apiOf(owner).patch(path, { name: 'C' }, { 'if-match': '"1"' });
    expect(stale.status).toBe(412);
  });
});

describe('members', () => {
  it('operators add members once, on every server', async () => {
    const { workspaceId, path } = await aTeam();
    const owner = await anOperatingOwner(workspaceId);
    const userId = await aUser(db.owner);
    expect((await apiOf(userId, other).get(path)).status).toBe(404);
    const added = await apiOf(owner).post(path, { userId, role: 'VIEWER' });
    expect([added.status, added.body]).toMatchObject([201, { userId, role: 'VIEWER', version: 1 }]);
    expect((await apiOf(userId).get(path)).status).toBe(200);
    const again = await apiOf(owner).post(path, { userId, role: 'ADMIN' });
    expect([again.status, again.body]).toMatchObject([409, { code: 'already_member' }]);
  });

  it.each<[string, object, number]>([
    ['nobody', { role: 'VIEWER' }, 400],
    ['an address', { role: 'VIEWER', email: 'a@example.com' }, 400],
    ['an unknown role', { role: 'BOSS', userId: newId() }, 400],
    ['an unknown user', { role: 'VIEWER', userId: newId() }, 404],
  ])('members are not added for %s', async (_, body, status) => {
    const { owner, path } = await aTeam();
    expect((await apiOf(owner).post(path, body)).status).toBe(status);
  });

  it('other users cannot add members without an invitation, even if they share another workspace', async () => {
    const { owner, path } = await aTeam();
    const { workspaceId } = await aTeam();
    const userId = await aMember(db.owner, workspaceId, 'MEMBER');
    await db.owner.query(
      `INSERT INTO workspace_members (workspace_id, user_id, role) VALUES ($1, $2, 'MEMBER')`,
      [workspaceId, owner],
    );
    const added = await apiOf(owner).post(path, { userId, role: 'VIEWER' });
    expect([added.status, added.body]).toMatchObject([404, { code: 'user_not_found' }]);
  });

  it('only an OWNER makes an OWNER', async () => {
    const { workspaceId, path } = await aTeam();
    const admin = await aMember(db.owner, workspaceId, 'ADMIN');
    const member = await aMember(db.owner, workspaceId, 'MEMBER');
    const promote = (role: MemberRole) => apiOf(admin).patch(`${path}/${member}`, { role });
    expect((await promote('OWNER')).status).toBe(403);
    expect((await promote('ADMIN')).status).toBe(200);
    const stranger = await aUser(db.owner);
    const added = await apiOf(admin).post(path, { userId: stranger, role: 'OWNER' });
    expect(added.status).toBe(403);
  });

  it('members can leave, except the last OWNER who is not disabled', async () => {
    const { workspaceId, owner, path } = await aTeam();
    const viewer = await aMember(db.owner, workspaceId, 'VIEWER');
    expect((await apiOf(viewer).delete(`${path}/${owner}`)).status).toBe(403);
    expect((await apiOf(viewer).delete(`${path}/${viewer}`)).status).toBe(200);
    expect((await apiOf(viewer).get(path)).status).toBe(404);
    const disabled = await aMember(db.owner, workspaceId, 'OWNER');
    await db.owner.query('UPDATE users SET disabled_at = now() WHERE id = $1', [disabled]);
    for (const answer of [
      await apiOf(owner).delete(`${path}/${owner}`),
      await apiOf(owner).patch(`${path}/${owner}`, { role: 'ADMIN' }),
    ]) {
      expect([answer.status, answer.body]).toMatchObject([409, { code: 'last_owner' }]);
    }
    expect((await apiOf(owner).delete(`${path}/${disabled}`)).status).toBe(200);
  });

  it('one OWNER stays when two remove each other at once', async () => {
    for (let round = 0; round < 5; round++) {
      const { workspaceId, owner, path } = await aTeam();
      const second = await aMember(db.owner, workspaceId, 'OWNER');
      const answers = await Promise.all([
        apiOf(owner).delete(`${path}/${second}`),
        apiOf(second, other).delete(`${path}/${owner}`),
      ]);
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      const { rows } = await db.owner.query(
        `SELECT 1 FROM workspace_members WHERE workspace_id = $1 AND role = 'OWNER'`,
        [workspaceId],
      );
      expect(rows).toHaveLength(1);
    }
  });

  it('members of another workspace are invisible', async () => {
    const { owner, path } = await aTeam();
    const foreign = await aTeam();
    const answers = [
      await apiOf(owner).patch(`${path}/${foreign.owner}`, { role: 'VIEWER' }),
      await apiOf(owner).delete(`${path}/${foreign.owner}`),
      await apiOf(owner).get(foreign.path),
      await apiOf(owner).post(foreign.path, { userId: owner, role: 'OWNER' }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
    const list = await apiOf(foreign.owner).get<{ items: object[] }>(foreign.path);
    expect(list.body.items).toMatchObject([{ userId: foreign.owner, role: 'OWNER' }]);
  });

  it('members change under If-Match and come in pages', async () => {
    const { workspaceId, owner, path } = await aTeam();
    const member = await aMember(db.owner, workspaceId, 'MEMBER');
    const change = { role: 'ADMIN' };
    const stale = await apiOf(owner).patch(`${path}/${member}`, change, { 'if-match': '"7"' });
    expect(stale.status).toBe(412);
    const page = await apiOf(owner).get<{ items: object[]; nextCursor: string }>(`${path}?limit=1`);
    const rest = await apiOf(owner).get<{ items: object[]; nextCursor: null }>(
      `${path}?limit=1&cursor=${page.body.nextCursor}`,
    );
    expect([page.body.items, rest.body.items]).toMatchObject([
      [{ userId: owner }],
      [{ userId: member }],
    ]);
    expect(rest.body.nextCursor).toBeNull();
  });
});
