import { PgBoss } from 'pg-boss';
import { COMMAND, CONNECTIONS, type Peer, WORKERS } from './peer.js';

const NAME = 'no_op';

/**
 * Drains with the documented loop of fetch and complete, because its workers pause after each
 * batch.
 */
export class Boss implements Peer {
  private workers: string[] = [];
  private next = 0;

  private constructor(private readonly boss: PgBoss) {}

  static async create(url: string): Promise<Boss> {
    const boss = new PgBoss({ connectionString: url, max: CONNECTIONS });
    await boss.start();
    await boss.createQueue(NAME);
    return new Boss(boss);
  }

  async add(key: number): Promise<void> {
    await this.boss.send(NAME, { ...COMMAND, key });
    // Otherwise a worker polls twice a second. Its own process notifies it like this.
    const worker = this.workers[this.next++ % this.workers.length];
    if (worker !== undefined) this.boss.notifyWorker(worker);
  }

  addMany(count: number): Promise<unknown> {
    return this.boss.insert(
      NAME,
      Array.from({ length: count }, () => ({ data: COMMAND })),
    );
  }

  async drain(batch: number): Promise<number> {
    const done = Array.from({ length: WORKERS }, async () => {
      for (let count = 0; ;) {
        const jobs = await this.boss.fetch(NAME, { batchSize: batch });
        if (jobs.length === 0) return count;
        await this.boss.complete(
          NAME,
          jobs.map(({ id }) => id),
        );
        count += jobs.length;
      }
    });
    return (await Promise.all(done)).reduce((sum, count) => sum + count, 0);
  }

  async wait(begin: (key: number) => void): Promise<void> {
    const options = { pollingIntervalSeconds: 0.5 };
    const handler = ([job]: { data: { key: number } }[]): Promise<void> => {
      if (job) begin(job.data.key);
      return Promise.resolve();
    };
    while (this.workers.length < WORKERS) {
      this.workers.push(await this.boss.work<{ key: number }>(NAME, options, handler));
    }
  }

  close(): Promise<unknown> {
    return this.boss.stop({ graceful: false });
  }
}
