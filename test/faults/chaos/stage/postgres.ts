import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { type EmbeddedPostgres, startEmbeddedPostgres, type Supervisor } from '#lib/local-servers';

const SETTINGS = {
  max_connections: 150,
  // A confirmed write must survive a crash of the server. Only a crash of the machine is left out.
  synchronous_commit: 'on',
  full_page_writes: 'on',
};
const LOOK_WITHIN_MS = 4_000;
const AGAIN_AFTER_MS = 200;

/** A PostgreSQL that can be crashed, restarted, frozen and thawed. */
export class ChaosPostgres {
  /**
   * A pool of the owner, who is not bound by row-level security. Its statements fail while the
   * server is away.
   */
  readonly owner: pg.Pool;
  private frozen: number[] = [];

  private constructor(
    private readonly supervisor: Supervisor,
    private readonly folder: string,
    private server: EmbeddedPostgres,
  ) {
    this.owner = new pg.Pool({
      connectionString: server.url,
      max: 3,
      connectionTimeoutMillis: LOOK_WITHIN_MS,
      query_timeout: LOOK_WITHIN_MS * 5,
      application_name: 'drover-chaos',
    });
    this.owner.on('error', () => undefined);
  }

  static async start(supervisor: Supervisor, folder: string): Promise<ChaosPostgres> {
    return new ChaosPostgres(supervisor, folder, await run(supervisor, folder));
  }

  get url(): string {
    return this.server.url;
  }

  /** Kills all its processes at once. The next start has to recover. */
  async crash(): Promise<void> {
    this.thaw();
    process.kill(this.server.pid, 'SIGQUIT');
    await this.server.stop();
  }

  async startAgain(): Promise<void> {
    this.server = await run(this.supervisor, this.folder, this.server.port);
  }

  /** Freezes it: connections stay open without any answer. */
  async freeze(): Promise<void> {
    const rows = await this.rows<{ pid: number }>(
      'SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()',
    );
    this.frozen = [this.server.pid, ...rows.map((row) => row.pid)];
    this.signalFrozen('SIGSTOP');
  }

  thaw(): void {
    this.signalFrozen('SIGCONT');
    this.frozen = [];
  }

  /** Returns the rows of a statement, repeated until the server answers. */
  async rows<Row extends object>(sql: string, params: unknown[] = []): Promise<Row[]> {
    for (;;) {
      try {
        return (await this.owner.query<Row>(sql, params)).rows;
      } catch (error) {
        if (!isAway(error)) throw error;
        await delay(AGAIN_AFTER_MS);
      }
    }
  }

  async close(): Promise<void> {
    this.thaw();
    await this.owner.end();
  }

  private signalFrozen(signal: NodeJS.Signals): void {
    for (const pid of this.frozen) {
      try {
        process.kill(pid, signal);
      } catch {
        // The connection was closed before the server was reached.
      }
    }
  }
}

/** The server is away, or was unreachable. The statement itself is correct. */
function isAway(error: unknown): boolean {
  const { code = '', message = '' } = error as { code?: string; message?: string };
  if (/^(57P0|53300|08|ECONN|EPIPE|55P03|40P01|40001)/.test(code)) return true;
  return /terminated|timeout|ended|closed/i.test(message) && !code.startsWith('42');
}

function run(supervisor: Supervisor, folder: string, port?: number): Promise<EmbeddedPostgres> {
  return startEmbeddedPostgres({
    dataDir: join(folder, 'postgres'),
    supervisor,
    port,
    fsync: false,
    ephemeral: true,
    settings: SETTINGS,
  });
}
