import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'iovalkey';
import pg from 'pg';
import { loadConfig } from '#lib/config';
import { migrate } from '#lib/database';
import {
  type EmbeddedPostgres,
  type Stack,
  startEmbeddedPostgres,
  startStack,
  Supervisor,
} from '#lib/local-servers';
import { TokenService } from '#lib/identity';
import { Core } from './core.js';
import { Program, type Runtime } from './program.js';
import { Site } from './site.js';

const JWT_SECRET = 'a secret of the benchmarks that is long enough';

const SETTINGS = { max_connections: '200' };
/** A relay that has published nothing for this time has nothing to publish. */
const QUIET_MS = 500;
const LOOK_MS = 20;

interface DatabaseOptions {
  /** Uses a server that waits for the disk at each commit. Default: false. */
  durable?: boolean;
}

/**
 * The ground of benchmarks: PostgreSQL, with and without durability, Valkey, and a new database for
 * each.
 */
export class Rig {
  private undo: (() => Promise<unknown>)[] = [];
  private durable: Promise<EmbeddedPostgres> | undefined;

  private constructor(
    readonly repeats: number,
    private readonly stack: Stack,
    private readonly supervisor: Supervisor,
    private readonly valkey: Redis,
    readonly note: (line: string) => void,
  ) {}

  static async start(repeats: number, note: (line: string) => void): Promise<Rig> {
    const stack = await startStack({ postgres: { settings: SETTINGS } });
    const valkey = new Redis(stack.valkey.url);
    return new Rig(repeats, stack, await Supervisor.start(), valkey, note);
  }

  get valkeyUrl(): string {
    return this.stack.valkey.url;
  }

  /** Creates an empty database. @returns its owner's URL */
  async newDatabase({ durable = false }: DatabaseOptions = {}): Promise<string> {
    const name = `bench_${randomBytes(4).toString('hex')}`;
    const server = durable ? await this.startDurable() : this.stack.postgres;
    await query(server, `CREATE DATABASE ${name}`);
    return changed(server.url, { pathname: `/${name}` });
  }

  /** Creates a migrated database without rows. */
  async newSite(options?: DatabaseOptions): Promise<Site> {
    const ownerUrl = await this.newDatabase(options);
    const password = 'benchmarks';
    const appUrl = changed(ownerUrl, { username: 'drover_app', password });
    const serviceUrl = changed(ownerUrl, { username: 'drover_service', password });
    await migrate({ ownerUrl, appUrl, serviceUrl });
    const env = {
      DATABASE_URL: appUrl,
      DATABASE_SERVICE_URL: serviceUrl,
      VALKEY_URL: this.valkeyUrl,
      VALKEY_KEY_PREFIX: `${new URL(ownerUrl).pathname.slice(1)}:`,
      JWT_SECRET,
      ENCRYPTION_KEYS: `benchmarks:${'A'.repeat(43)}=`,
      PORT: '0',
      // The server counts requests, and the limit is never reached.
      REQUESTS_PER_SECOND_PER_TOKEN: '1000000',
      REQUESTS_PER_SECOND_PER_WORKSPACE: '1000000',
      LOG_LEVEL: 'error',
    };
    const config = loadConfig(env);
    const owner = new pg.Pool({ connectionString: ownerUrl, max: 4 });
    owner.on('error', () => undefined);
    this.undo.push(() => owner.end());
    return new Site(ownerUrl, owner, env, config, new TokenService(config));
  }

  /** Starts the server as a process. */
  startServer(site: Site, env: Record<string, string> = {}, runtime?: Runtime): Promise<Program> {
    return this.startProgram('apps/server/main.js', { ...site.env, ...env }, undefined, runtime);
  }

  /**
   * @param path of a compiled program below dist
   */
  async startProgram(
    path: string,
    env: Record<string, string>,
    ready?: RegExp,
    runtime?: Runtime,
  ): Promise<Program> {
    const program = await Program.start(this.supervisor, path, env, ready, runtime);
    this.undo.push(() => program.stop());
    return program;
  }

  /** Starts the minimal HTTP server on the site's database. */
  startBareServer(site: Site): Promise<Program> {
    return this.startProgram('test/load/floors/bare-server.js', {
      JWT_SECRET,
      VALKEY_URL: this.valkeyUrl,
      DATABASE_URL: site.ownerUrl,
    });
  }

  /** Opens the server's services in this process, without HTTP and without background work. */
  async startCore(site: Site, env: Record<string, string> = {}): Promise<Core> {
    const core = await Core.start(site, env);
    this.undo.push(() => core.stop());
    return core;
  }

  /** Registers a step that releases resources at the end of the benchmark. */
  onClear(step: () => Promise<unknown>): void {
    this.undo.push(step);
  }

  /** Cleans up between two benchmarks, so that none affects the next. */
  async clear(): Promise<void> {
    const undo = this.undo.reverse();
    this.undo = [];
    for (const step of undo) await step();
    await clearServer(this.stack.postgres);
    if (this.durable) await clearServer(await this.durable);
  }

  /** Returns the number of published messages. */
  async published(): Promise<number> {
    const stats = await this.valkey.info('commandstats');
    const calls = [...stats.matchAll(/^cmdstat_s?publish:calls=(\d+)/gm)];
    return calls.reduce((sum, [, count]) => sum + Number(count), 0);
  }

  /**
   * Resolves when relays have nothing left to publish. @returns the number of messages, and the
   * time since then
   */
  async relayed(): Promise<{ published: number; at: number }> {
    let last = { published: await this.published(), at: performance.now() };
    while (performance.now() - last.at < QUIET_MS) {
      await delay(LOOK_MS);
      const published = await this.published();
      if (published !== last.published) last = { published, at: performance.now() };
    }
    return last;
  }

  async stop(): Promise<void> {
    await this.clear().catch(() => undefined);
    this.valkey.disconnect();
    await (await this.durable)?.stop();
    await this.supervisor.close();
    await this.stack.stop();
  }

  async version(): Promise<string> {
    const sql = 'SHOW server_version';
    const { rows } = await query<{ server_version: string }>(this.stack.postgres, sql);
    return `PostgreSQL ${rows[0]?.server_version}`;
  }

  /** The second server shares the first one's folder, which the first one removes. */
  private startDurable(): Promise<EmbeddedPostgres> {
    return (this.durable ??= startEmbeddedPostgres({
      dataDir: join(this.stack.dataDir, 'durable'),
      supervisor: this.supervisor,
      settings: SETTINGS,
    }));
  }
}

async function clearServer(server: EmbeddedPostgres): Promise<void> {
  const { rows } = await query<{ datname: string }>(
    server,
    `SELECT datname FROM pg_database WHERE datname LIKE 'bench\\_%'`,
  );
  for (const { datname } of rows) await query(server, `DROP DATABASE ${datname} WITH (FORCE)`);
  await query(server, 'CHECKPOINT');
}

async function query<Row extends pg.QueryResultRow>(
  { adminUrl }: EmbeddedPostgres,
  sql: string,
): Promise<pg.QueryResult<Row>> {
  const client = new pg.Client({ connectionString: adminUrl });
  await client.connect();
  try {
    return await client.query<Row>(sql);
  } finally {
    await client.end();
  }
}

function changed(url: string, parts: Partial<URL>): string {
  return Object.assign(new URL(url), parts).href;
}
