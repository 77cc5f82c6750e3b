import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { hash } from '@node-rs/argon2';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { waitFor } from '../../../../test/support/wait-for.js';
import { ensureFirstAdministrator } from '../index.js';
import { isOutdatedHash } from '../passwords/argon2.js';
import { type IdentityApp, startIdentityApp } from '../testing/app.js';

interface SignIn {
  accessToken: string;
  refreshToken: string;
  sessionId: string;
  userId: string;
}

const PASSWORD = 'correct horse battery';
let db: TestDatabase;
let server: IdentityApp;
let operator: { token: string; workspaceId: string; userId: string };
let counter = 0;

beforeAll(async () => {
  db = await createTestDatabase();
  server = await startIdentityApp(db, { env: { LOGIN_ATTEMPTS_PER_MINUTE: '1000' } });
  const first = await ensureFirstAdministrator(db.database, { email: 'Admin@Example.com' });
  if (!first.created) throw new Error('there was a user already');
  const { body } = await login(first.email, first.password);
  operator = { ...first, token: body.accessToken };
});

afterAll(async () => {
  await server?.close();
  await db?.drop();
});

function login(email: string, password: string, more: object = {}) {
  return server.api().post<SignIn>('/auth/login', { email, password, ...more });
}

function refresh(refreshToken: string) {
  return server.api().post<SignIn>('/auth/refresh', { refreshToken });
}

async function newUser() {
  const email = `user${++counter}@example.com`;
  const made = await server
    .api(operator.token)
    .post<{ id: string }>('/users', { email, name: 'A user', password: PASSWORD });
  expect(made.status).toBe(201);
  return { email, id: made.body.id };
}

async function signedIn() {
  const user = await newUser();
  const { body, status } = await login(user.email, PASSWORD);
  expect(status).toBe(200);
  return { ...user, ...body };
}

describe('the first administrator', () => {
  it('the first administrator is an operator and owns a workspace', async () => {
    const { body } = await server.api(operator.token).get('/auth/me');
    expect(body).toMatchObject({
      user: { email: 'admin@example.com', isOperator: true },
      memberships: [{ workspaceId: operator.workspaceId, role: 'OWNER', slug: 'default' }],
    });
    expect(JSON.stringify(body)).not.toMatch(/hash|argon2/i);
  });

  it('concurrent starts create one administrator', async () => {
    const empty = await createTestDatabase();
    try {
      const all = await Promise.all([1, 2, 3].map(() => ensureFirstAdministrator(empty.database)));
      expect(all.filter(({ created }) => created)).toHaveLength(1);
    } finally {
      await empty.drop();
    }
  });
});

describe('login', () => {
  it('a wrong password, an unknown address and a disabled user get the same answer', async () => {
    const user = await newUser();
    const disabled = await newUser();
    await server.api(operator.token).patch(`/users/${disabled.id}`, { disabled: true });
    const answers = await Promise.all([
      login(user.email, 'wrong password'),
      login('nobody@example.com', PASSWORD),
      login(disabled.email, PASSWORD),
    ]);
    for (const { status, body } of answers) {
      expect(status).toBe(401);
      expect({ ...body, requestId: '', instance: '' }).toEqual({
        ...answers[0]?.body,
        requestId: '',
        instance: '',
      });
    }
  });

  it('the case of the address does not matter', async () => {
    const { email } = await newUser();
    expect((await login(email.toUpperCase(), PASSWORD)).status).toBe(200);
  });

  it('a bad body names its fields', async () => {
    const { status, body } = await server
      .api()
      .post<{ errors: { field: string }[] }>('/auth/login', {
        email: 'x',
        password: 7,
        role: 'OWNER',
      });
    expect(status).toBe(400);
    expect(body.errors.map(({ field }) => field).sort()).toEqual(['email', 'password', 'role']);
  });

  it('only a member gets a token for a workspace', async () => {
    const user = await newUser();
    const foreign = await login(user.email, PASSWORD, { workspaceId: operator.workspaceId });
    expect([foreign.status, foreign.body]).toMatchObject([404, { code: 'workspace_not_found' }]);
    await server
      .api(operator.token)
      .post(`/workspaces/${operator.workspaceId}/members`, { userId: user.id, role: 'MEMBER' });
    const own = await login(user.email, PASSWORD, { workspaceId: operator.workspaceId });
    const probe = await server.api(own.body.accessToken).get('/probe/any');
    expect(probe.body).toMatchObject({ workspaceId: operator.workspaceId, role: 'MEMBER' });
  });
});

describe('refresh', () => {
  it('a refresh gives a new pair of the same session', async () => {
    const session = await signedIn();
    const next = await refresh(session.refreshToken);
    expect(next.status).toBe(200);
    expect(next.body.sessionId).toBe(session.sessionId);
    expect(next.body.refreshToken).not.toBe(session.refreshToken);
    expect((await server.api(next.body.accessToken).get('/auth/me')).status).toBe(200);
  });

  it.each([1, 2, 5])('a token %i generations old ends the session', async (age) => {
    const session = await signedIn();
    let latest = session.refreshToken;
    let access = session.accessToken;
    for (let i = 0; i < age; i++) {
      const { body } = await refresh(latest);
      latest = body.refreshToken;
      access = body.accessToken;
    }
    const reused = await refresh(session.refreshToken);
    expect([reused.status, reused.body]).toMatchObject([401, { code: 'invalid_refresh_token' }]);
    expect((await refresh(latest)).status).toBe(401);
    const me = await server.api(access).get('/auth/me');
    expect([me.status, me.body]).toMatchObject([401, { code: 'token_revoked' }]);
  });

  it('one of two concurrent refreshes succeeds, and then neither token works', async () => {
    const session = await signedIn();
    const both = await Promise.all([refresh(session.refreshToken), refresh(session.refreshToken)]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 401]);
    const winner = both.find(({ status }) => status === 200);
    expect((await refresh(winner?.body.refreshToken ?? '')).status).toBe(401);
  });

  it("an invented token with the session's id does not end it", async () => {
    const session = await signedIn();
    const bytes = Buffer.from(session.refreshToken.slice(4), 'base64url');
    bytes.fill(7, 16, 40);
    const invented = await refresh(`drr_${bytes.toString('base64url')}`);
    expect(invented.status).toBe(401);
    expect((await refresh(session.refreshToken)).status).toBe(200);
  });
});

describe('the end of a session', () => {
  it('logout ends both tokens', async () => {
    const session = await signedIn();
    const api = server.api(session.accessToken);
    expect((await api.post('/auth/logout')).status).toBe(204);
    expect((await api.get('/auth/me')).status).toBe(401);
    expect((await refresh(session.refreshToken)).status).toBe(401);
  });

  it('a session can be ended by its id only by its user', async () => {
    const user = await signedIn();
    const other = await signedIn();
    const second = await login(user.email, PASSWORD);
    const list = await server
      .api(user.accessToken)
      .get<{ items: { id: string; current: boolean }[] }>('/auth/sessions');
    expect(list.body.items).toMatchObject([
      { id: second.body.sessionId, current: false },
      { id: user.sessionId, current: true },
    ]);
    const path = `/auth/sessions/${second.body.sessionId}`;
    expect((await server.api(other.accessToken).delete(path)).status).toBe(404);
    expect((await server.api(second.body.accessToken).get('/auth/me')).status).toBe(200);
    expect((await server.api(user.accessToken).delete(path)).status).toBe(204);
    expect((await server.api(second.body.accessToken).get('/auth/me')).status).toBe(401);
  });

  it('a new password ends all other sessions', async () => {
    const user = await signedIn();
    const other = await login(user.email, PASSWORD);
    const change = (currentPassword: string) =>
      server
        .api(user.accessToken)
        .post('/auth/password', { currentPassword, newPassword: 'another long password' });
    expect((await change('not the password')).status).toBe(401);
    expect((await change(PASSWORD)).status).toBe(204);
    expect((await server.api(other.body.accessToken).get('/auth/me')).status).toBe(401);
    expect((await server.api(user.accessToken).get('/auth/me')).status).toBe(200);
    expect((await login(user.email, PASSWORD)).status).toBe(401);
    expect((await login(user.email, 'another long password')).status).toBe(200);
  });

  it('disabling a user ends their sessions', async () => {
    const user = await signedIn();
    await server.api(operator.token).patch(`/users/${user.id}`, { disabled: true });
    expect((await server.api(user.accessToken).get('/auth/me')).status).toBe(401);
    expect((await refresh(user.refreshToken)).status).toBe(401);
  });
});

describe('users', () => {
  it('only operators create users', async () => {
    const user = await signedIn();
    const body = { email: 'x@example.com', name: 'X' };
    expect((await server.api(user.accessToken).post('/users', body)).status).toBe(403);
    expect((await server.api().post('/auth/sign-up', { ...body, password: PASSWORD })).status).toBe(
      403,
    );
  });

  it('a sign-in with a password that is reset meanwhile is refused, and no earlier session renews', async () => {
    const { id, email, refreshToken } = await signedIn();
    const connection = await db.owner.connect();
    try {
      await connection.query('BEGIN');
      await connection.query(`UPDATE users SET password_hash = 'of another' WHERE id = $1`, [id]);
      const late = login(email, PASSWORD);
      await waitFor('the sign-in to wait for the reset', async () => {
        const sql = `SELECT FROM pg_stat_activity
          WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%INTO user_sessions%'`;
        return (await db.owner.query(sql)).rows.length === 1;
      });
      await connection.query('COMMIT');
      expect(await late).toMatchObject({ status: 401, body: { code: 'invalid_credentials' } });
    } finally {
      connection.release();
    }
    const reset = await server.api(operator.token).post(`/users/${id}/password`);
    expect(reset.status).toBe(201);
    expect(await refresh(refreshToken)).toMatchObject({
      status: 401,
      body: { code: 'invalid_refresh_token' },
    });
  });

  it('concurrent sign-ins with an outdated hash succeed', async () => {
    const { id, email } = await newUser();
    const outdated = await hash(PASSWORD, { memoryCost: 4_096, timeCost: 3, parallelism: 1 });
    await db.owner.query('UPDATE users SET password_hash = $2 WHERE id = $1', [id, outdated]);
    const answers = await Promise.all([1, 2, 3].map(() => login(email, PASSWORD)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    const { rows } = await db.owner.query<{ password_hash: string }>(
      'SELECT password_hash FROM users WHERE id = $1',
      [id],
    );
    expect(isOutdatedHash(rows[0]?.password_hash ?? '')).toBe(false);
  });

  it('a generated password is shown once', async () => {
    const email = 'generated@example.com';
    const { body } = await server
      .api(operator.token)
      .post<{ generatedPassword: string }>('/users', { email, name: 'G' });
    expect((await login(email, body.generatedPassword)).status).toBe(200);
  });

  it('each user has a unique address', async () => {
    const { email } = await newUser();
    const again = await server
      .api(operator.token)
      .post('/users', { email: email.toUpperCase(), name: 'Twin', password: PASSWORD });
    expect([again.status, again.body]).toMatchObject([409, { code: 'email_taken' }]);
  });

  it('one operator always stays', async () => {
    const api = server.api(operator.token);
    for (const change of [{ isOperator: false }, { disabled: true }]) {
      const { status, body } = await api.patch(`/users/${operator.userId}`, change);
      expect([status, body]).toMatchObject([409, { code: 'last_operator' }]);
    }
  });

  it('users change under If-Match', async () => {
    const user = await newUser();
    const api = server.api(operator.token);
    const first = await api.patch(`/users/${user.id}`, { name: 'B' }, { 'if-match': '"1"' });
    expect([first.status, first.headers.get('etag')]).toEqual([200, '"2"']);
    const stale = await api.patch(`/users/${user.id}`, { name: 'C' }, { 'if-match': '"1"' });
    expect([stale.status, stale.body]).toMatchObject([412, { code: 'version_mismatch' }]);
  });

  it('users come in pages', async () => {
    const api = server.api(operator.token);
    const seen: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const next: string = cursor === '' ? '' : `&cursor=${cursor}`;
      const { body } = await api.get<{ items: { id: string }[]; nextCursor: string | null }>(
        `/users?limit=3${next}`,
      );
      seen.push(...body.items.map(({ id }) => id));
      cursor = body.nextCursor;
    }
    const { rows } = await db.owner.query<{ id: string }>('SELECT id FROM users ORDER BY id');
    expect(seen).toEqual(rows.map(({ id }) => id));
    expect((await api.get('/users?cursor=abc')).body).toMatchObject({ code: 'malformed_cursor' });
  });
});
