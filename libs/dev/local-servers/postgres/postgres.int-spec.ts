import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { EmbeddedPostgres } from './postgres.js';
import { startEmbeddedPostgres } from './postgres.js';

let scratch: string;
const running: EmbeddedPostgres[] = [];

async function start(name: string, port?: number): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({ dataDir: join(scratch, name), fsync: false, port });
  running.push(server);
  return server;
}

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<Record<string, unknown>>(text);
  await client.end();
  return rows;
}

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'drover-embedded-spec-'));
  await chmod(scratch, 0o711);
});

afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.stop()));
});

afterAll(async () => {
  await rm(scratch, { recursive: true, force: true });
});

describe('startEmbeddedPostgres', () => {
  it('Postgres keeps data and password over a restart', async () => {
    const first = await start('keep');
    await query(first.url, 'CREATE TABLE kept AS SELECT 42 AS answer');
    await first.stop();
    const second = await start('keep');
    expect(await query(second.url, 'SELECT answer, current_database() AS db FROM kept')).toEqual([
      { answer: 42, db: 'drover' },
    ]);
    expect((await stat(join(second.dataDir, 'password'))).mode & 0o777).toBe(0o600);
  });

  it('a connection without the password is refused', async () => {
    const server = await start('keep');
    const url = new URL(server.url);
    url.password = 'guess';
    await expect(query(url.href, 'SELECT 1')).rejects.toThrow(/password authentication failed/);
  });

  it('a data folder that another server uses is refused', async () => {
    const first = await start('keep');
    await expect(start('keep')).rejects.toMatchObject({
      code: 'data_folder_in_use',
      message: `The data folder ${first.dataDir} is in use by another PostgreSQL server (process ${String(first.pid)}): stop that one, or choose another data folder.`,
    });
    expect(await query(first.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('several servers start at the same time', async () => {
    const servers = await Promise.all(['a', 'b'].map((name) => start(name)));
    expect(new Set(servers.map((server) => server.port)).size).toBe(2);
    for (const { url } of servers)
      expect(await query(url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('a port in use is reported', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as { port: number };
    await expect(start('a', port)).rejects.toMatchObject({
      code: 'port_taken',
      message: `Port ${String(port)} of 127.0.0.1 is taken: stop what listens there, or choose another port.`,
    });
    other.close();
  });

  it('the lock file of a server that died with its machine is ignored', async () => {
    const server = await start('a');
    const pgdata = join(server.dataDir, 'pgdata');
    const [, ...rest] = (await readFile(join(pgdata, 'postmaster.pid'), 'utf8')).split('\n');
    await server.stop();
    // PostgreSQL accepts any living process of its own user as the holder.
    const { uid, gid } = await stat(pgdata);
    const as = process.getuid?.() === 0 ? { uid, gid } : {};
    const other = spawn('sleep', ['600'], { ...as, stdio: 'ignore' });
    await writeFile(join(pgdata, 'postmaster.pid'), [String(other.pid), ...rest].join('\n'));
    const again = await start('a').finally(() => other.kill());
    expect(await query(again.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('data of another major version is refused', async () => {
    const server = await start('b');
    await server.stop();
    await writeFile(join(server.dataDir, 'pgdata', 'PG_VERSION'), '17\n');
    await expect(start('b')).rejects.toMatchObject({
      code: 'data_version',
      message: expect.stringMatching(/made by PostgreSQL 17 and this is PostgreSQL 18: dump it/),
    });
  });

  it('a folder with other content is left alone', async () => {
    await writeFile(join(scratch, 'note.txt'), 'mine');
    await expect(start('.')).rejects.toMatchObject({ code: 'data_folder_foreign' });
    expect(await readFile(join(scratch, 'note.txt'), 'utf8')).toBe('mine');
    await rm(join(scratch, 'note.txt'));
  });

  it("PostgreSQL's own words about a wrong setting are passed on", async () => {
    const dataDir = join(scratch, 'a');
    const settings = { shared_buffers: 'plenty' };
    await expect(startEmbeddedPostgres({ dataDir, settings })).rejects.toMatchObject({
      code: 'server_failed',
      message: expect.stringMatching(/it said: .*shared_buffers/),
    });
  });
});
