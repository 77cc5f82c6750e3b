import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApp, type TestApp, type TestWorkspace } from '../../test/support/app.js';
import { waitFor } from '../../test/support/wait-for.js';
import { CONFIG, type Config, loadConfig } from '#lib/config';
import { Logger } from '#lib/observability';
import { prepareDatabase } from './prepare-database.js';
import { rotateKeys } from './rotate-keys.js';

const logger = Logger.create({ level: 'silent' });
const inputContext = { token: 'wintergreen-4711' };

let server: TestApp;
let workspace: TestWorkspace;
let config: Config;

beforeAll(async () => {
  server = await startTestApp({ ROLES: 'api' });
  workspace = await server.newWorkspace();
  config = server.app.get<Config>(CONFIG, { strict: false });
  const task = { title: 'x', taskType: 't', inputContext };
  const tasks = Array.from({ length: 250 }, () => task);
  expect((await workspace.api.post('/agent-tasks/batch', { tasks })).status).toBe(201);
});
afterAll(() => server.stop());

const withKeys = (keys: string, more = {}) =>
  loadConfig({
    DATABASE_URL: server.db.appUrl,
    DATABASE_SERVICE_URL: server.db.serviceUrl,
    VALKEY_URL: config.valkey.url,
    JWT_SECRET: 'x'.repeat(32),
    ENCRYPTION_KEYS: keys,
    ...more,
  });

const keyCounts = async () => {
  const { rows } = await server.db.owner.query<{ n: number }>(
    'SELECT count(*)::int AS n FROM task_secrets GROUP BY key_id',
  );
  return rows.map(({ n }) => n);
};

describe('--rotate-keys', () => {
  it('--rotate-keys reseals everything while the server runs, and the server opens it', async () => {
    const done = await rotateKeys(config, logger);
    expect(done).toEqual({ message: 'secrets resealed', tasks: 250, unreadable: 0 });
    expect(await keyCounts()).toEqual([250]);
    const { rows } = await server.db.owner.query('SELECT FROM data_keys');
    expect(rows).toHaveLength(2);
    const agent = await workspace.newAgent();
    const { body } = await agent.api.post<{ tasks: { task: unknown }[] }>(
      `/agents/${agent.id}/claim`,
      {},
    );
    expect(body.tasks).toMatchObject([{ task: { inputContext } }]);
  });
});

describe('a server at its start', () => {
  const start = (keys: string, more = {}) =>
    prepareDatabase(withKeys(keys, more), { logger, migrate: false });
  const other = (id: string) => `${id}:${'B'.repeat(43)}=`;

  it('a server without the master key of sealed values names the missing key', async () => {
    await expect(start(other('another'))).rejects.toThrow('need the master key tests');
    await expect(start(other('tests'))).rejects.toThrow('with other bytes');
  });

  it('a server starts with the key in second place, or with the key declared lost', async () => {
    const keys = `${other('next')},tests:${'A'.repeat(43)}=`;
    await expect(start(keys)).resolves.toEqual([]);
    await expect(start(other('next'), { ENCRYPTION_LOST_KEYS: 'tests' })).resolves.toEqual([]);
  });
});

describe('a server with the role coordinator and another current master key', () => {
  it('a coordinator reseals all values by itself', async () => {
    const before = (await server.db.owner.query('SELECT id FROM data_keys')).rows.length;
    const coordinator = await startTestApp({
      DATABASE_URL: server.db.appUrl,
      DATABASE_SERVICE_URL: server.db.serviceUrl,
      ROLES: 'coordinator',
      ENCRYPTION_KEYS: `next:${'B'.repeat(43)}=,tests:${'A'.repeat(43)}=`,
    });
    await waitFor('all to be under the key of the new master key', async () => {
      const { rows } = await server.db.owner.query(
        `SELECT FROM task_secrets s JOIN data_keys k ON k.id = s.key_id WHERE k.master_key_id <> 'next'`,
      );
      return rows.length === 0;
    });
    expect(await keyCounts()).toEqual([250]);
    await coordinator.stop();
    expect((await server.db.owner.query('SELECT id FROM data_keys')).rows).toHaveLength(before + 1);
  });
});
