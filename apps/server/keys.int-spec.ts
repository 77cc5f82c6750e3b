import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApp, type TestApp, type TestWorkspace } from '../../test/support/app.js';
import { waitFor } from '../../test/support/wait-for.js';
import { CONFIG, type Config, loadConfig } from '#lib/config';
import { Logger } from '#lib/observability';
import { SEALED_TABLE_NAMES } from '#lib/secrets';
import { sealFactor } from '../../libs/access/identity/domain/factor-secret.js';
import { readGauges } from './metrics/read-gauges.sql.js';
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
  const secret = Buffer.from('the secret of a factor');
  await server.db.owner.query('INSERT INTO user_factors (user_id, sealed) VALUES ($1, $2)', [
    workspace.userId,
    sealFactor(config.encryption.masterKeys, workspace.userId, secret),
  ]);
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

async function masterKeyOfFactor(): Promise<string | undefined> {
  const { rows } = await server.db.owner.query<{ sealed: string }>(
    'SELECT sealed FROM user_factors WHERE user_id = $1',
    [workspace.userId],
  );
  return rows[0]?.sealed.split(':')[0];
}

/** The counts of sealed values for a server with these master keys. */
async function sealedValues(...masterKeys: string[]): Promise<Record<string, number>> {
  const rows = await server.db.database.service.rows(readGauges, [masterKeys]);
  const own = rows.filter(({ gauge }) => gauge === 'sealed_tasks');
  return Object.fromEntries(own.map(({ label, value }) => [label, value]));
}

describe('--rotate-keys', () => {
  it('--rotate-keys reseals everything while the server runs, and the server opens it', async () => {
    const done = await rotateKeys(config, logger);
    expect(done).toEqual({ message: 'secrets resealed', tasks: 250, factors: 0, unreadable: 0 });
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
    expect(await masterKeyOfFactor()).toBe('next');
    await coordinator.stop();
    expect((await server.db.owner.query('SELECT id FROM data_keys')).rows).toHaveLength(before + 1);
  });
});

describe('second factors and a new master key', () => {
  const third = `third:${'C'.repeat(43)}=`;
  const keys = `${third},next:${'B'.repeat(43)}=`;

  it('second factors count as sealed by an older key until --rotate-keys reseals them', async () => {
    expect(await sealedValues('third', 'next')).toEqual({ current: 250, older: 1 });
    expect(await rotateKeys(withKeys(keys), logger)).toMatchObject({ tasks: 250, factors: 1 });
    expect(await masterKeyOfFactor()).toBe('third');
    expect(await sealedValues('third', 'next')).toEqual({ current: 251 });
    expect(await sealedValues('another')).toEqual({ current: 250, unreadable: 1 });
  });

  it('a server names the master key of a second factor that it lacks', async () => {
    const start = (more = {}) => prepareDatabase(withKeys(third, more), { logger, migrate: false });
    await expect(start()).resolves.toEqual([]);
    await server.db.owner.query(`UPDATE user_factors SET sealed = 'gone:x' WHERE user_id = $1`, [
      workspace.userId,
    ]);
    await expect(start()).rejects.toThrow('need the master key gone');
    await expect(start({ ENCRYPTION_LOST_KEYS: 'gone' })).resolves.toEqual([]);
  });

  it('the list of sealed tables names each table with data keys', async () => {
    const { rows } = await server.db.owner.query<{ name: string }>(
      `SELECT conrelid::regclass::text AS name FROM pg_constraint
        WHERE confrelid = 'data_keys'::regclass AND contype = 'f'`,
    );
    expect(rows.map(({ name }) => name).sort()).toEqual([...SEALED_TABLE_NAMES].sort());
  });
});
