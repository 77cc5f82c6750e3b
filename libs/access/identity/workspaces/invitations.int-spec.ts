import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '#lib/kernel';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { aMember, anAgent, aUser, aWorkspace } from '../../../../test/support/factories.js';
import { TokenService } from '../index.js';
import { type IdentityApp, startIdentityApp } from '../testing/app.js';

let db: TestDatabase;
let server: IdentityApp;
let other: IdentityApp;

beforeAll(async () => {
  db = await createTestDatabase();
  server = await startIdentityApp(db);
  other = await startIdentityApp(db, { env: { OPEN_SIGN_UP: 'true' } });
});

afterAll(async () => {
  await server?.close();
  await other?.close();
  await db?.drop();
});

interface Invitation {
  id: string;
  role: string;
  expiresAt: string;
}

interface Page {
  items: Invitation[];
  nextCursor: string | null;
}

function apiOf(userId: string, on = server) {
  const claims = { userId, sessionId: newId(), workspaceId: null };
  return on.api(on.app.get(TokenService).issueUserToken(claims).token);
}

async function aTeam() {
  const workspaceId = await aWorkspace(db.owner);
  const owner = await aMember(db.owner, workspaceId, 'OWNER');
  const workspace = `/workspaces/${workspaceId}`;
  return { workspaceId, owner, workspace, path: `${workspace}/invitations` };
}

/** A user in no workspace. */
async function aPerson(): Promise<{ userId: string; email: string }> {
  const email = `${newId()}@example.test`;
  return { userId: await aUser(db.owner, { email }), email };
}

async function anInvitation(role = 'MEMBER') {
  const [team, person] = [await aTeam(), await aPerson()];
  const { body } = await apiOf(team.owner).post<Invitation>(team.path, {
    email: person.email,
    role,
  });
  return { ...team, ...person, id: body.id };
}

const NOT_FOUND = { status: 404, body: { code: 'invitation_not_found' } };

describe('an invitation', () => {
  it('the answer to an invitation does not depend on the account', async () => {
    const { owner, path } = await aTeam();
    const [somebody, nobody] = [(await aPerson()).email, `${newId()}@example.test`];
    const answers: object[] = [];
    for (const email of [somebody, nobody, somebody, nobody]) {
      const { status, body } = await apiOf(owner).post(path, { email, role: 'VIEWER' });
      const { id, createdAt, expiresAt, ...rest } = body as Record<string, string>;
      expect(Date.parse(String(expiresAt)) - Date.parse(String(createdAt))).toBe(14 * 86_400_000);
      expect({ ...rest, id, status }).toMatchObject({ email, role: 'VIEWER', invitedBy: owner });
      answers.push({ status, fields: Object.keys(body as object) });
    }
    expect(answers).toEqual(answers.map(() => answers[0]));
    expect((await apiOf(owner).get<Page>(path)).body.items).toHaveLength(2);
  });

  it('an invitation makes a member only when accepted, with its role, on every server', async () => {
    const { workspaceId, workspace, owner, path, email, userId } = await anInvitation('VIEWER');
    const again = await apiOf(owner).post(path, { email: email.toUpperCase(), role: 'ADMIN' });
    expect(again.status).toBe(201);
    expect((await apiOf(userId, other).get(workspace)).status).toBe(404);
    const mine = await apiOf(userId).get<Page>('/invitations');
    expect(mine.body.items).toMatchObject([
      { workspaceId, role: 'ADMIN', workspaceName: 'A workspace' },
    ]);
    const accept = `/invitations/${mine.body.items[0]?.id}/accept`;
    const accepted = await apiOf(userId).post(accept);
    expect(accepted).toMatchObject({ status: 200, body: { workspaceId, role: 'ADMIN' } });
    expect((await apiOf(userId).get(`${workspace}/members`)).status).toBe(200);
    expect(await apiOf(userId).post(accept)).toMatchObject(NOT_FOUND);
    expect((await apiOf(owner).get<Page>(path)).body.items).toEqual([]);
    const third = await apiOf(owner).post(path, { email, role: 'VIEWER' });
    expect(third).toMatchObject({ status: 409, body: { code: 'already_member' } });
  });

  it('one of two concurrent acceptances succeeds', async () => {
    const { id, userId } = await anInvitation();
    const accept = () => apiOf(userId).post(`/invitations/${id}/accept`);
    const answers = await Promise.all([accept(), accept(), accept()]);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  it('an invitation can be declined and revoked', async () => {
    const first = await anInvitation();
    const api = apiOf(first.userId);
    expect((await api.post(`/invitations/${first.id}/decline`)).status).toBe(204);
    expect(await api.post(`/invitations/${first.id}/accept`)).toMatchObject(NOT_FOUND);
    const second = await anInvitation();
    const revoke = () => apiOf(second.owner).delete(`${second.path}/${second.id}`);
    expect((await revoke()).status).toBe(204);
    expect(await revoke()).toMatchObject(NOT_FOUND);
    expect(await apiOf(second.userId).post(`/invitations/${second.id}/accept`)).toMatchObject(
      NOT_FOUND,
    );
    expect((await apiOf(second.userId).get<Page>('/invitations')).body.items).toEqual([]);
  });

  it('an invitation is only for its address and its workspace', async () => {
    const { id, owner, workspaceId } = await anInvitation();
    const stranger = apiOf((await aPerson()).userId);
    for (const answer of [
      await stranger.post(`/invitations/${id}/accept`),
      await stranger.post(`/invitations/${id}/decline`),
      await apiOf((await aTeam()).owner).delete(`/workspaces/${workspaceId}/invitations/${id}`),
      await apiOf(owner).post(`/invitations/${id}/accept`),
    ]) {
      expect(answer.status).toBe(404);
    }
    expect((await stranger.get<Page>('/invitations')).body.items).toEqual([]);
  });
});

describe('an invitation ends', () => {
  const ENDS: [string, (made: Awaited<ReturnType<typeof anInvitation>>) => Promise<unknown>][] = [
    [
      'after its time',
      ({ id }) =>
        db.owner.query(`UPDATE workspace_invitations SET expires_at = now() WHERE id = $1`, [id]),
    ],
    ['with the workspace', ({ owner, workspace }) => apiOf(owner).post(`${workspace}/archive`)],
    [
      'with the inviter’s membership',
      async ({ owner, workspace, workspaceId }) => {
        const second = await aMember(db.owner, workspaceId, 'OWNER');
        const removed = await apiOf(second).delete(`${workspace}/members/${owner}`);
        expect(removed.status).toBe(200);
      },
    ],
    [
      'with the inviter’s account',
      ({ owner }) => db.owner.query('UPDATE users SET disabled_at = now() WHERE id = $1', [owner]),
    ],
    [
      'with the role that let somebody invite',
      ({ owner }) =>
        db.owner.query(`UPDATE workspace_members SET role = 'ADMIN' WHERE user_id = $1`, [owner]),
    ],
  ];

  it.each(ENDS)('an invitation ends: %s', async (_, end) => {
    const made = await anInvitation('OWNER');
    const api = apiOf(made.userId);
    expect((await api.get<Page>('/invitations')).body.items).toHaveLength(1);
    await end(made);
    expect((await api.get<Page>('/invitations')).body.items).toEqual([]);
    expect(await api.post(`/invitations/${made.id}/accept`)).toMatchObject(NOT_FOUND);
  });
});

describe('an invitation of a user who became a member in another way', () => {
  it('the invitation ends when the user becomes a member', async () => {
    const { owner, workspace, path, userId, id } = await anInvitation();
    await db.owner.query('UPDATE users SET is_operator = true WHERE id = $1', [owner]);
    const body = { userId, role: 'VIEWER' };
    expect((await apiOf(owner).post(`${workspace}/members`, body)).status).toBe(201);
    expect((await apiOf(owner).get<Page>(path)).body.items).toEqual([]);
    expect(await apiOf(userId).post(`/invitations/${id}/accept`)).toMatchObject(NOT_FOUND);
  });

  it('the invitation ends with the membership at the latest', async () => {
    const { workspaceId, owner, workspace, userId, id } = await anInvitation();
    const others = await anInvitation();
    const member = `INSERT INTO workspace_members (workspace_id, user_id, role) VALUES ($1, $2, 'VIEWER')`;
    await db.owner.query(member, [workspaceId, userId]);
    const removed = await apiOf(owner).delete(`${workspace}/members/${userId}`);
    expect(removed.status).toBe(200);
    expect(await apiOf(userId).post(`/invitations/${id}/accept`)).toMatchObject(NOT_FOUND);
    const accepted = await apiOf(others.userId).post(`/invitations/${others.id}/accept`);
    expect(accepted.status).toBe(200);
  });
});

describe('inviting', () => {
  it.each([
    ['VIEWER', 'VIEWER', 403],
    ['MEMBER', 'VIEWER', 403],
    ['ADMIN', 'ADMIN', 201],
    ['ADMIN', 'OWNER', 403],
    ['OWNER', 'OWNER', 201],
  ])('inviting as %s to be %s is answered with %d', async (by, role, status) => {
    const { workspaceId, path } = await aTeam();
    const api = apiOf(await aMember(db.owner, workspaceId, by));
    expect((await api.post(path, { email: 'a@example.test', role })).status).toBe(status);
    expect((await api.get(path)).status).toBe(by === 'ADMIN' || by === 'OWNER' ? 200 : 403);
  });
});

// Anybody could have claimed the address.
it('an address that only a password proves sees no invitation, and can accept it by its id', async () => {
  const { id, userId } = await anInvitation();
  await db.owner.query(`UPDATE users SET password_hash = 'x' WHERE id = $1`, [userId]);
  const shown = async (on: IdentityApp) =>
    (await apiOf(userId, on).get<Page>('/invitations')).body.items.length;
  expect([await shown(server), await shown(other)]).toEqual([1, 0]);
  expect((await apiOf(userId, other).post(`/invitations/${id}/accept`)).status).toBe(200);
});

it('invitations come in pages', async () => {
  const { owner, path } = await aTeam();
  const emails = ['a', 'b', 'c'].map((name) => `${name}-${newId()}@example.test`);
  for (const email of emails) await apiOf(owner).post(path, { email, role: 'MEMBER' });
  const first = await apiOf(owner).get<Page>(`${path}?limit=2`);
  const rest = await apiOf(owner).get<Page>(`${path}?limit=2&cursor=${first.body.nextCursor}`);
  expect([first.body.items.length, rest.body.items.length, rest.body.nextCursor]).toEqual([
    2,
    1,
    null,
  ]);
});

describe('the link of an invitation', () => {
  const PASSWORD = 'a password that is long enough';
  const aLink = async (email?: string, role = 'VIEWER') => {
    const team = await aTeam();
    const { body } = await apiOf(team.owner).post<{ id: string; link: string }>(team.path, {
      role,
      ...(email !== undefined && { email }),
    });
    expect(body.link).toMatch(new RegExp(`^${server.url}/invitation#dri_`));
    return { ...team, id: body.id, token: body.link.split('#')[1] ?? '' };
  };
  const signUp = (body: object) => server.api().post('/auth/invitation/sign-up', body);

  it('a link leads a person through creating an account, once, and is stored as a hash', async () => {
    const email = `${newId()}@example.test`;
    const { token, workspace, path, owner } = await aLink(email);
    const shown = await server.api().post('/auth/invitation', { token });
    expect(shown.body).toMatchObject({ email, role: 'VIEWER', workspaceName: 'A workspace' });
    const person = { token, name: 'Ann', email: 'other@example.test', password: PASSWORD };
    const weak = await signUp({ ...person, password: 'password1234' });
    expect(weak).toMatchObject({ status: 400 });
    const answers = await Promise.all([signUp(person), signUp(person)]);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const made = answers.find(({ status }) => status === 200)?.body ?? {};
    const hers = server.api(String(made['accessToken']));
    const me = await hers.get<{ user: object; memberships: object[] }>('/auth/me');
    expect(me.body).toMatchObject({
      user: { email, name: 'Ann', emailVerified: false, isOperator: false },
      memberships: [{ role: 'VIEWER' }],
    });
    expect((await hers.get(`${workspace}/members`)).status).toBe(200);
    expect(await signUp(person)).toMatchObject(NOT_FOUND);
    expect((await apiOf(owner).get<Page>(path)).body.items).toEqual([]);
    const again = await apiOf(owner).post<{ link: string }>(path, { role: 'VIEWER' });
    const secret = again.body.link.split('#')[1] ?? '';
    const { rows } = await db.owner.query<{ row: string }>(
      'SELECT i::text AS row FROM workspace_invitations i WHERE token_hash IS NOT NULL',
    );
    expect(rows.some(({ row }) => row.includes(secret))).toBe(false);
    expect(JSON.stringify((await apiOf(owner).get(path)).body)).not.toContain(secret);
  });

  it('a link without an address admits anybody, and one with an address only its user', async () => {
    const open = await aLink();
    const accept = (userId: string, token: string) =>
      apiOf(userId).post('/invitations/accept', { token });
    expect(await signUp({ token: open.token, name: 'Ann', password: PASSWORD })).toMatchObject({
      status: 400,
      body: { errors: [{ field: 'email' }] },
    });
    const person = await aPerson();
    const taken = { token: open.token, name: 'Ann', email: person.email, password: PASSWORD };
    expect(await signUp(taken)).toMatchObject({ status: 409, body: { code: 'email_taken' } });
    expect(await accept(open.owner, open.token)).toMatchObject({ status: 409 });
    expect(await accept(person.userId, open.token)).toMatchObject({
      status: 200,
      body: { workspaceId: open.workspaceId, role: 'VIEWER' },
    });
    expect(await accept((await aPerson()).userId, open.token)).toMatchObject(NOT_FOUND);
    const bound = await aLink(person.email);
    expect(await accept((await aPerson()).userId, bound.token)).toMatchObject(NOT_FOUND);
    expect((await accept(person.userId, bound.token)).status).toBe(200);
  });

  it.each<[string, (made: Awaited<ReturnType<typeof aLink>>) => Promise<unknown>]>([
    [
      'after its time',
      ({ id }) =>
        db.owner.query('UPDATE workspace_invitations SET expires_at = now() WHERE id = $1', [id]),
    ],
    ['when it is revoked', ({ owner, path, id }) => apiOf(owner).delete(`${path}/${id}`)],
    [
      'with the inviter’s account',
      ({ owner }) => db.owner.query('UPDATE users SET disabled_at = now() WHERE id = $1', [owner]),
    ],
  ])('a link ends %s', async (_, end) => {
    const made = await aLink(`${newId()}@example.test`);
    await end(made);
    const body = { token: made.token, name: 'Ann', password: PASSWORD };
    expect(await server.api().post('/auth/invitation', { token: body.token })).toMatchObject(
      NOT_FOUND,
    );
    expect(await signUp(body)).toMatchObject(NOT_FOUND);
  });

  it('an address that a link did not prove sees no invitations of others to it', async () => {
    const email = `${newId()}@example.test`;
    const { token, workspaceId } = await aLink(email, 'ADMIN');
    const { body } = await signUp({ token, name: 'Ann', password: PASSWORD });
    await aLink(email);
    const hers = server.api(String(body['accessToken']));
    expect((await hers.get<Page>('/invitations')).body.items).toEqual([]);
    const operator = await aUser(db.owner);
    await db.owner.query('UPDATE users SET is_operator = true WHERE id = $1', [operator]);
    const path = `/users/${String(body['userId'])}`;
    await db.owner.query(
      `INSERT INTO user_factors (user_id, sealed, confirmed_at, last_step) VALUES ($1, 'x', now(), 1)`,
      [body['userId']],
    );
    const made = await hers.post<{ key: string }>(`/workspaces/${workspaceId}/api-keys`, {
      name: 'A key',
      role: 'VIEWER',
      scopes: ['tasks:read'],
    });
    const withKey = server.api(made.body.key);
    expect((await withKey.get('/probe/any')).status).toBe(200);
    await db.owner.query(
      `INSERT INTO agent_tokens (workspace_id, id, agent_id, issued_by, expires_at)
       VALUES ($1, $2, $3, $4, now() + interval '1 day')`,
      [workspaceId, newId(), await anAgent(db.owner, workspaceId), body['userId']],
    );
    const prepared = await hers.post<{ link: string }>(`/workspaces/${workspaceId}/invitations`, {
      role: 'ADMIN',
    });
    await apiOf(operator).patch(path, { emailVerified: true });
    // Somebody else may have signed up: nothing of that person's stays.
    expect((await hers.get('/invitations')).status).toBe(401);
    expect(await withKey.get('/probe/any')).toMatchObject({
      status: 401,
      body: { code: 'token_revoked' },
    });
    const left = await db.owner.query('SELECT FROM agent_tokens WHERE issued_by = $1', [
      body['userId'],
    ]);
    expect(left.rows).toEqual([]);
    const back = { token: prepared.body.link.split('#')[1], name: 'Eve', password: PASSWORD };
    expect(await signUp({ ...back, email: `${newId()}@example.test` })).toMatchObject(NOT_FOUND);
    const login = (password: string) => server.api().post('/auth/login', { email, password });
    expect((await login(PASSWORD)).status).toBe(401);
    const reset = await apiOf(operator).post<{ generatedPassword: string }>(`${path}/password`);
    await apiOf(operator).patch(path, { emailVerified: true });
    const owner = await login(reset.body.generatedPassword);
    const list = await server.api(String(owner.body['accessToken'])).get<Page>('/invitations');
    expect(list.body.items).toHaveLength(1);
  });
});
