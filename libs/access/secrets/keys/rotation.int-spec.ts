import { createSecretKey, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { startTestApp, type TestApp, type TestWorkspace } from '../../../../test/support/app.js';
import { CONFIG, type Config } from '#lib/config';
import { Logger } from '#lib/observability';
import { KeyRing } from './key-ring.js';
import { Resealing } from './resealing.js';

interface Task {
  id: string;
  inputContext: unknown;
}

const SECRET = 'wintergreen-4711';
const PLAIN_KEY = '00000000-0000-0000-0000-000000000000';

let server: TestApp;
let workspace: TestWorkspace;
let config: Config;

beforeAll(async () => {
  server = await startTestApp({ ROLES: 'api' });
  config = server.app.get<Config>(CONFIG, { strict: false });
});
afterAll(() => server.stop());
beforeEach(async () => {
  await server.db.owner.query(NO_KEYS);
  workspace = await server.newWorkspace();
});

/** All secrets, and the keys that seal them. */
const NO_KEYS =
  'TRUNCATE task_secrets, agent_secrets, project_secrets, schedule_secrets, task_template_secrets, ' +
  'webhook_secrets, inbound_hook_secrets, model_provider_secrets, host_credential_secrets, repository_secrets, data_keys';

type MasterKeys = Config['encryption']['masterKeys'];

const masterKey = (id: string) => ({ id, key: createSecretKey(randomBytes(32)) });

/** A server of its own with regard to keys. */
function rotor(masterKeys: MasterKeys = config.encryption.masterKeys) {
  const { database } = server.db;
  const encryption = { ...config.encryption, masterKeys };
  const ring = new KeyRing(database, { ...config, encryption });
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const logger = Logger.create({ level: 'warn', destination });
  return { ring, lines, resealing: new Resealing(database, ring, logger) };
}

async function create(title: string): Promise<Task> {
  const wanted = { title, taskType: 'test', inputContext: { token: `${SECRET} ${title}` } };
  const post = () => workspace.api.post<Task>('/agent-tasks', wanted);
  const first = await post();
  // The server may still cache a key that the previous test removed.
  const { status, body } = first.status === 503 ? await post() : first;
  expect(status).toBe(201);
  return body;
}

async function claimed(): Promise<Record<string, unknown>> {
  const agent = await workspace.newAgent({ maxConcurrentTasks: 50 });
  const { body } = await agent.api.post<{ tasks: { task: Task & { title: string } }[] }>(
    `/agents/${agent.id}/claim`,
    { maxTasks: 50 },
  );
  return Object.fromEntries(body.tasks.map(({ task }) => [task.title, task.inputContext]));
}

const rows = async <T>(sql: string, values: unknown[] = []): Promise<T[]> =>
  (await server.db.owner.query(sql, values)).rows as T[];

const keysInTasks = async (): Promise<string[]> => {
  const texts = await rows<{ key: string }>(
    `SELECT DISTINCT (regexp_matches(s.sealed::text, 'drover-sealed:1:([0-9a-f-]+):', 'g'))[1] AS key
     FROM task_secrets s`,
  );
  return texts.map(({ key }) => key).sort();
};

const newest = async (): Promise<string> =>
  (await rows<{ id: string }>('SELECT id FROM data_keys ORDER BY created_at DESC LIMIT 1'))[0]
    ?.id ?? '';

describe('the rotation of the data key', () => {
  it('a rotation leaves nothing under the old key, and everything stays readable', async () => {
    const titles = Array.from({ length: 7 }, (_, index) => `task ${index}`);
    for (const title of titles) await create(title);
    const old = await newest();
    const { resealing } = rotor();
    await resealing.rotate();
    const fresh = await newest();
    expect(fresh).not.toBe(old);
    expect(await resealing.batch(3)).toEqual({ resealed: 3, unreadable: 0, more: true });
    expect(await keysInTasks()).toEqual([old, fresh].sort());
    // Half of them are under each key, and the server knows the new key of neither.
    const readable = Object.fromEntries(titles.map((t) => [t, { token: `${SECRET} ${t}` }]));
    expect(await claimed()).toEqual(readable);
    while ((await resealing.batch(3)).more);
    expect(await keysInTasks()).toEqual([fresh]);
    expect(await rows('SELECT DISTINCT key_id FROM task_secrets')).toEqual([{ key_id: fresh }]);
  });

  it('a rotation reseals the secrets of a project', async () => {
    const { body: project } = await workspace.api.post<{ id: string }>('/projects', { name: 'P' });
    const mcpServers = [{ name: 'issues', url: 'https://a.example', headers: { Key: SECRET } }];
    const set = () => workspace.api.patch(`/projects/${project.id}`, { mcpServers });
    // The server has not heard yet that a test before removed its key.
    const first = await set();
    if (first.status !== 200)
      expect(first).toMatchObject({ status: 503, body: { code: 'conflict_retry' } });
    expect(await set()).toMatchObject({ status: 200 });
    const { resealing } = rotor();
    await resealing.rotate();
    while ((await resealing.round()).more);
    const [row] = await rows<{ key_id: string }>('SELECT key_id FROM project_secrets');
    expect(row).toEqual({ key_id: await newest() });
    const headers = { Key: '[redacted]' };
    const again = [{ ...mcpServers[0], headers }];
    const kept = await workspace.api.patch(`/projects/${project.id}`, { mcpServers: again });
    expect(kept).toMatchObject({ status: 200, body: { mcpServers: again } });
  });

  it('a rotation reseals the secrets of a schedule and of a template', async () => {
    const tasks = [{ taskType: 'test', secrets: { KEY: SECRET } }];
    const body = { name: 'nightly', everySeconds: 3_600, tasks };
    const add = () => workspace.api.post<{ id: string }>('/schedules', body);
    const first = await add();
    if (first.status !== 201)
      expect(first).toMatchObject({ status: 503, body: { code: 'conflict_retry' } });
    const { id } = first.status === 201 ? first.body : (await add()).body;
    const template = await workspace.api.post<{ id: string }>('/task-templates', {
      name: 'deploy',
      task: tasks[0],
    });
    const { resealing } = rotor();
    await resealing.rotate();
    while ((await resealing.round()).more);
    const sql =
      'SELECT key_id FROM schedule_secrets UNION ALL SELECT key_id FROM task_template_secrets';
    const fresh = { key_id: await newest() };
    expect(await rows(sql)).toEqual([fresh, fresh]);
    expect(await workspace.api.post(`/schedules/${id}/run`)).toMatchObject({ status: 201 });
    const created = await workspace.api.post(`/task-templates/${template.body.id}/tasks`);
    expect(created).toMatchObject({ status: 201 });
  });

  it('a rotation reseals the secrets of a repository', async () => {
    const body = { name: 'shop', url: 'https://example.com/shop', secrets: { NPM_TOKEN: SECRET } };
    const add = () => workspace.api.post<{ id: string }>('/repositories', body);
    const first = await add();
    if (first.status !== 201)
      expect(first).toMatchObject({ status: 503, body: { code: 'conflict_retry' } });
    const { id } = first.status === 201 ? first.body : (await add()).body;
    const { resealing } = rotor();
    await resealing.rotate();
    while ((await resealing.round()).more);
    const [row] = await rows<{ key_id: string }>('SELECT key_id FROM repository_secrets');
    expect(row).toEqual({ key_id: await newest() });
    const kept = await workspace.api.patch(`/repositories/${id}`, { secrets: { MORE: 'x' } });
    expect(kept).toMatchObject({ status: 200, body: { secretNames: ['MORE', 'NPM_TOKEN'] } });
  });

  it('a rotation removes the old key only long after its retirement', async () => {
    await create('a task');
    const old = await newest();
    const { resealing, ring } = rotor();
    await resealing.rotate();
    await server.db.owner.query(`UPDATE data_keys SET retired_at = now() - interval '1 hour'
      WHERE retired_at IS NOT NULL`);
    expect(await ring.removeUnused()).toBe(0);
    while ((await resealing.round()).more);
    expect(await rows('SELECT FROM data_keys WHERE id = $1', [old])).toEqual([]);
    await resealing.rotate();
    while ((await resealing.round()).more);
    expect(await rows('SELECT FROM data_keys')).toHaveLength(2);
  });

  it('a server that missed the rotation finds the new key after its first write is refused', async () => {
    await create('before');
    await server.db.owner.query(NO_KEYS);
    const wanted = { title: 'x', taskType: 'test', inputContext: { token: SECRET } };
    const refused = await workspace.api.post<{ code: string }>('/agent-tasks', wanted);
    expect([refused.status, refused.body.code]).toEqual([503, 'conflict_retry']);
    expect((await workspace.api.post('/agent-tasks', wanted)).status).toBe(201);
  });

  it.each([
    ['complete', { outputResult: { token: SECRET } }],
    ['fail', { error: { message: 'x' }, checkpointData: { token: SECRET } }],
    ['checkpoint', { checkpointData: { token: SECRET } }],
  ])(
    'a server that missed the rotation recovers in the report %s of a run',
    async (report, body) => {
      await create('a task');
      const agent = await workspace.newAgent({ maxConcurrentTasks: 50 });
      const { body: answer } = await agent.api.post<{ tasks: { run: { id: string } }[] }>(
        `/agents/${agent.id}/claim`,
        { maxTasks: 1 },
      );
      await server.db.owner.query(NO_KEYS);
      const path = `/runs/${answer.tasks[0]?.run.id}/${report}`;
      const say = (): Promise<{ status: number; body: { code?: string } }> =>
        report === 'checkpoint' ? agent.api.put(path, body) : agent.api.post(path, body);
      const refused = await say();
      expect([refused.status, refused.body.code]).toEqual([503, 'conflict_retry']);
      expect((await say()).status).toBe(200);
    },
  );

  it('a rotation sets aside values that cannot be opened, and continues', async () => {
    const broken = await create('broken');
    await create('whole');
    const old = await newest();
    await server.db.owner.query(
      `UPDATE task_secrets SET sealed = jsonb_build_object('token',
         replace(sealed ->> 'token', '[redacted]', 'other')) WHERE task_id = $1`,
      [broken.id],
    );
    const { resealing } = rotor();
    await resealing.rotate();
    expect(await resealing.batch(10)).toEqual({ resealed: 1, unreadable: 1, more: true });
    expect(await resealing.batch(10)).toMatchObject({ resealed: 0, more: false });
    expect(await keysInTasks()).toEqual([old, await newest()].sort());
    await server.db.owner.query(`UPDATE data_keys SET retired_at = now() - interval '1 hour'
      WHERE retired_at IS NOT NULL`);
    await resealing.round();
    expect(await rows('SELECT FROM data_keys WHERE id = $1', [old])).toHaveLength(1);
  });

  it('a rotation names the missing master key, and a later one opens its secrets', async () => {
    const [own] = config.encryption.masterKeys;
    if (own === undefined) throw new Error('There is no master key');
    const other = masterKey('other');
    await create('of another server');
    const another = rotor([other, own]);
    await another.resealing.rotate();
    expect(another.lines.join()).toContain('no data key uses the first master key yet');
    expect(await another.resealing.batch(10)).toMatchObject({ resealed: 1 });
    const without = rotor();
    await without.resealing.rotate();
    expect(await without.resealing.batch(10)).toMatchObject({ unreadable: 1 });
    expect(without.lines.map((line) => JSON.parse(line) as object)).toMatchObject([
      { missing: ['other'], remedy: expect.stringContaining('ENCRYPTION_KEYS') },
    ]);
    const mended = rotor([own, other]);
    await mended.resealing.rotate();
    expect(await mended.resealing.batch(10)).toMatchObject({ resealed: 1, unreadable: 0 });
  });

  it('a rotation leaves concurrent writes alone and waits for nobody who works on a task', async () => {
    const task = await create('a task');
    const { resealing } = rotor();
    await resealing.rotate();
    const client = await server.db.owner.connect();
    await client.query('BEGIN');
    await client.query('SELECT FROM task_secrets WHERE task_id = $1 FOR UPDATE', [task.id]);
    expect(await resealing.batch(10)).toEqual({ resealed: 0, unreadable: 0, more: true });
    await client.query('ROLLBACK');
    await client.query('BEGIN');
    await client.query('SELECT FROM agent_tasks WHERE id = $1 FOR UPDATE', [task.id]);
    expect(await resealing.batch(10)).toMatchObject({ resealed: 1 });
    await client.query('ROLLBACK');
    client.release();
  });

  it('a rotation seals values from before sealing existed', async () => {
    const [task, harmless] = [await create('old'), await create('harmless')];
    await server.db.owner.query(
      `INSERT INTO data_keys (id, retired_at) VALUES ($1, now()) ON CONFLICT DO NOTHING`,
      [PLAIN_KEY],
    );
    const inClear = { old: { token: SECRET, open: 1 }, harmless: { open: 2 } };
    for (const [id, document] of [
      [task.id, inClear.old],
      [harmless.id, inClear.harmless],
    ] as const) {
      await server.db.owner.query(
        `UPDATE agent_tasks SET input_context = '{"redacted": "[redacted]"}' WHERE id = $1`,
        [id],
      );
      await server.db.owner.query(
        'UPDATE task_secrets SET key_id = $1, sealed = $2 WHERE task_id = $3',
        [PLAIN_KEY, JSON.stringify(document), id],
      );
    }
    const { resealing } = rotor();
    while ((await resealing.batch(10)).more);
    const seen = await rows<{ shown: unknown; sealed: string | null }>(
      `SELECT t.input_context AS shown, s.sealed::text AS sealed FROM agent_tasks t
       LEFT JOIN task_secrets s ON s.task_id = t.id WHERE t.workspace_id = $1 ORDER BY t.id`,
      [workspace.id],
    );
    expect(seen).toEqual([
      { shown: { token: '[redacted]', open: 1 }, sealed: expect.stringContaining('drover-sealed') },
      { shown: { open: 2 }, sealed: null },
    ]);
    expect(seen[0]?.sealed).not.toContain(SECRET);
    expect(await claimed()).toEqual(inClear);
  });
});

describe('the master key', () => {
  it('an earlier master key opens its values until all are under the new one', async () => {
    await create('a task');
    const old = config.encryption.masterKeys[0] as MasterKeys[number];
    const next = masterKey('next');
    const { resealing } = rotor([next, old]);
    while ((await resealing.round()).more);
    const keys = await rows('SELECT master_key_id FROM data_keys WHERE retired_at IS NULL');
    expect(keys).toEqual([{ master_key_id: 'next' }]);
    expect(await keysInTasks()).toEqual([await newest()]);
    expect(await rotor([next]).ring.missingMasterKeys()).toEqual([]);
    expect(await rotor([old]).ring.missingMasterKeys()).toEqual(['next']);
  });

  it('a missing or changed master key is named', async () => {
    await create('a task');
    const { id } = config.encryption.masterKeys[0] as MasterKeys[number];
    expect(await rotor([masterKey('another')]).ring.missingMasterKeys()).toEqual([id]);
    expect(await rotor([masterKey(id)]).ring.missingMasterKeys()).toEqual([id]);
    expect(await rotor().ring.missingMasterKeys()).toEqual([]);
  });

  it('servers with different first master keys do not undo each other', async () => {
    const [a, b] = [masterKey('a'), masterKey('b')];
    const one = rotor([a, b]);
    await one.ring.current();
    const other = rotor([b, a]);
    for (let round = 0; round < 4; round++) {
      await other.resealing.round();
      await one.resealing.round();
    }
    expect(await rows('SELECT FROM data_keys')).toHaveLength(2);
    expect((await one.ring.current()).id).toBe((await other.ring.current()).id);
  });

  it('concurrent first uses create one key', async () => {
    const keys = await Promise.all(Array.from({ length: 10 }, () => rotor().ring.current()));
    expect(new Set(keys.map(({ id }) => id)).size).toBe(1);
    expect(await rows('SELECT FROM data_keys')).toHaveLength(1);
  });
});
