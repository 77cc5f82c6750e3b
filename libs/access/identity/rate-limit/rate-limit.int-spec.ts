import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '#lib/kernel';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { aMember, anAgent, aUser, aWorkspace } from '../../../../test/support/factories.js';
import { testValkey } from '../../../../test/support/valkey.js';
import type { SignIn } from '../auth/auth.service.js';
import { TokenService } from '../index.js';
import { hashPassword } from '../passwords/argon2.js';
import { type IdentityApp, startIdentityApp } from '../testing/app.js';

const ATTEMPTS = 4;
const NOWHERE = { url: 'redis://127.0.0.1:1', keyPrefix: '' };
let db: TestDatabase;

beforeAll(async () => {
  db = await createTestDatabase();
});

afterAll(() => db?.drop());

async function tryLogin(server: IdentityApp, email: string, address = '192.0.2.1') {
  const body = { email, password: 'a wrong password' };
  const from = { 'x-forwarded-for': address };
  const { status, headers } = await server.api().post('/auth/login', body, from);
  return { status, retryAfter: Number(headers.get('retry-after')) };
}

async function startServers(
  count: number,
  valkey?: { url: string; keyPrefix: string },
  env: Record<string, string> = { LOGIN_ATTEMPTS_PER_MINUTE: String(ATTEMPTS) },
) {
  const servers: IdentityApp[] = [];
  for (let i = 0; i < count; i++) servers.push(await startIdentityApp(db, { env, valkey }));
  return {
    at: (index: number) => servers[index % count] as IdentityApp,
    close: () => Promise.all(servers.map((server) => server.close())),
  };
}

describe('sign-in attempts', () => {
  it('sign-in attempts are counted over all servers, by address and account', async () => {
    const servers = await startServers(2, testValkey());
    try {
      for (let i = 0; i < ATTEMPTS; i++) {
        expect((await tryLogin(servers.at(i), 'a@example.com')).status).toBe(401);
      }
      for (const index of [0, 1]) {
        const { status, retryAfter } = await tryLogin(servers.at(index), 'A@example.com');
        expect(status).toBe(429);
        expect(retryAfter).toBeGreaterThan(0);
        expect(retryAfter).toBeLessThanOrEqual(60);
      }
      expect((await tryLogin(servers.at(0), 'b@example.com')).status).toBe(401);
      expect((await tryLogin(servers.at(1), 'a@example.com', '192.0.2.2')).status).toBe(401);
    } finally {
      await servers.close();
    }
  });

  it('sign-in attempts are also counted by address for all accounts', async () => {
    const servers = await startServers(2, testValkey());
    try {
      const statuses: number[] = [];
      for (let i = 0; i < 5 * ATTEMPTS + 1; i++) {
        statuses.push((await tryLogin(servers.at(i), `user${i}@example.com`)).status);
      }
      expect(statuses.lastIndexOf(401)).toBe(5 * ATTEMPTS - 1);
      expect(statuses.at(-1)).toBe(429);
    } finally {
      await servers.close();
    }
  });

  it('sign-in attempts of an account are counted by the hour over all addresses', async () => {
    const env = { LOGIN_ATTEMPTS_PER_HOUR: '3' };
    const servers = await startServers(2, testValkey(), env);
    const email = `${newId()}@example.com`;
    try {
      for (let i = 0; i < 3; i++) {
        expect((await tryLogin(servers.at(i), email, `198.51.100.${i}`)).status).toBe(401);
      }
      const refused = await tryLogin(servers.at(0), email, '203.0.113.9');
      expect(refused.status).toBe(429);
      expect(refused.retryAfter).toBeGreaterThan(60);
      expect(refused.retryAfter).toBeLessThanOrEqual(3_600);
    } finally {
      await servers.close();
    }
  });

  it('a flood of sign-in attempts leaves the sessions of the account alone', async () => {
    const servers = await startServers(1, testValkey(), { LOGIN_ATTEMPTS_PER_HOUR: '3' });
    const email = `${newId()}@example.com`;
    const password = 'a good password of mine';
    const passwordHash = await hashPassword(password);
    await aUser(db.owner, { email });
    await db.owner.query('UPDATE users SET password_hash = $2 WHERE email = $1', [
      email,
      passwordHash,
    ]);
    const server = servers.at(0);
    try {
      const signIn = { email, password };
      const { body } = await server.api().post<SignIn>('/auth/login', signIn);
      for (let i = 0; i < 5; i++) await tryLogin(server, email, `198.51.100.${i}`);
      expect((await server.api().post('/auth/login', signIn)).status).toBe(429);
      const { refreshToken, accessToken } = body;
      expect((await server.api().post('/auth/refresh', { refreshToken })).status).toBe(200);
      const newPassword = 'another password of mine';
      const change = { currentPassword: password, newPassword };
      expect((await server.api(accessToken).post('/auth/password', change)).status).toBe(204);
    } finally {
      await servers.close();
    }
  });

  it('each server counts sign-in attempts alone while Valkey is down', async () => {
    const servers = await startServers(2, NOWHERE);
    try {
      for (const index of [0, 1]) {
        for (let i = 0; i < ATTEMPTS; i++) {
          expect((await tryLogin(servers.at(index), 'a@example.com')).status).toBe(401);
        }
        expect((await tryLogin(servers.at(index), 'a@example.com')).status).toBe(429);
      }
    } finally {
      await servers.close();
    }
  });
});

/** In ten seconds: ten times the settings. */
const [PER_TOKEN, PER_WORKSPACE, PER_ADDRESS] = [20, 30, 10];

describe('requests', () => {
  let workspaceId: string;
  let servers: Awaited<ReturnType<typeof startServers>>;

  const start = (valkey: { url: string; keyPrefix: string }) =>
    startServers(2, valkey, {
      REQUESTS_PER_SECOND_PER_TOKEN: String(PER_TOKEN / 10),
      REQUESTS_PER_SECOND_PER_WORKSPACE: String(PER_WORKSPACE / 10),
      REQUESTS_PER_SECOND_PER_ADDRESS: String(PER_ADDRESS / 10),
    });

  beforeAll(async () => {
    servers = await start(testValkey());
  });
  beforeEach(async () => {
    workspaceId = await aWorkspace(db.owner);
  });
  afterAll(() => servers?.close());

  const tokens = () => servers.at(0).app.get(TokenService);
  const user = async () => {
    const userId = await aMember(db.owner, workspaceId);
    return tokens().issueUserToken({ userId, sessionId: newId(), workspaceId }).token;
  };
  const ask = async (path: string, { token, on = 0 }: { token?: string; on?: number } = {}) => {
    const { status, headers, body } = await servers.at(on).api(token).get(path);
    return { status, headers, body };
  };
  /** The number of answered requests out of so many, to one server or alternating between both. */
  const answered = async (
    count: number,
    request: { path: string; token?: string; turns?: boolean },
  ) => {
    let allowed = 0;
    for (let i = 0; i < count; i++) {
      const { token, path, turns = false } = request;
      const { status } = await ask(path, { token, on: turns ? i % 2 : 0 });
      if (status !== 429) allowed++;
    }
    return allowed;
  };

  it('requests are counted by token over all servers, and the answer names limit and wait', async () => {
    const token = await user();
    const first = await ask('/probe/any', { token });
    expect(first.headers.get('ratelimit-policy')).toBe(
      `"token";q=${PER_TOKEN};w=10, "workspace";q=${PER_WORKSPACE};w=10`,
    );
    expect(first.headers.get('ratelimit')).toBe(
      `"token";r=${PER_TOKEN - 1};t=10, "workspace";r=${PER_WORKSPACE - 1};t=10`,
    );
    const request = { path: '/probe/any', token, turns: true };
    // Each server alone would answer all of its requests.
    const allowed = await answered(2 * PER_TOKEN - 1, request);
    expect(allowed).toBeGreaterThanOrEqual(PER_TOKEN - 1);
    expect(allowed).toBeLessThan(2 * PER_TOKEN - 1);
    for (const on of [0, 1]) {
      const { status, headers, body } = await ask('/probe/any', { token, on });
      expect({ status, body }).toMatchObject({
        status: 429,
        body: { code: 'rate_limited', 'violated-policies': ['token'] },
      });
      expect(headers.get('content-type')).toContain('application/problem+json');
      expect(headers.get('ratelimit')).toMatch(/^"token";r=0;t=\d+$/);
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
      expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(10);
    }
  });

  it("users' requests are limited by workspace and do not block its agents and runs", async () => {
    const [first, second] = [await user(), await user()];
    await answered(PER_TOKEN, { path: '/probe/any', token: first });
    await answered(PER_TOKEN, { path: '/probe/any', token: second });
    const third = await ask('/probe/any', { token: await user() });
    expect(third).toMatchObject({ status: 429, body: { 'violated-policies': ['workspace'] } });
    const agentId = await anAgent(db.owner, workspaceId);
    const agent = tokens().issueAgentToken({ workspaceId, agentId, tokenVersion: 1 }).token;
    const ids = { workspaceId, agentId, taskId: newId(), runId: newId() };
    const run = tokens().issueRunToken(ids);
    // A busy run blocks neither its agent nor another run of it.
    expect(await answered(PER_TOKEN + 5, { path: '/probe/any', token: run })).toBe(PER_TOKEN);
    const untouched = `"token";r=${PER_TOKEN - 1};t=10`;
    const claim = await ask('/probe/agent', { token: agent });
    expect([claim.status, claim.headers.get('ratelimit')]).toEqual([200, untouched]);
    // A worker, which reports with the agent's token, does not block itself.
    expect(await answered(PER_TOKEN, { path: '/probe/agent', token: agent })).toBe(PER_TOKEN - 1);
    const beat = await ask('/probe/heartbeat', { token: agent });
    expect([beat.status, beat.headers.get('ratelimit')]).toEqual([200, untouched]);
    expect((await ask('/probe/heartbeat', { token: run })).status).toBe(429);
    // The agent of the same id in another workspace is not refused either.
    const elsewhere = { workspaceId: await aWorkspace(db.owner), agentId, tokenVersion: 1 };
    const namesake = tokens().issueAgentToken(elsewhere).token;
    for (const path of ['/probe/agent', '/probe/heartbeat']) {
      const { headers } = await ask(path, { token: namesake });
      expect(headers.get('ratelimit')).toContain(`"token";r=${PER_TOKEN - 1};`);
    }
    const otherRun = tokens().issueRunToken({ ...ids, runId: newId() });
    expect((await ask('/probe/any', { token: otherRun })).status).toBe(200);
  });

  it('requests without valid credentials are limited by address and do not block others', async () => {
    const bad = { path: '/probe/any', token: 'no.good.token' };
    expect(await answered(PER_ADDRESS + 3, bad)).toBe(PER_ADDRESS);
    for (const request of [{ token: `drv_00000000_${'a'.repeat(43)}` }, {}]) {
      const refused = await ask('/probe/any', request);
      expect(refused).toMatchObject({ status: 429, body: { 'violated-policies': ['address'] } });
    }
    expect((await ask('/probe/public')).status).toBe(429);
    expect((await ask('/probe/unlimited')).status).toBe(200);
    expect((await ask('/probe/any', { token: await user() })).status).toBe(200);
  });

  it('each server counts requests alone while Valkey is down, and refuses none for that', async () => {
    const shared = servers;
    servers = await start(NOWHERE);
    try {
      const token = await user();
      const request = { path: '/probe/any', token, turns: true };
      expect(await answered(2 * PER_TOKEN, request)).toBe(2 * PER_TOKEN);
      for (const on of [0, 1]) expect((await ask('/probe/any', { token, on })).status).toBe(429);
    } finally {
      await servers.close();
      servers = shared;
    }
  });
});
