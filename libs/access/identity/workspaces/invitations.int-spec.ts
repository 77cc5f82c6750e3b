import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '#lib/kernel';
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
