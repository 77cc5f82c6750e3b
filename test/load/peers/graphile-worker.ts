import {
  Logger,
  makeWorkerUtils,
  run,
  runMigrations,
  runOnce,
  type Runner,
  type RunnerOptions,
  type WorkerUtils,
} from 'graphile-worker';
import pg from 'pg';
import { COMMAND, CONNECTIONS, type Peer, WORKERS } from './peer.js';

const logger = new Logger(() => () => undefined);

/** The options that its documentation recommends for throughput. */
const BATCHED = { worker: { localQueue: { size: 500 }, completeJobBatchDelay: 0 } };

export class GraphileWorker implements Peer {
  private runner: Runner | undefined;

  private constructor(
    private readonly pool: pg.Pool,
    private readonly utils: WorkerUtils,
  ) {}

  static async create(url: string): Promise<GraphileWorker> {
    const pool = new pg.Pool({ connectionString: url, max: CONNECTIONS });
    pool.on('error', () => undefined);
    pool.on('connect', (client) => void client.on('error', () => undefined));
    await runMigrations({ pgPool: pool, logger });
    return new GraphileWorker(pool, await makeWorkerUtils({ pgPool: pool, logger }));
  }

  add(key: number): Promise<unknown> {
    return this.utils.addJob('no_op', { ...COMMAND, key });
  }

  addMany(count: number): Promise<unknown> {
    const jobs = Array.from({ length: count }, () => ({ identifier: 'no_op', payload: COMMAND }));
    return this.utils.addJobs(jobs);
  }

  async drain(batch: number): Promise<number> {
    let done = 0;
    await runOnce({
      ...this.options(() => void (done += 1)),
      ...(batch > 1 && { preset: BATCHED }),
    });
    return done;
  }

  async wait(begin: (key: number) => void): Promise<void> {
    this.runner = await run(this.options((payload) => begin((payload as { key: number }).key)));
  }

  async close(): Promise<void> {
    await this.runner?.stop();
    await this.utils.release();
    await this.pool.end();
  }

  private options(handler: (payload: unknown) => void): RunnerOptions {
    const options = { pgPool: this.pool, concurrency: WORKERS, logger, noHandleSignals: true };
    return { ...options, taskList: { no_op: handler } };
  }
}
