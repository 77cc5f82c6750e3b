import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { migrate } from '#lib/database';
import { type EmbeddedPostgres, startEmbeddedPostgres, Supervisor } from '#lib/local-servers';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';

const SETTINGS = {
  max_connections: 100,
  // A confirmed write must survive a crash of the server. Only a crash of the machine is left out.
  synchronous_commit: 'on',
};

/** A PostgreSQL for one test, which can stop, kill, freeze and restart it. */
export class PrivatePostgres {
  private frozen: number[] = [];

  private constructor(
    private readonly supervisor: Supervisor,
    private readonly folder: string,
    private server: EmbeddedPostgres,
  ) {}

  static async start(): Promise<PrivatePostgres> {
    const folder = await mkdtemp(join(tmpdir(), 'drover-faults-'));
    const supervisor = await Supervisor.start();
    const server = await run(folder, supervisor);
    supervisor.unref();
    return new PrivatePostgres(supervisor, folder, server);
  }

  /** Returns a migrated database on it. */
  async newDatabase(): Promise<TestDatabase> {
    const ownerUrl = this.server.url;
    const [appUrl, serviceUrl] = [
      asRole(ownerUrl, 'drover_app'),
      asRole(ownerUrl, 'drover_service'),
    ];
    await migrate({ ownerUrl, appUrl, serviceUrl });
    return createTestDatabase({}, { ownerUrl, appUrl, serviceUrl });
  }

  /** Ends all connections without a loss of data. An orderly restart begins like this. */
  stop(): Promise<void> {
    return this.server.stop();
  }

  /** Kills all its processes at once and leaves recovery to the next start. */
  async crash(): Promise<void> {
    process.kill(this.server.pid, 'SIGQUIT');
    await this.server.stop();
  }

  /** Stops all its processes as they are: connections stay open without any answer. */
  async freeze(): Promise<void> {
    const { pid } = this.server;
    this.frozen = [pid];
    // The first process creates the others, so it stops before they are counted.
    this.signalFrozen('SIGSTOP');
    const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
    this.frozen = [pid, ...children.trim().split(' ').map(Number)];
    this.signalFrozen('SIGSTOP');
  }

  thaw(): void {
    this.signalFrozen('SIGCONT');
    this.frozen = [];
  }

  private signalFrozen(signal: NodeJS.Signals): void {
    for (const pid of this.frozen) process.kill(pid, signal);
  }

  /** Starts it again on the same port with the same data, or thaws it. */
  async startAgain(): Promise<void> {
    if (this.frozen.length > 0) return this.thaw();
    this.server = await run(this.folder, this.supervisor, this.server.port);
  }

  /** The operating system user that it runs as. */
  async user(): Promise<{ uid: number; gid: number }> {
    const { uid, gid } = await stat(`/proc/${this.server.pid}`);
    return { uid, gid };
  }

  /** Makes it answer reads and refuse changes, like a standby or a server after a switch-over. */
  readOnly(on: boolean): Promise<void> {
    return this.asAdmin(
      `ALTER SYSTEM SET default_transaction_read_only = ${on}`,
      'SELECT pg_reload_conf()',
    );
  }

  /** Runs statements of a superuser, each in a transaction of its own. */
  async asAdmin(...statements: string[]): Promise<void> {
    const admin = new pg.Client({ connectionString: this.server.adminUrl });
    await admin.connect();
    for (const statement of statements) await admin.query(statement);
    await admin.end();
  }

  async close(): Promise<void> {
    await this.supervisor.close();
    await rm(this.folder, { recursive: true, force: true });
  }
}

function run(folder: string, supervisor: Supervisor, port?: number): Promise<EmbeddedPostgres> {
  const dataDir = join(folder, 'postgres');
  return startEmbeddedPostgres({
    dataDir,
    supervisor,
    port,
    fsync: false,
    ephemeral: true,
    settings: SETTINGS,
  });
}

function asRole(ownerUrl: string, role: string): string {
  const url = new URL(ownerUrl);
  url.username = role;
  url.password = `${role}-of-the-tests`;
  return url.href;
}
