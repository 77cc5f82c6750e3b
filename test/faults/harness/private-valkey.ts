import { Redis } from 'iovalkey';
import { type EmbeddedValkey, startEmbeddedValkey, Supervisor } from '#lib/local-servers';

const PASSWORD = 'of-the-tests';

/** A Valkey for one test, which can stop, kill, empty and restart it. */
export class PrivateValkey {
  private constructor(
    private readonly supervisor: Supervisor,
    private server: EmbeddedValkey,
  ) {}

  static async start(): Promise<PrivateValkey> {
    const supervisor = await Supervisor.start();
    const server = await startEmbeddedValkey({ supervisor, password: PASSWORD });
    supervisor.unref();
    return new PrivateValkey(supervisor, server);
  }

  get url(): string {
    return this.server.url;
  }

  async kill(): Promise<void> {
    process.kill(this.server.pid, 'SIGKILL');
    await this.server.stop();
  }

  /** Starts it again on the same port without data. */
  async startAgain(): Promise<void> {
    const { port } = this.server;
    const { supervisor } = this;
    this.server = await startEmbeddedValkey({ supervisor, port, password: PASSWORD });
  }

  /** Freezes it: it accepts connections, and answers nobody. */
  pause(): void {
    process.kill(this.server.pid, 'SIGSTOP');
  }

  resume(): void {
    process.kill(this.server.pid, 'SIGCONT');
  }

  /** Runs commands on it without a key prefix. */
  async ask<T>(work: (valkey: Redis) => Promise<T>): Promise<T> {
    const valkey = new Redis(this.url, { lazyConnect: true, maxRetriesPerRequest: 3 });
    valkey.on('error', () => undefined);
    try {
      await valkey.connect();
      return await work(valkey);
    } finally {
      valkey.disconnect();
    }
  }

  async flush(): Promise<void> {
    await this.ask((valkey) => valkey.flushall());
  }

  async close(): Promise<void> {
    this.resume();
    await this.supervisor.close();
  }
}
