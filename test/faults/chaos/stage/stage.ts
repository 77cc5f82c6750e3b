import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Database, migrate } from '#lib/database';
import { type CleanupScope, freePort, Supervisor } from '#lib/local-servers';
import { ensureFirstAdministrator } from '#lib/identity';
import { databaseUrls, type DatabaseUrls } from '../../../../tools/shared/database-urls.js';
import { PrivateValkey } from '../../harness/private-valkey.js';
import { GATEWAY_ENV, SERVER_ENV, SERVERS, WORKER_ENV, WORKERS } from '../settings.js';
import { invite, type People } from './people.js';
import { ChaosPostgres } from './postgres.js';
import { Service } from './service.js';

const secret = (): string => randomBytes(24).toString('base64url');

/** All targets of faults. */
export interface Stage {
  postgres: ChaosPostgres;
  valkey: PrivateValkey;
  servers: Service[];
  workers: Service[];
  gateway: Service;
  /** The addresses of the servers. */
  addresses: string[];
  people: People;
  serviceUrl: string;
  /** Kills the sessions like a crash of the gateway's machine: nobody reports their ends. */
  killSessions(): Promise<void>;
}

interface Ground {
  supervisor: Supervisor;
  folder: string;
  births: string;
  postgres: ChaosPostgres;
  valkey: PrivateValkey;
  urls: DatabaseUrls;
}

/**
 * Starts a fleet on free ports. Its data are removed at the end of this process, however it ends.
 */
export async function setStage(scope: CleanupScope, note: (text: string) => void): Promise<Stage> {
  note('starting Postgres and Valkey');
  const ground = await prepare(scope);
  const { supervisor, postgres, valkey, urls } = ground;
  await migrate(urls);
  const administrator = { email: 'chaos@drover.local', password: secret() };
  await makeAdministrator(urls, administrator);
  const ports = await distinctPorts(SERVERS + 1);
  const gatewayPort = ports.pop() as number;
  const addresses = ports.map((port) => `http://127.0.0.1:${port}`);
  const shared = {
    ...SERVER_ENV,
    DATABASE_URL: urls.appUrl,
    DATABASE_SERVICE_URL: urls.serviceUrl,
    VALKEY_URL: valkey.url,
    JWT_SECRET: secret(),
    ENCRYPTION_KEYS: `chaos:${randomBytes(32).toString('base64')}`,
    GATEWAY_URL: `http://127.0.0.1:${gatewayPort}`,
    GATEWAY_SECRET: secret() + secret(),
  };
  const servers = ports.map((port, n) => {
    const own = { PORT: String(port), INSTANCE_ID: `server-${n}`, PUBLIC_URL: addresses[n] ?? '' };
    return service(supervisor, {
      name: `server-${n}`,
      program: 'server',
      env: { ...shared, ...own },
    });
  });
  note('starting the servers');
  await Promise.all(servers.map((server) => server.start()));
  await Promise.all(servers.map((server) => server.ready()));
  const people = await invite(addresses[0] ?? '', administrator);
  note('starting workers and gateway');
  const workers = Array.from({ length: WORKERS }, (_, n) =>
    worker(ground, addresses, { n, people }),
  );
  const gatewayDir = join(ground.folder, 'gateway');
  const gateway = service(supervisor, {
    name: 'gateway',
    program: 'gateway',
    dataDir: gatewayDir,
    env: {
      ...GATEWAY_ENV,
      PORT: String(gatewayPort),
      DROVER_API_URL: addresses[1] ?? '',
      GATEWAY_SESSIONS_API_URL: addresses[0] ?? '',
      GATEWAY_SECRET: shared.GATEWAY_SECRET,
      GATEWAY_DATA_DIR: gatewayDir,
      GATEWAY_PASS_ENV: 'DROVER_CHAOS_BIRTHS',
      DROVER_CHAOS_BIRTHS: ground.births,
    },
  });
  scope.add(() => endPrograms([...workers, gateway], servers));
  await Promise.all([...workers, gateway].map((program) => program.start()));
  await Promise.all([...workers, gateway].map((program) => program.ready()));
  return {
    postgres,
    valkey,
    servers,
    workers,
    gateway,
    addresses,
    people,
    serviceUrl: urls.serviceUrl,
    killSessions: () => endSessions(ground.births),
  };
}

async function prepare(scope: CleanupScope): Promise<Ground> {
  const supervisor = await Supervisor.start();
  scope.add(() => supervisor.close());
  const folder = join(tmpdir(), `drover-chaos-${randomBytes(6).toString('hex')}`);
  await supervisor.own(folder);
  // The account of Postgres must be able to enter the folder.
  mkdirSync(folder, { mode: 0o711 });
  const births = join(folder, 'births');
  scope.add(() => endSessions(births));
  const postgres = await ChaosPostgres.start(supervisor, folder);
  scope.add(() => postgres.close());
  const valkey = await PrivateValkey.start();
  scope.add(() => valkey.close());
  const urls = databaseUrls(postgres.url, { app: secret(), service: secret() });
  return { supervisor, folder, births, postgres, valkey, urls };
}

async function makeAdministrator(
  { appUrl, serviceUrl }: DatabaseUrls,
  administrator: { email: string; password: string },
): Promise<void> {
  const database = new Database({
    appUrl,
    serviceUrl,
    maxAppConnections: 2,
    maxServiceConnections: 2,
  });
  try {
    await ensureFirstAdministrator(database, administrator);
  } finally {
    await database.close();
  }
}

async function distinctPorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) ports.add(await freePort());
  return [...ports];
}

interface ServiceSpec {
  name: string;
  program: 'server' | 'worker' | 'gateway';
  env: Record<string, string>;
  dataDir?: string;
}

function service(supervisor: Supervisor, { name, program, env, dataDir }: ServiceSpec): Service {
  // A test finds the processes again by this mark.
  const marked = { ...env, DROVER_CHAOS_MARK: process.env['DROVER_CHAOS_MARK'] ?? '' };
  const spec = { name, program: `apps/${program}/main.js`, env: marked, stopWithinMs: 10_000 };
  return new Service(supervisor, spec, program === 'worker' ? 'Registered' : 'listening', dataDir);
}

function worker(
  { supervisor, folder }: Ground,
  addresses: readonly string[],
  { n, people }: { n: number; people: People },
): Service {
  const name = `worker-${n}`;
  const dataDir = join(folder, name);
  const env = {
    ...WORKER_ENV,
    DROVER_API_URL: addresses[n % addresses.length] ?? '',
    DROVER_API_KEY: people.key,
    DROVER_WORKER_NAME: name,
    DROVER_WORKER_CAPABILITIES: 'process',
    DROVER_WORKER_DATA_DIR: dataDir,
  };
  return service(supervisor, { name, program: 'worker', env, dataDir });
}

/** Ends holders of work first, so that they can still report it. */
async function endPrograms(first: Service[], then: Service[]): Promise<void> {
  for (const program of [...first, ...then]) program.resume();
  await Promise.all(first.map((program) => program.stop()));
  await Promise.all(then.map((program) => program.stop()));
}

/** Sessions outlive their gateway on purpose. These must not outlive the test. */
async function endSessions(births: string): Promise<void> {
  if (!existsSync(births)) return Promise.resolve();
  for (const pid of readFileSync(births, 'utf8').split('\n').filter(Boolean).map(Number)) {
    if (isSession(pid)) process.kill(pid, 'SIGKILL');
  }
  return Promise.resolve();
}

/** The process id may belong to another process by now. */
function isSession(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('chaos/session.js');
  } catch {
    return false;
  }
}
