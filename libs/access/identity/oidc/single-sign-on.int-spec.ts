import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '#lib/kernel';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { aMember, aUser, aWorkspace } from '../../../../test/support/factories.js';
import { TestOpenIdProvider } from '../../../../test/support/openid-provider.js';
import { TokenService } from '../index.js';
import { type IdentityApp, startIdentityApp } from '../testing/app.js';

const PUBLIC_URL = 'https://drover.example.test';
const SUFFIX = newId().slice(-8);
const [SLUG, OTHER, STAFF] = [`team-${SUFFIX}`, `other-${SUFFIX}`, `staff-${SUFFIX}`];

let db: TestDatabase;
let provider: TestOpenIdProvider;
let server: IdentityApp;
let workspaceId: string;
let otherId: string;

beforeAll(async () => {
  db = await createTestDatabase();
  provider = await TestOpenIdProvider.start(PUBLIC_URL);
  server = await startIdentityApp(db, {
    env: {
      ...provider.settings(PUBLIC_URL),
      PASSWORD_SIGN_IN: 'false',
      LOGIN_ATTEMPTS_PER_MINUTE: '1000',
      OIDC_GROUP_ROLES:
        `developers=${SLUG}:MEMBER, leads=${SLUG}:ADMIN, owners=${OTHER}:OWNER, ` +
        `staff=${STAFF}:VIEWER`,
    },
  });
  [workspaceId, otherId] = [await aWorkspace(db.owner), await aWorkspace(db.owner)];
  const rename = 'UPDATE workspaces SET slug = $2 WHERE id = $1';
  await db.owner.query(rename, [workspaceId, SLUG]);
  await db.owner.query(rename, [otherId, OTHER]);
});

afterAll(async () => {
  await server?.close();
  await provider?.stop();
  await db?.drop();
});

beforeEach(() => {
  const sub = newId();
  const email = `${sub}@example.test`;
  provider.person = { sub, email, email_verified: true, name: 'Ann', groups: ['staff'] };
});

interface Start {
  url: string;
  state: string;
  nonce: string;
  codeVerifier: string;
}

const start = async () => (await server.api().post<Start>('/auth/single-sign-on')).body;

/** Signs the provider's person in. `change` spoils what the browser sends. */
async function signIn(change: (body: Record<string, string>) => object = (body) => body) {
  const { url, ...checks } = await start();
  const back = new URL(await provider.follow(url));
  expect(back.href).toMatch(new RegExp(`^${PUBLIC_URL}/sign-in/callback\\?`));
  const body = change({ parameters: back.search, ...checks });
  return server.api().post('/auth/single-sign-on/complete', body);
}

const refusal = (status: number, code: string) => ({ status, body: { code } });

const roleOf = async (userId: unknown, of = workspaceId) => {
  const sql = 'SELECT role FROM workspace_members WHERE workspace_id = $1 AND user_id = $2';
  const { rows } = await db.owner.query<{ role: string }>(sql, [of, userId]);
  return rows[0]?.role;
};

const idOf = async (slug: string) => {
  const { rows } = await db.owner.query<{ id: string }>(
    'SELECT id FROM workspaces WHERE slug = $1',
    [slug],
  );
  return rows[0]?.id ?? '';
};

describe('single sign-on', () => {
  it('a user signs in with the code, gets a session of Drover and can sign out', async () => {
    const answer = await signIn();
    expect(answer).toMatchObject({ status: 200, body: { tokenType: 'Bearer' } });
    expect(String(answer.body['signOutUrl'])).toContain(`${provider.url}/session/end?`);
    const api = server.api(String(answer.body['accessToken']));
    expect((await api.get('/auth/me')).body).toMatchObject({
      user: { email: provider.person.email, name: 'Ann', emailVerified: true },
    });
    const { refreshToken, userId } = answer.body;
    const refreshed = await server.api().post('/auth/refresh', { refreshToken });
    // A user whom the provider removes loses access: no refresh extends the session.
    const { refreshExpiresAt } = answer.body;
    expect(refreshed).toMatchObject({ status: 200, body: { refreshExpiresAt } });
    expect((await signIn()).body['userId']).toBe(userId);
    expect((await api.post('/auth/logout')).status).toBe(204);
    expect((await api.get('/auth/me')).status).toBe(401);
  });

  it('a start asks for a code with PKCE, state and nonce, at the registered address', async () => {
    const { url } = await start();
    expect(Object.fromEntries(new URL(url).searchParams)).toMatchObject({
      response_type: 'code',
      code_challenge_method: 'S256',
      redirect_uri: `${PUBLIC_URL}/sign-in/callback`,
    });
  });

  const RANDOM = 'x'.repeat(43);
  it.each<[string, (body: Record<string, string>) => object]>([
    ['another state', (body) => ({ ...body, state: RANDOM })],
    ['another nonce', (body) => ({ ...body, nonce: RANDOM })],
    ['another verifier', (body) => ({ ...body, codeVerifier: RANDOM })],
    [
      'no issuer',
      (body) => ({ ...body, parameters: body['parameters']?.replace(/&iss=[^&]*/, '') }),
    ],
    [
      'another issuer',
      (body) => ({
        ...body,
        parameters: body['parameters']?.replace(/iss=[^&]*/, 'iss=https%3A%2F%2Fevil.example'),
      }),
    ],
    [
      'an invented code',
      (body) => ({
        ...body,
        parameters: body['parameters']?.replace(/code=[^&]*/, 'code=invented'),
      }),
    ],
    [
      'a refusal',
      ({ state, ...body }) => ({
        ...body,
        state,
        parameters: `?error=access_denied&state=${state}&iss=${encodeURIComponent(provider.url)}`,
      }),
    ],
  ])('an answer with %s is refused', async (_, change) => {
    expect(await signIn(change)).toMatchObject(refusal(401, 'sign_in_refused'));
  });

  it('a code signs in once', async () => {
    let used = {};
    expect((await signIn((body) => (used = body))).status).toBe(200);
    expect(await server.api().post('/auth/single-sign-on/complete', used)).toMatchObject(
      refusal(401, 'sign_in_refused'),
    );
  });

  it('only a verified address leads to an account, and only to one that somebody confirmed', async () => {
    const email = `${newId()}@example.test`;
    const userId = await aUser(db.owner, { email });
    provider.person = { ...provider.person, email, email_verified: false };
    expect(await signIn()).toMatchObject(refusal(401, 'email_not_verified'));
    provider.person = { ...provider.person, email_verified: true };
    await db.owner.query(
      `UPDATE users SET password_hash = 'x', email_verified = false WHERE id = $1`,
      [userId],
    );
    expect(await signIn()).toMatchObject(refusal(409, 'email_taken'));
    await db.owner.query('UPDATE users SET email_verified = true WHERE id = $1', [userId]);
    expect(await signIn()).toMatchObject({ status: 200, body: { userId } });
    // From now on the subject counts, whatever its address becomes.
    provider.person = { ...provider.person, email: `${newId()}@example.test` };
    expect(await signIn()).toMatchObject({ status: 200, body: { userId } });
  });

  it('a disabled user stays out', async () => {
    const { body } = await signIn();
    await db.owner.query('UPDATE users SET disabled_at = now() WHERE id = $1', [body['userId']]);
    expect(await signIn()).toMatchObject(refusal(403, 'account_disabled'));
  });

  it('the address of an account leads to it only once, and never if the account is disabled', async () => {
    const { userId, refreshToken, accessToken } = (await signIn()).body;
    // Older servers stored no link with a session.
    const older = (await signIn()).body;
    const forget = 'UPDATE user_sessions SET identity_id = NULL WHERE id = $1';
    await db.owner.query(forget, [older['sessionId']]);
    const byPassword = (await signIn()).body;
    const renew = 'UPDATE user_sessions SET identity_id = NULL, renews = true WHERE id = $1';
    await db.owner.query(renew, [byPassword['sessionId']]);
    const { email } = provider.person;
    provider.person = { ...provider.person, sub: newId() };
    expect(await signIn()).toMatchObject({ ...refusal(409, 'email_taken') });
    const operator = await aUser(db.owner, { isOperator: true });
    const { token } = server.app
      .get(TokenService)
      .issueUserToken({ userId: operator, sessionId: newId(), workspaceId: null });
    expect((await server.api(token).delete(`/users/${newId()}/links`)).status).toBe(404);
    expect((await server.api(token).delete(`/users/${String(userId)}/links`)).status).toBe(204);
    const statusOf = async (token: unknown) =>
      (await server.api(String(token)).get('/auth/me')).status;
    const sessions = [accessToken, older['accessToken'], byPassword['accessToken']];
    expect(await Promise.all(sessions.map(statusOf))).toEqual([401, 401, 200]);
    const refresh = (token: unknown) => server.api().post('/auth/refresh', { refreshToken: token });
    expect(await refresh(refreshToken)).toMatchObject(refusal(401, 'invalid_refresh_token'));
    expect(await refresh(older['refreshToken'])).toMatchObject(
      refusal(401, 'invalid_refresh_token'),
    );
    const anew = await signIn();
    expect(anew).toMatchObject({ status: 200, body: { userId } });
    expect((await refresh(anew.body['refreshToken'])).status).toBe(200);
    const disabled = await aUser(db.owner, { email: `disabled-${email}` });
    await db.owner.query('UPDATE users SET disabled_at = now() WHERE id = $1', [disabled]);
    provider.person = { ...provider.person, sub: newId(), email: `disabled-${email}` };
    expect(await signIn()).toMatchObject(refusal(403, 'account_disabled'));
    await db.owner.query('UPDATE users SET disabled_at = NULL WHERE id = $1', [disabled]);
    expect(await signIn()).toMatchObject({ status: 200, body: { userId: disabled } });
  });

  it('a stranger gets an account only by an invitation to the address', async () => {
    provider.person = { ...provider.person, groups: ['guests'] };
    expect(await signIn()).toMatchObject(refusal(403, 'no_account'));
    const { email } = provider.person;
    const owner = await aMember(db.owner, workspaceId, 'OWNER');
    await db.owner.query(
      `INSERT INTO workspace_invitations (workspace_id, id, email, role, invited_by, expires_at)
       VALUES ($1, $2, $3, 'MEMBER', $4, now() + interval '1 day')`,
      [workspaceId, newId(), email, owner],
    );
    const { body } = await signIn();
    expect((await server.api(String(body['accessToken'])).get('/auth/me')).body).toMatchObject({
      user: { email },
    });
  });

  it('only an operator creates the workspace that a group rule names', async () => {
    const create = async () => {
      const { body } = await signIn();
      const api = server.api(String(body['accessToken']));
      const answer = await api.post('/workspaces', { name: 'Staff', slug: STAFF });
      return { ...answer, userId: body['userId'] };
    };
    expect(await create()).toMatchObject(refusal(409, 'slug_taken'));
    const userId = await aUser(db.owner, { email: `operator-${provider.person.email}` });
    await db.owner.query('UPDATE users SET is_operator = true WHERE id = $1', [userId]);
    const sub = newId();
    provider.person = { ...provider.person, sub, email: `operator-${provider.person.email}` };
    expect(await create()).toMatchObject({ status: 201, userId });
    await signIn();
    expect(await roleOf(userId, await idOf(STAFF))).toBe('OWNER');
  });

  it('roles follow the groups at each sign-in, and the last owner stays', async () => {
    provider.person = { ...provider.person, groups: ['developers', 'leads'] };
    const { userId } = (await signIn()).body;
    expect(await roleOf(userId)).toBe('ADMIN');
    provider.person = { ...provider.person, groups: ['developers', 'owners'] };
    await signIn();
    expect([await roleOf(userId), await roleOf(userId, otherId)]).toEqual(['MEMBER', 'OWNER']);
    provider.person = { ...provider.person, groups: undefined };
    const { accessToken } = (await signIn()).body;
    expect([await roleOf(userId), await roleOf(userId, otherId)]).toEqual([undefined, 'OWNER']);
    const api = server.api(String(accessToken));
    expect((await api.get(`/workspaces/${workspaceId}/members`)).status).toBe(404);
    await aMember(db.owner, otherId, 'OWNER');
    await signIn();
    expect(await roleOf(userId, otherId)).toBeUndefined();
  });

  it('a group that takes a membership away ends the invitation of the address', async () => {
    provider.person = { ...provider.person, groups: ['developers'] };
    const { userId } = (await signIn()).body;
    const owner = await aMember(db.owner, workspaceId, 'OWNER');
    // As one from before the membership, if the user joined with a link without an address.
    await db.owner.query(
      `INSERT INTO workspace_invitations (workspace_id, id, email, role, invited_by, expires_at)
       VALUES ($1, $2, $3, 'ADMIN', $4, now() + interval '1 day')`,
      [workspaceId, newId(), provider.person.email, owner],
    );
    provider.person = { ...provider.person, groups: [] };
    await signIn();
    expect(await roleOf(userId)).toBeUndefined();
    const left = 'SELECT FROM workspace_invitations WHERE workspace_id = $1 AND email = $2';
    const { rows } = await db.owner.query(left, [workspaceId, provider.person.email]);
    expect(rows).toEqual([]);
  });

  it('passwords do not sign in or up where the operator turned them off', async () => {
    const login = { email: 'a@example.test', password: 'a password that is long enough' };
    expect(await server.api().post('/auth/login', login)).toMatchObject(
      refusal(403, 'password_sign_in_off'),
    );
    expect((await server.api().get('/auth/methods')).body).toEqual({
      password: false,
      singleSignOn: { name: 'single sign-on' },
    });
  });

  it('an outage of the provider is reported, and ends by itself', async () => {
    const { url, ...checks } = await start();
    const parameters = new URL(await provider.follow(url)).search;
    provider.down = true;
    const complete = () =>
      server.api().post('/auth/single-sign-on/complete', { parameters, ...checks });
    expect(await complete()).toMatchObject(refusal(503, 'issuer_unavailable'));
    provider.down = false;
    expect((await complete()).status).toBe(200);
  });
});

describe('a device', () => {
  interface Device {
    deviceCode: string;
    verificationUriComplete: string;
  }

  it('a device signs in after the user confirmed its code, once', async () => {
    const { body } = await server.api().post<Device>('/auth/device');
    expect(body).toMatchObject({ intervalSeconds: 5, userCode: expect.any(String) });
    const complete = () =>
      server.api().post('/auth/device/complete', { deviceCode: body.deviceCode });
    expect(await complete()).toMatchObject(refusal(409, 'sign_in_pending'));
    await provider.confirmDevice(body.verificationUriComplete);
    const answer = await complete();
    expect(answer).toMatchObject({ status: 200 });
    const api = server.api(String(answer.body['accessToken']));
    expect((await api.get('/auth/me')).body).toMatchObject({
      user: { email: provider.person.email },
    });
    expect(await complete()).toMatchObject(refusal(401, 'sign_in_refused'));
  });

  it('an address cannot poll without end', async () => {
    const env = { ...provider.settings(PUBLIC_URL), LOGIN_ATTEMPTS_PER_MINUTE: '1' };
    const strict = await startIdentityApp(db, { env });
    try {
      const statuses = [];
      for (let count = 0; count < 11; count += 1) {
        const body = { deviceCode: 'x'.repeat(43) };
        statuses.push((await strict.api().post('/auth/device/complete', body)).status);
      }
      expect(statuses).toEqual([...Array<number>(10).fill(401), 429]);
    } finally {
      await strict.close();
    }
  });
});
