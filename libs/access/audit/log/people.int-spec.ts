import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Secret, TOTP } from 'otpauth';
import { newId } from '#lib/kernel';
import { type ApiClient, apiClient } from '../../../../test/support/api-client.js';
import { startTestApp, type TestApp, type TestWorkspace } from '../../../../test/support/app.js';
import { CLIENT, TestOpenIdProvider } from '../../../../test/support/openid-provider.js';

const PUBLIC_URL = 'https://drover.example.test';
const PASSWORD = 'a password that is long enough';

let provider: TestOpenIdProvider;
let app: TestApp;
let team: TestWorkspace;

beforeAll(async () => {
  provider = await TestOpenIdProvider.start(PUBLIC_URL, { fullIdTokens: true });
  app = await startTestApp({
    ...provider.settings(PUBLIC_URL),
    OIDC_AUDIENCE: CLIENT.id,
    OIDC_SIGN_UP: 'true',
    OIDC_GROUP_ROLES: 'developers=team:MEMBER,leads=team:ADMIN',
  });
  team = await app.newWorkspace();
  await app.db.owner.query(`UPDATE workspaces SET slug = 'team' WHERE id = $1`, [team.id]);
});

afterAll(async () => {
  await app?.stop();
  await provider?.stop();
});

beforeEach(() => {
  const sub = newId();
  const email = `${sub}@example.test`;
  provider.person = { sub, email, email_verified: true, name: 'Ann', groups: [] };
});

const anybody = (token?: string) =>
  apiClient(app.url, token === undefined ? {} : { authorization: `Bearer ${token}` });

interface Start {
  url: string;
  state: string;
  nonce: string;
  codeVerifier: string;
}

const start = async () => (await anybody().post<Start>('/auth/single-sign-on')).body;

async function signInWith(groups: string[]): Promise<string> {
  provider.person.groups = groups;
  const { url, ...checks } = await start();
  const parameters = new URL(await provider.follow(url)).search;
  const path = '/auth/single-sign-on/complete';
  const { status, body } = await anybody().post<{ userId: string }>(path, {
    parameters,
    ...checks,
  });
  expect(status).toBe(200);
  return body.userId;
}

/** The entries of a user, the oldest first, without those of others. */
async function entriesIn(table: 'audit_log' | 'installation_audit_log', userId: string) {
  const { rows } = await app.db.owner.query<{ operation: string; details: object }>(
    `SELECT operation, details, status, address FROM ${table} WHERE actor_id = $1 ORDER BY id`,
    [userId],
  );
  return rows;
}

async function aPerson(): Promise<{ id: string; email: string; api: ApiClient }> {
  const email = `${newId()}@example.test`;
  const invited = await team.api.post<{ link: string }>(`/workspaces/${team.id}/invitations`, {
    email,
    role: 'VIEWER',
  });
  const token = invited.body.link.split('#')[1];
  const signUp = { token, name: 'Ben', password: PASSWORD };
  const path = '/auth/invitation/sign-up';
  const { body } = await anybody().post<{ userId: string; accessToken: string }>(path, signUp);
  return { id: body.userId, email, api: anybody(body.accessToken) };
}

async function emailOf(userId: string): Promise<string | undefined> {
  const sql = 'SELECT email FROM users WHERE id = $1';
  return (await app.db.owner.query<{ email: string }>(sql, [userId])).rows[0]?.email;
}

describe('the audit logs of people', () => {
  it('roles by groups and the account of a single sign-on have their entries, in one transaction', async () => {
    const userId = await signInWith(['developers']);
    await signInWith(['developers', 'leads']);
    await signInWith(['developers', 'leads']);
    await signInWith([]);
    const operation = 'completeSingleSignOn';
    const common = { operation, status: 200, address: '127.0.0.1' };
    expect(await entriesIn('audit_log', userId)).toEqual([
      { ...common, details: { roleBefore: null, role: 'MEMBER', group: 'developers' } },
      { ...common, details: { roleBefore: 'MEMBER', role: 'ADMIN', group: 'leads' } },
      { ...common, details: { roleBefore: 'ADMIN', role: null, group: null } },
    ]);
    const { sub: subject } = provider.person;
    expect(await entriesIn('installation_audit_log', userId)).toEqual([
      { ...common, details: { account: 'created', issuer: provider.url, subject } },
      ...Array.from({ length: 3 }, () => ({ ...common, details: {} })),
    ]);
    const { rows } = await app.db.owner.query(
      `SELECT l.xmin::text = i.xmin::text AS together FROM user_identities i
         JOIN installation_audit_log l ON l.actor_id = i.user_id WHERE i.user_id = $1 ORDER BY l.id`,
      [userId],
    );
    expect(rows[0]).toEqual({ together: true });
    const { body } = await team.api.get<{ items: object[] }>(`/audit-log?actorId=${userId}`);
    expect(body.items[0]).toMatchObject({
      actorName: provider.person.email,
      details: { roleBefore: 'ADMIN', role: null, group: null },
    });
  });

  it('a token of the provider that links an account has its entry, whatever it is for', async () => {
    const operator = await app.newWorkspace();
    await app.db.owner.query('UPDATE users SET is_operator = true WHERE id = $1', [
      operator.userId,
    ]);
    const user = await operator.api.post<{ id: string }>('/users', {
      email: provider.person.email,
      name: 'Ann',
    });
    const bearer = anybody(await provider.idToken(await start()));
    const task = { title: 'A task', taskType: 'test' };
    expect((await bearer.post('/agent-tasks', task)).status).toBe(400);
    expect((await bearer.get('/auth/me')).status).toBe(200);
    expect(await entriesIn('installation_audit_log', user.body.id)).toMatchObject([
      { operation: 'createTask', details: { account: 'linked', subject: provider.person.sub } },
    ]);
    const [second, made] = [`${newId()}@example.test`, `${newId()}@example.test`];
    const account = { email: second, name: 'Bea', isOperator: true };
    const { body: bea } = await operator.api.post<{ id: string }>('/users', account);
    provider.person = { ...provider.person, sub: newId(), email: second };
    const linking = anybody(await provider.idToken(await start()));
    expect((await linking.post('/users', { email: made, name: 'Cem' })).status).toBe(201);
    expect(await entriesIn('installation_audit_log', bea.id)).toMatchObject([
      { operation: 'createUser', details: { account: 'linked', subject: provider.person.sub } },
      { operation: 'createUser', details: { email: made } },
    ]);
  });

  it('who joins by an invitation has an entry with the role and the inviter', async () => {
    const invitedBy = await emailOf(team.userId);
    const person = await aPerson();
    const joined = { roleBefore: null, role: 'VIEWER', invitedBy };
    expect(await entriesIn('audit_log', person.id)).toMatchObject([
      { operation: 'signUpByInvitation', details: joined },
    ]);
    expect(await entriesIn('installation_audit_log', person.id)).toMatchObject([
      { operation: 'signUpByInvitation', details: { account: 'created' } },
    ]);
    const other = await app.newWorkspace();
    const invite = async (role: string) => {
      const path = `/workspaces/${other.id}/invitations`;
      const { email } = person;
      return (await other.api.post<{ id: string; link: string }>(path, { email, role })).body;
    };
    const { id } = await invite('MEMBER');
    expect((await person.api.post(`/invitations/${id}/accept`)).status).toBe(200);
    await other.api.delete(`/workspaces/${other.id}/members/${person.id}`);
    const { link } = await invite('ADMIN');
    const byLink = await person.api.post('/invitations/accept', { token: link.split('#')[1] });
    expect(byLink.status).toBe(200);
    const { body } = await other.api.get<{ items: object[] }>(`/audit-log?actorId=${person.id}`);
    const inviter = await emailOf(other.userId);
    expect(body.items).toMatchObject([
      { operation: 'acceptInvitationLink', details: { role: 'ADMIN', invitedBy: inviter } },
      { operation: 'acceptInvitation', details: { role: 'MEMBER', invitedBy: inviter } },
    ]);
    expect(body.items).toHaveLength(2);
  });

  it('factors, recovery codes and passwords have their entries', async () => {
    const { id, email, api } = await aPerson();
    const begun = await api.post<{ secret: string }>('/auth/second-factor', { password: PASSWORD });
    const code = new TOTP({ secret: Secret.fromBase32(begun.body.secret) }).generate();
    const path = '/auth/second-factor/complete';
    const done = await api.post<{ recoveryCodes: string[] }>(path, { code });
    const [first, second] = done.body.recoveryCodes;
    const login = { email, password: PASSWORD, code: first };
    const elsewhere = { ...login, workspaceId: (await app.newWorkspace()).id };
    const refused = [{ ...elsewhere, code: 'aaaaa-aaaaa' }, elsewhere].map(async (body) => {
      const { status, body: problem } = await anybody().post<{ code: string }>('/auth/login', body);
      return [status, problem.code];
    });
    expect(await Promise.all(refused)).toEqual([
      [401, 'invalid_code'],
      [404, 'workspace_not_found'],
    ]);
    const again = await anybody().post<{ accessToken: string }>('/auth/login', login);
    const signedIn = anybody(again.body.accessToken);
    await signedIn.post('/auth/second-factor/remove', { code: second });
    const change = { currentPassword: PASSWORD, newPassword: `${PASSWORD}!` };
    expect((await signedIn.post('/auth/password', change)).status).toBe(204);
    const used = (recoveryCodes: number) => ({ factor: 'recovery_code', recoveryCodes });
    const entries = await entriesIn('installation_audit_log', id);
    expect(entries.map(({ operation, details }) => [operation, details])).toEqual([
      ['signUpByInvitation', { account: 'created' }],
      ['startSecondFactor', {}],
      ['completeSecondFactor', {}],
      ['signIn', used(9)],
      ['removeSecondFactor', used(8)],
      ['changePassword', {}],
    ]);
  });
});
