import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createSecretKey, randomBytes } from 'node:crypto';
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startCluster, type TestCluster } from '../../../../test/support/cluster.js';
import { aWorkspace } from '../../../../test/support/factories.js';
import { migrate } from '#lib/database';
import { newId } from '#lib/kernel';
import { NO_KEY, openOriginal, type Original, sealSecrets } from '../domain/originals.js';
import { redactSecrets } from '../domain/secret-walk.js';

const MIGRATIONS = 'prisma/migrations';
const THIS = '20261122010000_task_secrets';

let cluster: TestCluster;
let earlier: string;
let ownerUrl: string;
let owner: pg.Pool;

beforeAll(async () => {
  cluster = await startCluster();
  await cluster.admin.query(`CREATE ROLE house LOGIN PASSWORD 'p' CREATEROLE`);
  ownerUrl = await cluster.newDatabase({ name: 'house', password: 'p' });
  owner = new pg.Pool({ connectionString: asAdmin(ownerUrl) });
  owner.on('error', () => undefined);
  earlier = await mkdtemp(join(tmpdir(), 'drover-migrations-'));
  for (const name of (await readdir(MIGRATIONS)).filter((one) => one < THIS)) {
    await cp(join(MIGRATIONS, name), join(earlier, name), { recursive: true });
  }
});
afterAll(async () => {
  await owner.end();
  await cluster.stop();
  await rm(earlier, { recursive: true, force: true });
});

/** The same database under a role that row-level security does not bind. */
function asAdmin(url: string): string {
  const admin = new URL(cluster.admin.options.connectionString as string);
  admin.pathname = new URL(url).pathname;
  return admin.href;
}

const key = { id: newId(), key: createSecretKey(randomBytes(32)) };

type Documents = Partial<Record<Original['column_name'], unknown>>;

/**
 * @param documents from the id of the task, to which sealed values are bound
 */
async function anOldTask(
  workspace: string,
  documents: (id: string) => Documents,
  keyId: string | null,
): Promise<string> {
  const id = newId();
  await owner.query(
    `INSERT INTO agent_tasks (workspace_id, id, title, task_type, ready_at)
     VALUES ($1, $2, 'A task', 'test', now())`,
    [workspace, id],
  );
  for (const [column, document] of Object.entries(documents(id))) {
    const value = JSON.stringify(document);
    await owner.query(`UPDATE agent_tasks SET ${column} = $2 WHERE id = $1`, [id, value]);
  }
  await owner.query(
    'INSERT INTO task_seals (workspace_id, task_id, key_id) SELECT $1, $2, $3::uuid WHERE $3::uuid IS NOT NULL',
    [workspace, id, keyId],
  );
  return id;
}

it('the migration moves sealed values out of the columns, which show the same as before', async () => {
  await migrate({ ownerUrl, migrationsDir: earlier });
  const workspace = await aWorkspace(owner);
  await owner.query(
    `INSERT INTO data_keys (id, master_key_id, wrapped) VALUES ($1, 'm', '\\x00')`,
    [key.id],
  );
  await owner.query('INSERT INTO data_keys (id, retired_at) VALUES ($1, now())', [NO_KEY]);
  const document = {
    password: 'hunter22"\\',
    'a "name"': ['--token', 'abcdef', { deep: [{ apiKey: { pin: 1 } }] }],
    note: 'say "Authorization: Basic abc"\nto \\"drover-sealed:1:x:y:z" and Bearer abc.def',
    plain: { n: 1.5, none: null, yes: true, list: [], text: 'é\u0001' },
  };
  const sealedIn = (task_id: string) => {
    const seal = (column_name: Original['column_name'], value: unknown) =>
      sealSecrets(key, value, { workspace_id: workspace, task_id, column_name });
    return {
      input_context: seal('input_context', document),
      output_result: seal('output_result', 'Bearer abc.def'),
      metadata: { harmless: 1 },
    };
  };
  const id = await anOldTask(workspace, sealedIn, key.id);
  const inClear = await anOldTask(workspace, () => ({ metadata: { token: 'abcdef' } }), NO_KEY);
  const broken = () => ({ checkpoint_data: { a: 'drover-sealed:1:x' } });
  const damaged = await anOldTask(workspace, broken, key.id);
  const without = await anOldTask(workspace, () => ({ metadata: { plain: 'text' } }), null);

  expect(await migrate({ ownerUrl })).toContain(THIS);

  const tasks = await owner.query<Documents & { id: string }>(
    'SELECT id, input_context, checkpoint_data, output_result, metadata FROM agent_tasks ORDER BY id',
  );
  const empty = { input_context: {}, checkpoint_data: {}, output_result: null, metadata: {} };
  expect(tasks.rows).toEqual([
    {
      ...empty,
      id,
      input_context: redactSecrets(document),
      output_result: 'Bearer [redacted]',
      metadata: { harmless: 1 },
    },
    { ...empty, id: inClear, metadata: { redacted: '[redacted]' } },
    { ...empty, id: damaged, checkpoint_data: { a: '[redacted]' } },
    { ...empty, id: without, metadata: { plain: 'text' } },
  ]);

  const { rows } = await owner.query<Original & { unreadable_at: Date | null }>(
    'SELECT * FROM task_secrets ORDER BY task_id, column_name',
  );
  expect(rows.map((row) => [row.task_id, row.column_name, row.key_id])).toEqual([
    [id, 'input_context', key.id],
    [id, 'output_result', key.id],
    [inClear, 'metadata', NO_KEY],
    [damaged, 'checkpoint_data', NO_KEY],
  ]);
  const [input, result, old, last] = rows as [Original, Original, Original, (typeof rows)[number]];
  expect(openOriginal(input, key)).toEqual({ kind: 'opened', value: document });
  expect(openOriginal(result, key)).toEqual({ kind: 'opened', value: 'Bearer abc.def' });
  expect(old.sealed).toEqual({ token: 'abcdef' });
  expect(openOriginal(last, undefined)).toMatchObject({ kind: 'unreadable' });
  expect(last.unreadable_at).not.toBeNull();
});
