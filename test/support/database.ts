import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { Database, type DatabaseOptions } from '#lib/database';
import { testServers } from './servers.js';

export interface DatabaseUrls {
  ownerUrl: string;
  appUrl: string;
  serviceUrl: string;
}

export interface TestDatabase extends DatabaseUrls {
  /** A pool of the owner, whom row-level security does not bind, for set-up and checks. */
  owner: pg.Pool;
  /** Drover's own access to the database. */
  database: Database;
  /** Ends this process's connections to the database. */
  close(): Promise<void>;
  drop(): Promise<void>;
}

/** A database for one test file, copied from the servers' migrated one or another. */
export async function createTestDatabase(
  options: Partial<DatabaseOptions> = {},
  servers: DatabaseUrls = testServers(),
  template = templateName(servers.ownerUrl),
): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  await asAdmin(servers.ownerUrl, async (admin) => {
    await admin.query(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`);
    await admin.query(`GRANT CONNECT ON DATABASE ${name} TO drover_app, drover_service`);
  });
  const [ownerUrl, appUrl, serviceUrl] = [servers.ownerUrl, servers.appUrl, servers.serviceUrl].map(
    (url) => withDatabase(url, name),
  ) as [string, string, string];
  return openTestDatabase({ ownerUrl, appUrl, serviceUrl }, options);
}

/** Uses an existing database. */
export function openTestDatabase(
  { ownerUrl, appUrl, serviceUrl }: DatabaseUrls,
  options: Partial<DatabaseOptions> = {},
): TestDatabase {
  const owner = new pg.Pool({ connectionString: ownerUrl, max: 4 });
  owner.on('error', () => undefined);
  const database = new Database({
    appUrl,
    serviceUrl,
    maxAppConnections: 10,
    maxServiceConnections: 6,
    ...options,
  });
  const close = async () => {
    await Promise.all([database.close(), owner.end()]);
  };
  const drop = async () => {
    await close();
    const name = new URL(ownerUrl).pathname.slice(1);
    await asAdmin(ownerUrl, (admin) => admin.query(`DROP DATABASE ${name} WITH (FORCE)`));
  };
  return { ownerUrl, appUrl, serviceUrl, owner, database, close, drop };
}

async function asAdmin<T>(ownerUrl: string, work: (admin: pg.Client) => Promise<T>): Promise<T> {
  const admin = new pg.Client({ connectionString: withDatabase(ownerUrl, 'postgres') });
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.end();
  }
}

function templateName(url: string): string {
  return new URL(url).pathname.slice(1);
}

function withDatabase(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
}
