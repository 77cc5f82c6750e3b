import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { EmbeddedError, explainFileError } from '../machine/errors.js';
import { freePort } from '../machine/free-port.js';
import { withLock } from '../machine/lock.js';
import type { PostgresBinaries } from './postgres-binaries.js';
import { packagedMajor, postgresBinaries } from './postgres-binaries.js';
import { explainPostgres } from './postgres-errors.js';
import type { PostgresFolder } from './postgres-folder.js';
import { preparePostgresFolder } from './postgres-folder.js';
import type { RunningServer, ServerCommand } from '../processes/supervisor.js';
import { Supervisor } from '../processes/supervisor.js';

export interface PostgresOptions {
  /** Created if missing, reused if it contains data. */
  dataDir: string;
  /** Default: a free port. */
  port?: number | undefined;
  /** Receives the server's log line by line. */
  log?: ((line: string) => void) | undefined;
  /** False trades safety in a power failure for speed in tests. Default: true. */
  fsync?: boolean | undefined;
  /** The data is removed with the server's supervisor. Default: false. */
  ephemeral?: boolean | undefined;
  /** Further settings of postgresql.conf. */
  settings?: Record<string, string | number | boolean> | undefined;
  /** A shared supervisor, which the caller must close. */
  supervisor?: Supervisor | undefined;
  /** Called when the server ends unasked. */
  onLost?: ((message: string) => void) | undefined;
}

export interface EmbeddedPostgres {
  /** The address of the database `drover` as its owner, a superuser. */
  url: string;
  /** The same user in the database `postgres`. */
  adminUrl: string;
  port: number;
  pid: number;
  /** The real place of the data. */
  dataDir: string;
  stop(): Promise<void>;
}

const DATABASE = 'drover';
const START_WITHIN_MS = 120_000;
const PORT_TRIES = 10;

/** Starts a PostgreSQL on 127.0.0.1. @throws EmbeddedError */
export async function startEmbeddedPostgres(options: PostgresOptions): Promise<EmbeddedPostgres> {
  if (options.supervisor) return start(options, options.supervisor);
  const supervisor = await Supervisor.start();
  try {
    const server = await start(options, supervisor);
    supervisor.unref();
    const stop = async (): Promise<void> => {
      await server.stop();
      await supervisor.close();
    };
    return { ...server, stop };
  } catch (error) {
    await supervisor.close();
    throw error;
  }
}

async function start(options: PostgresOptions, supervisor: Supervisor): Promise<EmbeddedPostgres> {
  return withLock(`starting PostgreSQL in ${resolve(options.dataDir)}`, async () => {
    const own = (path: string): Promise<void> =>
      options.ephemeral ? supervisor.own(path) : Promise.resolve();
    await own(resolve(options.dataDir));
    const folder = await preparePostgresFolder(options.dataDir, await packagedMajor(), own);
    const binaries = await postgresBinaries(folder.account);
    const context: Context = { options, supervisor, binaries, folder };
    if (!existsSync(folder.pgdata)) await initialise(context);
    return listen(context);
  });
}

interface Context {
  options: PostgresOptions;
  supervisor: Supervisor;
  binaries: PostgresBinaries;
  folder: PostgresFolder;
}

/** A cluster appears complete under its final name, or not at all. */
async function initialise(context: Context): Promise<void> {
  const { folder, binaries, options } = context;
  const draft = join(folder.path, `pgdata.${randomBytes(4).toString('hex')}.tmp`);
  for (const name of await readdir(folder.path)) {
    if (name.endsWith('.tmp')) await rm(join(folder.path, name), { recursive: true, force: true });
  }
  const command = {
    ...commonCommand(context),
    file: binaries.initdb,
    args: [
      '-D',
      draft,
      '-U',
      'postgres',
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--no-instructions',
      `--pwfile=${join(folder.path, 'password')}`,
      ...(options.fsync === false ? ['--no-sync'] : []),
    ],
    stopSignal: 'SIGTERM' as const,
  };
  const { code, lines } = await context.supervisor.runToEnd(command, START_WITHIN_MS);
  if (code !== 0) {
    await rm(draft, { recursive: true, force: true });
    throw explainPostgres(lines, { folder: folder.path });
  }
  await rename(draft, folder.pgdata).catch((error: unknown) => {
    throw explainFileError(error, folder.path);
  });
}

function commonCommand({ folder, binaries }: Context): Omit<ServerCommand, 'file' | 'args'> {
  return {
    cwd: folder.path,
    env: { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC', LD_LIBRARY_PATH: binaries.libraries },
    uid: folder.account?.uid,
    gid: folder.account?.gid,
    stopSignal: 'SIGINT',
    stopWithinMs: 10_000,
    forceSignal: 'SIGQUIT',
  };
}

async function listen(context: Context): Promise<EmbeddedPostgres> {
  const requested = context.options.port;
  for (let attempt = 1; ; attempt += 1) {
    const port = requested ?? (await freePort());
    try {
      return await listenOn(context, port);
    } catch (error) {
      const again = error instanceof EmbeddedError && (await mayTryAgain(error, context));
      if (!again || attempt >= PORT_TRIES) throw error;
    }
  }
}

async function mayTryAgain(error: EmbeddedError, context: Context): Promise<boolean> {
  if (error.code === 'port_taken') return context.options.port === undefined;
  if (error.code === 'data_folder_in_use') return previousServerLeaves(context.folder);
  return false;
}

/**
 * A server whose parent was just killed needs a moment to end. After a crash of the machine its
 * lock file can name a process that is no PostgreSQL.
 */
async function previousServerLeaves({ pgdata }: PostgresFolder): Promise<boolean> {
  const file = join(pgdata, 'postmaster.pid');
  const deadline = Date.now() + 15_000;
  for (let look = 0; Date.now() < deadline; look += 1) {
    const lines = (await readFile(file, 'utf8').catch(() => '')).split('\n');
    if (lines.length < 2) return true;
    if (await isAnotherProgram(lines[0] ?? '')) {
      await rm(file, { force: true });
      return true;
    }
    if (look >= 3 && lines[7]?.trim() !== 'stopping') return false;
    await delay(100);
  }
  return false;
}

async function isAnotherProgram(pid: string): Promise<boolean> {
  if (process.platform !== 'linux') return false;
  const name = await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => undefined);
  return name !== undefined && !name.startsWith('postgres');
}

async function listenOn(context: Context, port: number): Promise<EmbeddedPostgres> {
  const { folder, options, supervisor } = context;
  const lines: string[] = [];
  let ready = (): void => undefined;
  const isReady = new Promise<'ready'>((resolve) => (ready = () => resolve('ready')));
  const server = await supervisor.run({
    ...commonCommand(context),
    file: context.binaries.postgres,
    args: ['-D', folder.pgdata, ...settingsOf(options, port)],
    onLine: (line) => {
      if (lines.length < 200) lines.push(line);
      options.log?.(line);
      if (line.includes('database system is ready to accept connections')) ready();
    },
  });
  const outcome = await raceStart(server, isReady);
  if (outcome === 'late') await server.stop();
  if (outcome !== 'ready') throw explainPostgres(lines, { folder: folder.path, port });
  const urls = await openDatabase(folder, port).catch(async (error: unknown) => {
    await server.stop();
    throw error;
  });
  return describe(context, server, { port, ...urls });
}

async function raceStart(
  server: RunningServer,
  isReady: Promise<'ready'>,
): Promise<'ready' | 'exited' | 'late'> {
  const abort = new AbortController();
  const late = delay(START_WITHIN_MS, 'late' as const, { signal: abort.signal });
  late.catch(() => undefined);
  const exited = server.exited.then(() => 'exited' as const);
  const outcome = await Promise.race([isReady, exited, late]);
  abort.abort();
  return outcome;
}

function describe(
  context: Context,
  server: RunningServer,
  where: { port: number; url: string; adminUrl: string },
): EmbeddedPostgres {
  let asked = false;
  void server.exited.then(() => {
    if (!asked) context.options.onLost?.(`PostgreSQL (process ${String(server.pid)}) ended.`);
  });
  const stop = async (): Promise<void> => {
    asked = true;
    await server.stop();
  };
  return { ...where, pid: server.pid, dataDir: context.folder.path, stop };
}

function settingsOf(options: PostgresOptions, port: number): string[] {
  const unsafe = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };
  const settings: Record<string, string | number | boolean> = {
    shared_buffers: '128MB',
    max_connections: 100,
    // A new installation fills its empty tables within seconds, and plans for empty tables would
    // stay.
    autovacuum_naptime: '10s',
    timezone: 'UTC',
    log_timezone: 'UTC',
    lc_messages: 'C',
    ...(options.fsync === false ? unsafe : {}),
    ...options.settings,
    listen_addresses: '127.0.0.1',
    port,
    unix_socket_directories: '',
    logging_collector: 'off',
    log_destination: 'stderr',
  };
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${String(value)}`]);
}

async function openDatabase(
  folder: PostgresFolder,
  port: number,
): Promise<{ url: string; adminUrl: string }> {
  const base = `postgresql://postgres:${folder.password}@127.0.0.1:${String(port)}`;
  const adminUrl = `${base}/postgres`;
  const client = new pg.Client({ connectionString: adminUrl, connectionTimeoutMillis: 10_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const found = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [DATABASE]);
    if (found.rowCount === 0) await client.query(`CREATE DATABASE ${DATABASE}`);
  } catch (error) {
    throw explainPostgres([String(error)], { folder: folder.path, port });
  } finally {
    await client.end();
  }
  return { url: `${base}/${DATABASE}`, adminUrl };
}
