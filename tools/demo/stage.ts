import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Database, migrate } from '#lib/database';
import { beginStack, type CleanupScope, type Stack, Supervisor } from '#lib/local-servers';
import { ensureFirstAdministrator } from '#lib/identity';
import { Child } from '../shared/children.js';
import { type DatabaseUrls, databaseUrls } from '../shared/database-urls.js';

const secret = (): string => randomBytes(24).toString('base64url');

export interface Stage {
  /** Access for parts without HTTP: the first administrator, and the invariants. */
  database: Database;
  supervisor: Supervisor;
  server: Child;
  address: string;
  administrator: { email: string; password: string };
  /** The supervisor removes it with the data, whatever happens to this process. */
  folder: string;
}

/** Postgres, Valkey and a server on free ports, with temporary data. */
export async function setStage(scope: CleanupScope, note: (text: string) => void): Promise<Stage> {
  note('starting Postgres and Valkey');
  const starting = beginStack({ progress: note });
  scope.add(starting.stop);
  const stack = await starting.ready;
  note('migrating');
  const urls = databaseUrls(stack.postgres.url, { app: secret(), service: secret() });
  await migrate(urls);
  const { appUrl, serviceUrl } = urls;
  const database = new Database({
    appUrl,
    serviceUrl,
    maxAppConnections: 2,
    maxServiceConnections: 2,
    applicationName: 'drover-demo',
  });
  scope.add(() => database.close());
  const administrator = { email: 'admin@drover.local', password: secret() };
  await ensureFirstAdministrator(database, administrator);
  note('starting the server');
  const supervisor = await Supervisor.start();
  scope.add(() => supervisor.close());
  const folder = join(stack.dataDir, 'demo');
  mkdirSync(folder, { mode: 0o700 });
  const server = await startServer(supervisor, { urls, stack, folder });
  scope.add(async () => void (await server.stop()));
  const listening = await server.ready(({ message }) => message === 'listening');
  const address = String(listening['address']).replace('[::1]', '127.0.0.1');
  return { database, supervisor, server, address, administrator, folder };
}

interface Means {
  urls: DatabaseUrls;
  stack: Stack;
  folder: string;
}

function startServer(supervisor: Supervisor, { urls, stack, folder }: Means): Promise<Child> {
  return Child.start(supervisor, {
    name: 'server',
    program: 'apps/server/main.js',
    stopWithinMs: 5_000,
    env: {
      DATABASE_URL: urls.appUrl,
      DATABASE_SERVICE_URL: urls.serviceUrl,
      VALKEY_URL: stack.valkey.url,
      JWT_SECRET: secret(),
      ENCRYPTION_KEYS: `demo:${randomBytes(32).toString('base64')}`,
      ARTIFACTS_DIR: join(folder, 'artifacts'),
      DROVER_REPOSITORY_PATHS: folder,
      PORT: '0',
      LOG_LEVEL: 'warn',
      HEARTBEAT_FLUSH_MS: '500',
      SHUTDOWN_DEADLINE_SECONDS: '3',
    },
  });
}
