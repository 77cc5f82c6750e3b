import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Secret, TOTP } from 'otpauth';
import { Database } from '#lib/database';
import { newId } from '#lib/kernel';
import { Logger } from '#lib/observability';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { aUser, aWorkspace } from '../../../../test/support/factories.js';
import { hashPassword } from '../passwords/argon2.js';
import { type IdentityApp, startIdentityApp } from '../testing/app.js';
import { resealFactors } from './reseal-factors.js';

const PASSWORD = 'a password that is long enough';
const OLD_KEYS = `old:${'B'.repeat(43)}=`;

let db: TestDatabase;
let server: IdentityApp;
let strict: IdentityApp;
let passwordHash: string;

beforeAll(async () => {
  db = await createTestDatabase();
  server = await startIdentityApp(db, { env: { ENCRYPTION_KEYS: OLD_KEYS } });
  strict = await startIdentityApp(db, {
    env: {
      ENCRYPTION_KEYS: `tests:${'A'.repeat(43)}=,${OLD_KEYS}`,
      OPERATORS_NEED_SECOND_FACTOR: 'true',
      LOGIN_ATTEMPTS_PER_MINUTE: '4',
    },
  });
  passwordHash = await hashPassword(PASSWORD);
});

afterAll(async () => {
  await server?.close();
  await strict?.close();
  await db?.drop();
});

/** The code of a secret, now or some steps of 30 s later. */
function codeOf(secret: string, steps = 0): string {
  const totp = new TOTP({ secret: Secret.fromBase32(secret) });
  return totp.generate({ timestamp: Date.now() + steps * 30_000 });
}

async function aPerson({ operator = false } = {}) {
  const email = `${newId()}@example.test`;
  const userId = await aUser(db.owner, { email });
  await db.owner.query('UPDATE users SET password_hash = $2, is_operator = $3 WHERE id = $1', [
    userId,
    passwordHash,
    operator,
  ]);
  const login = (code?: string, on = server) =>
    on.api().post('/auth/login', { email, password: PASSWORD, ...(code && { code }) });
  const { body } = await login();
  return { userId, email, login, api: server.api(String(body['accessToken'])) };
}

/** A person with a factor that was confirmed by the code of the step before. */
async function aProtectedPerson(options = {}) {
  const person = await aPerson(options);
  const start = await person.api.post<{ secret: string }>('/auth/second-factor', {
    password: PASSWORD,
  });
  const { secret } = start.body;
  const used = codeOf(secret, -1);
  const done = await person.api.post<{ recoveryCodes: string[] }>('/auth/second-factor/complete', {
    code: used,
  });
  expect(done.status).toBe(200);
  return { ...person, secret, used, codes: done.body.recoveryCodes };
}

const refusal = (status: number, code: string) => ({ status, body: { code } });

describe('a second factor', () => {
  it('a sign-in needs the code of the app, which is good once, and leaks nothing before the password', async () => {
    const { login, secret, used, email, userId } = await aProtectedPerson();
    expect(await login()).toMatchObject(refusal(401, 'second_factor_required'));
    const wrong = { email, password: 'not the password', code: codeOf(secret) };
    expect(await server.api().post('/auth/login', wrong)).toMatchObject(
      refusal(401, 'invalid_credentials'),
    );
    const code = codeOf(secret);
    expect(await login(used)).toMatchObject(refusal(401, 'invalid_code'));
    const answers = await Promise.all([login(code), login(code)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401]);
    expect(await login(codeOf(secret, 3))).toMatchObject(refusal(401, 'invalid_code'));
    const sql = 'SELECT f::text AS row FROM user_factors f WHERE user_id = $1';
    const { rows } = await db.owner.query<{ row: string }>(sql, [userId]);
    expect(rows[0]?.row).not.toContain(secret);
    expect(rows[0]?.row).not.toContain(
      Buffer.from(Secret.fromBase32(secret).bytes).toString('hex'),
    );
  });

  it('a recovery code signs in once, however it is typed, and new ones replace the old ones', async () => {
    const { login, codes, secret, api } = await aProtectedPerson();
    expect(new Set(codes).size).toBe(10);
    const [first = '', second = ''] = codes;
    expect((await login(first.toUpperCase().replaceAll('-', ' '))).status).toBe(200);
    expect(await login(first)).toMatchObject(refusal(401, 'invalid_code'));
    expect((await api.get('/auth/second-factor')).body).toEqual({
      enabled: true,
      recoveryCodes: 9,
    });
    const replaced = await api.post<{ recoveryCodes: string[] }>(
      '/auth/second-factor/recovery-codes',
      { code: codeOf(secret) },
    );
    expect(replaced.body.recoveryCodes).toHaveLength(10);
    expect(await login(second)).toMatchObject(refusal(401, 'invalid_code'));
    expect((await login(replaced.body.recoveryCodes[0])).status).toBe(200);
  });

  it('enabling needs the password and a code, and ends the other sessions', async () => {
    const { api, login } = await aPerson();
    const other = server.api(String((await login()).body['accessToken']));
    const start = (password: string) =>
      api.post<{ secret: string; uri: string }>('/auth/second-factor', { password });
    expect(await start('not the password')).toMatchObject(refusal(401, 'invalid_credentials'));
    const { secret, uri } = (await start(PASSWORD)).body;
    expect(uri).toMatch(/^otpauth:\/\/totp\/Drover:/);
    const complete = (code: string) => api.post('/auth/second-factor/complete', { code });
    expect(await complete('000000')).toMatchObject(refusal(401, 'invalid_code'));
    expect((await login()).status).toBe(200);
    expect((await complete(codeOf(secret))).status).toBe(200);
    expect((await other.get('/auth/me')).status).toBe(401);
    expect((await api.get('/auth/me')).status).toBe(200);
    expect(await start(PASSWORD)).toMatchObject(refusal(409, 'second_factor_enabled'));
  });

  it('the user removes it with a code, and an operator resets that of another user', async () => {
    const { api, login, codes, userId } = await aProtectedPerson();
    const remove = (code: string) => api.post('/auth/second-factor/remove', { code });
    expect(await remove('000000')).toMatchObject(refusal(401, 'invalid_code'));
    const operator = await aProtectedPerson({ operator: true });
    const reset = (id: string) => operator.api.delete(`/users/${id}/second-factor`);
    expect(await reset(operator.userId)).toMatchObject(refusal(403, 'forbidden'));
    expect((await api.delete(`/users/${operator.userId}/second-factor`)).status).toBe(403);
    expect((await reset(userId)).status).toBe(204);
    expect((await login()).status).toBe(200);
    expect((await api.get('/auth/me')).status).toBe(401);
    expect(await login(codes[0])).toMatchObject({ status: 200 });
    expect(
      (await operator.api.post('/auth/second-factor/remove', { code: operator.codes[0] })).status,
    ).toBe(204);
    expect((await operator.login()).status).toBe(200);
  });

  it('codes are limited in number, also with the right password', async () => {
    const { login } = await aProtectedPerson();
    const answers = [];
    for (let count = 0; count < 5; count += 1) answers.push((await login('000000', strict)).status);
    expect(answers).toEqual([401, 401, 401, 401, 429]);
  });

  it('twenty wrong codes in a day leave only the recovery codes', async () => {
    const { login, secret, codes } = await aProtectedPerson();
    const patient = await startIdentityApp(db, {
      env: { ENCRYPTION_KEYS: OLD_KEYS, LOGIN_ATTEMPTS_PER_MINUTE: '1000' },
    });
    try {
      expect((await login(codeOf(secret), patient)).status).toBe(200);
      for (let count = 0; count < 20; count += 1) {
        expect(await login('000000', patient)).toMatchObject(refusal(401, 'invalid_code'));
      }
      expect(await login(codeOf(secret, 1), patient)).toMatchObject(refusal(429, 'rate_limited'));
      expect((await login(codes[0], patient)).status).toBe(200);
    } finally {
      await patient.close();
    }
  });

  it('an operator without it can only set it up where operators need one', async () => {
    const { login, api, userId } = await aPerson({ operator: true });
    expect((await api.get('/users')).status).toBe(200);
    const workspaceId = await aWorkspace(db.owner);
    await db.owner.query(
      `INSERT INTO workspace_members (workspace_id, user_id, role) VALUES ($1, $2, 'OWNER')`,
      [workspaceId, userId],
    );
    const add = async (on: typeof api) =>
      on.post(`/workspaces/${workspaceId}/members`, {
        userId: (await aPerson()).userId,
        role: 'VIEWER',
      });
    const there = strict.api(String((await login(undefined, strict)).body['accessToken']));
    expect(await there.get('/users')).toMatchObject(refusal(403, 'second_factor_missing'));
    expect((await add(there)).status).toBe(404);
    const { body } = await there.post<{ secret: string }>('/auth/second-factor', {
      password: PASSWORD,
    });
    await there.post('/auth/second-factor/complete', { code: codeOf(body.secret) });
    expect((await there.get('/users')).status).toBe(200);
    expect((await add(there)).status).toBe(201);
  });

  it('a secret survives a new master key, which seals it without the user', async () => {
    const { login, secret, userId } = await aProtectedPerson();
    const { masterKeys } = strict.config.encryption;
    const { service } = strict.app.get(Database);
    await resealFactors(service, masterKeys, Logger.create({ level: 'silent' }));
    const sql = 'SELECT sealed FROM user_factors WHERE user_id = $1';
    const { rows } = await db.owner.query<{ sealed: string }>(sql, [userId]);
    expect(rows[0]?.sealed).toMatch(/^tests:/);
    expect((await login(codeOf(secret), strict)).status).toBe(200);
  });
});
