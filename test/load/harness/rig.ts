import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { loadConfig } from '#lib/config';
import { migrate } from '#lib/database';
import { type Stack, startStack, Supervisor } from '#lib/embedded';
import { TokenService } from '#lib/identity';
import { Core } from './core.js';
import { Program } from './program.js';
import { Site } from './site.js';

export const JWT_SECRET = 'a secret of the benchmarks that is long enough';

/** What benchmarks run on: one embedded PostgreSQL and Valkey, and a new database for each. */
export class Rig {
  private undo: (() => Promise<unknown>)[] = [];

  private constructor(
    readonly repeats: number,
    private readonly stack: Stack,
    private readonly supervisor: Supervisor,
    readonly note: (line: string) => void,
  ) {}

  static async start(repeats: number, note: (line: string) => void): Promise<Rig> {
    const stack = await startStack({ postgres: { settings: { max_connections: '200' } } });
    return new Rig(repeats, stack, await Supervisor.start(), note);
  }

  get valkeyUrl(): string {
    return this.stack.valkey.url;
  }

  /** A migrated database with nothing in it. */
  async newSite(): Promise<Site> {
    const name = `bench_${randomBytes(4).toString('hex')}`;
    await this.asAdmin(`CREATE DATABASE ${name}`);
    const ownerUrl = changed(this.stack.postgres.url, { pathname: `/${name}` });
    const password = 'benchmarks';
    const appUrl = changed(ownerUrl, { username: 'drover_app', password });
    const serviceUrl = changed(ownerUrl, { username: 'drover_service', password });
    await migrate({ ownerUrl, appUrl, serviceUrl });
    const env = {
      DATABASE_URL: appUrl,
      DATABASE_SERVICE_URL: serviceUrl,
      VALKEY_URL: this.valkeyUrl,
      VALKEY_KEY_PREFIX: `${name}:`,
      JWT_SECRET,
      ENCRYPTION_KEYS: `benchmarks:${'A'.repeat(43)}=`,
      PORT: '0',
      LOG_LEVEL: 'error',
    };
    const config = loadConfig(env);
    const owner = new pg.Pool({ connectionString: ownerUrl, max: 4 });
    owner.on('error', () => undefined);
    this.undo.push(() => owner.end());
    return new Site(ownerUrl, owner, env, config, new TokenService(config));
  }

  /** The server as a process of its own. */
  startServer(site: Site, env: Record<string, string> = {}): Promise<Program> {
    return this.startProgram('apps/server/main.js', { ...site.env, ...env });
  }

  /**
   * @param path of a compiled program below dist
   * @param ready what it says when it is; without it `{"message":"listening","address":...}`
   */
  async startProgram(path: string, env: Record<string, string>, ready?: RegExp): Promise<Program> {
    const program = await Program.start(this.supervisor, path, env, ready);
    this.undo.push(() => program.stop());
    return program;
  }

  /** The server's services in this process, without HTTP and without anything in the background. */
  async startCore(site: Site, env: Record<string, string> = {}): Promise<Core> {
    const core = await Core.start(site, env);
    this.undo.push(() => core.stop());
    return core;
  }

  /** Between two benchmarks: nothing of the one may burden the next. */
  async clear(): Promise<void> {
    const undo = this.undo.reverse();
    this.undo = [];
    for (const step of undo) await step();
    const { rows } = await this.query<{ datname: string }>(
      `SELECT datname FROM pg_database WHERE datname LIKE 'bench\\_%'`,
    );
    for (const { datname } of rows) await this.asAdmin(`DROP DATABASE ${datname} WITH (FORCE)`);
    await this.asAdmin('CHECKPOINT');
  }

  async stop(): Promise<void> {
    await this.clear().catch(() => undefined);
    await this.supervisor.close();
    await this.stack.stop();
  }

  async version(): Promise<string> {
    const { rows } = await this.query<{ server_version: string }>('SHOW server_version');
    return `PostgreSQL ${rows[0]?.server_version}`;
  }

  private asAdmin(sql: string): Promise<unknown> {
    return this.query(sql);
  }

  private async query<Row extends pg.QueryResultRow>(sql: string): Promise<pg.QueryResult<Row>> {
    const client = new pg.Client({ connectionString: this.stack.postgres.adminUrl });
    await client.connect();
    try {
      return await client.query<Row>(sql);
    } finally {
      await client.end();
    }
  }
}

function changed(url: string, parts: Partial<URL>): string {
  return Object.assign(new URL(url), parts).href;
}
