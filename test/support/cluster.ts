import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startEmbeddedPostgres } from '#lib/local-servers';

export interface TestCluster {
  /** The superuser's URL of the database `postgres`. */
  admin: pg.Pool;
  /** Returns the owner's URL of a new and empty database. */
  newDatabase(owner?: { name: string; password: string }): Promise<string>;
  stop(): Promise<void>;
}

/** A PostgreSQL server for one test file that changes the roles, which all databases share. */
export async function startCluster(): Promise<TestCluster> {
  const folder = await mkdtemp(join(tmpdir(), 'drover-test-'));
  const dataDir = join(folder, 'postgres');
  const server = await startEmbeddedPostgres({ dataDir, fsync: false, ephemeral: true });
  const admin = new pg.Pool({ connectionString: server.adminUrl, max: 4 });
  admin.on('error', () => undefined);
  return {
    admin,
    async newDatabase(owner) {
      const name = `test_${randomBytes(6).toString('hex')}`;
      await admin.query(`CREATE DATABASE ${name} OWNER ${owner?.name ?? 'postgres'}`);
      const url = new URL(server.adminUrl);
      url.pathname = `/${name}`;
      if (owner) Object.assign(url, { username: owner.name, password: owner.password });
      return url.href;
    },
    async stop() {
      await admin.end();
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
