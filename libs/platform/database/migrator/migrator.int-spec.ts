import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startCluster, type TestCluster } from '../../../../test/support/cluster.js';
import { waitFor } from '../../../../test/support/wait-for.js';
import { checkMigrated, migrate, MigrationError, migrationStatus } from './index.js';

const OUR_MIGRATIONS = 'prisma/migrations';
const FIRST = '20260101000000_first';
const SECOND = '20260102000000_second';

let cluster: TestCluster;
let ownerUrl: string;
let migrationsDir: string;

beforeAll(async () => {
  cluster = await startCluster();
  migrationsDir = await mkdtemp(join(tmpdir(), 'drover-migrations-'));
});

afterAll(async () => {
  await rm(migrationsDir, { recursive: true, force: true });
  await cluster.stop();
});

beforeEach(async () => {
  await rm(migrationsDir, { recursive: true, force: true });
  await write(FIRST, 'CREATE TABLE one (id int);\n');
  await write(SECOND, 'CREATE TABLE two (id int);\n');
  ownerUrl = await cluster.newDatabase();
});

async function write(name: string, sql: string): Promise<void> {
  await mkdir(join(migrationsDir, name), { recursive: true });
  await writeFile(join(migrationsDir, name, 'migration.sql'), sql);
}

function run(
  more: { lockWaitMs?: number; force?: boolean; log?: (line: string) => void } = {},
): Promise<string[]> {
  return migrate({ ownerUrl, migrationsDir, ...more });
}

async function ask<Row extends pg.QueryResultRow>(sql: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: ownerUrl });
  await client.connect();
  try {
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}

async function tables(): Promise<string[]> {
  const rows = await ask<{ name: string }>(
    `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1`,
  );
  return rows.map((row) => row.name);
}

/** The sentence that a migration is refused with. */
async function refusalOf(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(MigrationError);
  const { message } = error as MigrationError;
  expect(message).not.toMatch(/\n|\. [A-Z]/);
  return message;
}

describe('migrate', () => {
  it('missing migrations are applied in order, and none twice', async () => {
    const lines: string[] = [];
    expect(await run({ log: (line) => lines.push(line) })).toEqual([FIRST, SECOND]);
    expect(lines).toEqual([`applying 2 migrations, from ${FIRST} to ${SECOND}`]);
    expect(await tables()).toEqual(['_prisma_migrations', 'one', 'two']);
    const before = await ask('SELECT * FROM _prisma_migrations');
    expect(await run({ log: (line) => lines.push(line) })).toEqual([]);
    expect(await ask('SELECT * FROM _prisma_migrations')).toEqual(before);
    await write('20260103000000_third', 'CREATE TABLE three (id int);');
    expect(await run({ log: (line) => lines.push(line) })).toEqual(['20260103000000_third']);
    expect(lines.slice(1)).toEqual(['applying the migration 20260103000000_third']);
  });

  it('a migration that stops older servers is refused while one is connected', async () => {
    await run();
    const third = '20260103000000_third';
    await write(third, 'DROP TABLE one;');
    await writeFile(join(migrationsDir, third, 'stops-servers.txt'), 'they read its table\n');
    const fourth = '20260104000000_fourth';
    await write(fourth, 'CREATE TABLE four (id int);');
    await cluster.admin.query(`CREATE ROLE drover_service LOGIN PASSWORD 'pw'`);
    const url = new URL(ownerUrl);
    Object.assign(url, { username: 'drover_service', password: 'pw' });
    const server = new pg.Client({ connectionString: url.href, application_name: 'drover' });
    await server.connect();
    try {
      expect(await refusalOf(run())).toBe(
        `The migration ${third} stops older servers, because they read its table, and 1 session ` +
          'of a server is connected: stop all servers, then migrate again, or add --force if ' +
          'these are no servers.',
      );
      expect(await tables()).toEqual(['_prisma_migrations', 'one', 'two']);
      expect(await run({ force: true })).toEqual([third, fourth]);
      // The others expand the schema.
      await write('20260105000000_fifth', 'CREATE TABLE five (id int);');
      expect(await run()).toEqual(['20260105000000_fifth']);
    } finally {
      await server.end();
      await cluster.admin.query('DROP ROLE drover_service');
    }
  });

  it('concurrent migrators do the work of one', async () => {
    const runs = await Promise.all([run(), run(), run()]);
    expect(runs.flat().sort()).toEqual([FIRST, SECOND]);
    expect(await ask('SELECT FROM _prisma_migrations')).toHaveLength(2);
  });

  it('the first migration can run in several databases at once', async () => {
    const names = (await readdir(OUR_MIGRATIONS)).sort();
    const urls = await Promise.all([1, 2, 3, 4].map(() => cluster.newDatabase()));
    const signIns = urls.map((url) => ({
      ownerUrl: url,
      appUrl: as(url, 'drover_app', 'p'),
      serviceUrl: as(url, 'drover_service', 'q'),
    }));
    expect(await Promise.all(signIns.map((options) => migrate(options)))).toEqual(
      signIns.map(() => names),
    );
    for (const { serviceUrl } of signIns) expect(await checkMigrated(serviceUrl)).toBeNull();
  });

  it('a migrator reports a lock that another migration holds for too long', async () => {
    const holder = new pg.Client({ connectionString: ownerUrl });
    await holder.connect();
    await holder.query('SELECT pg_advisory_lock(72707369)');
    expect(await refusalOf(run({ lockWaitMs: 100 }))).toMatch(
      /^Another migration of this database has been running for 0.1 s: wait for its end/,
    );
    await holder.end();
    expect(await run()).toEqual([FIRST, SECOND]);
  });

  it('a failed migration is rolled back, and those before it stay', async () => {
    await write(SECOND, 'CREATE TABLE two (id int);\nSELECT 1 / 0;');
    expect(await refusalOf(run())).toMatch(
      `The migration ${SECOND} failed and was undone (division by zero)`,
    );
    expect(await tables()).toEqual(['_prisma_migrations', 'one']);
    expect(await ask('SELECT FROM _prisma_migrations')).toHaveLength(1);
    await write(SECOND, 'CREATE TABLE two (id int);');
    expect(await run()).toEqual([SECOND]);
  });

  it('a migration is repeated after a deadlock with a server', async () => {
    await run();
    const third = '20260103000000_third';
    await write(third, 'ALTER TABLE one ADD n int; ALTER TABLE two ADD n int;');
    const server = new pg.Client({ connectionString: ownerUrl });
    await server.connect();
    // Postgres undoes the one that looks for deadlocks first.
    await server.query(`SET deadlock_timeout = '1h'; BEGIN; SELECT * FROM two`);
    const migrating = run();
    await waitFor('the migration to wait', async () => {
      const waiting = await ask(
        `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`,
      );
      return waiting.length > 0;
    });
    await server.query('SELECT * FROM one');
    await server.end();
    expect(await migrating).toEqual([third]);
    expect(await ask('SELECT one.n, two.n FROM one, two')).toEqual([]);
  });

  it("a missing database fails with the driver's code", async () => {
    const missing = new URL(ownerUrl);
    missing.pathname = '/nowhere';
    await expect(migrate({ ownerUrl: missing.href, migrationsDir })).rejects.toMatchObject({
      code: '3D000',
    });
  });
});

describe('a database that does not match', () => {
  beforeEach(() => run());

  it('a database with a changed migration is refused until it is restored', async () => {
    await write(FIRST, 'CREATE TABLE one (id bigint);\n');
    expect(await refusalOf(run())).toMatch(`The migration ${FIRST} was changed after`);
    await write(FIRST, 'CREATE TABLE one (id int);\n');
    expect(await run()).toEqual([]);
  });

  it('a database whose migrations differ only in line endings is accepted', async () => {
    await write(FIRST, 'CREATE TABLE one (id int);\r\n');
    expect(await run()).toEqual([]);
  });

  it('a database of a newer version is refused and left unchanged', async () => {
    await rm(join(migrationsDir, SECOND), { recursive: true });
    await write('20260101120000_between', 'CREATE TABLE between_them (id int);');
    expect(await refusalOf(run())).toMatch(`newer version of Drover (it has ${SECOND})`);
    expect(await tables()).toEqual(['_prisma_migrations', 'one', 'two']);
  });

  it('a database with an unfinished migration is refused until it is marked as rolled back', async () => {
    await ask(
      `UPDATE _prisma_migrations SET finished_at = NULL WHERE migration_name = '${SECOND}'`,
    );
    expect(await refusalOf(run())).toMatch(`The migration ${SECOND} failed before`);
    await ask('DROP TABLE two');
    await ask('UPDATE _prisma_migrations SET rolled_back_at = now() WHERE finished_at IS NULL');
    expect(await run()).toEqual([SECOND]);
    expect(await ask('SELECT FROM _prisma_migrations')).toHaveLength(3);
  });
});

describe('_prisma_migrations', () => {
  it("the table has Prisma's columns", async () => {
    await run();
    const columns = await ask<{ line: string }>(
      `SELECT concat_ws(' ', a.attname, format_type(a.atttypid, a.atttypmod),
         CASE WHEN a.attnotnull THEN 'not null' END, pg_get_expr(d.adbin, d.adrelid)) AS line
       FROM pg_attribute a LEFT JOIN pg_attrdef d ON (d.adrelid, d.adnum) = (a.attrelid, a.attnum)
       WHERE a.attrelid = '_prisma_migrations'::regclass AND a.attnum > 0 ORDER BY a.attnum`,
    );
    expect(columns.map((column) => column.line)).toEqual([
      'id character varying(36) not null',
      'checksum character varying(64) not null',
      'finished_at timestamp with time zone',
      'migration_name character varying(255) not null',
      'logs text',
      'rolled_back_at timestamp with time zone',
      'started_at timestamp with time zone not null now()',
      'applied_steps_count integer not null 0',
    ]);
  });

  it('each migration has the row that Prisma would write', async () => {
    await run();
    const rows = await ask<Record<string, unknown>>(
      `SELECT *, finished_at >= started_at AND started_at > now() - interval '1 minute' AS timely
       FROM _prisma_migrations ORDER BY migration_name`,
    );
    const sql = await readFile(join(migrationsDir, FIRST, 'migration.sql'));
    expect(rows.map((row) => row['migration_name'])).toEqual([FIRST, SECOND]);
    expect(rows[0]).toEqual({
      id: expect.stringMatching(
        /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
      ),
      checksum: createHash('sha256').update(sql).digest('hex'),
      finished_at: expect.any(Date),
      migration_name: FIRST,
      logs: null,
      rolled_back_at: null,
      started_at: expect.any(Date),
      applied_steps_count: 1,
      timely: true,
    });
  });
});

describe('migrationStatus', () => {
  it('the status lists applied and pending migrations and the refusal', async () => {
    const status = () => migrationStatus(ownerUrl, migrationsDir);
    expect(await status()).toEqual({ applied: [], pending: [FIRST, SECOND], refusal: null });
    expect(await tables()).toEqual([]);
    expect(await checkMigrated(ownerUrl, migrationsDir)).toMatch(
      `The database lacks ${FIRST}, ${SECOND}: run the server once`,
    );
    await run();
    expect(await status()).toEqual({ applied: [FIRST, SECOND], pending: [], refusal: null });
    await write(FIRST, 'something else');
    expect(await status()).toMatchObject({ refusal: expect.stringMatching('was changed') });
    expect(await checkMigrated(ownerUrl, migrationsDir)).toMatch('was changed');
  });
});

function as(url: string, username: string, password: string): string {
  return Object.assign(new URL(url), { username, password }).href;
}
