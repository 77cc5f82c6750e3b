import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../../test/support/database.js';
import { testValkey } from '../../test/support/valkey.js';
import { type IdentityApp, startIdentityApp } from './testing/app.js';

const ATTEMPTS = 4;
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

async function startServers(count: number, valkey?: { url: string; keyPrefix: string }) {
  const env = { LOGIN_ATTEMPTS_PER_MINUTE: String(ATTEMPTS) };
  const servers: IdentityApp[] = [];
  for (let i = 0; i < count; i++) servers.push(await startIdentityApp(db, { env, valkey }));
  return {
    at: (index: number) => servers[index % count] as IdentityApp,
    close: () => Promise.all(servers.map((server) => server.close())),
  };
}

describe('sign-in attempts', () => {
  it('are counted over all servers, by address and account', async () => {
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

  it('are counted by address as well, whatever the account', async () => {
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

  it('are counted by each server alone while Valkey is away', async () => {
    const servers = await startServers(2, { url: 'redis://127.0.0.1:1', keyPrefix: '' });
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
