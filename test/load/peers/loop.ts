import pg from 'pg';
import { newId } from '#lib/kernel';
import { BareQueue } from '../floors/bare-queue.js';
import { COMMAND, CONNECTIONS, type Peer, WORKERS } from './peer.js';

const ADD = {
  name: 'loop_add',
  text: `INSERT INTO plain_queue (workspace_id, title, task_type, input_context)
    VALUES ($1, 'A task', 'test', $2)`,
};

const ADD_AND_NOTIFY = {
  name: 'loop_add_and_notify',
  text: `WITH task AS (INSERT INTO plain_queue (workspace_id, title, task_type, input_context)
      VALUES ($1, 'A task', 'test', $2))
    SELECT pg_notify('plain_queue', '')`,
};

/** The hand-written loop of SKIP LOCKED. Its workers wait for a NOTIFY. */
export class Loop implements Peer {
  private readonly workspaceId = newId();
  private readonly workers = Array.from({ length: WORKERS }, () => newId());
  private listener: pg.Client | undefined;
  private next = 0;

  private constructor(
    private readonly url: string,
    private readonly queue: BareQueue,
  ) {}

  static async create(url: string): Promise<Loop> {
    return new Loop(url, await BareQueue.create(url, CONNECTIONS));
  }

  add(key: number): Promise<unknown> {
    const statement = this.listener ? ADD_AND_NOTIFY : ADD;
    return this.queue.pool.query({
      ...statement,
      values: [this.workspaceId, { ...COMMAND, key }],
    });
  }

  addMany(count: number): Promise<unknown> {
    return this.queue.add(this.workspaceId, count);
  }

  drain(batch: number): Promise<number> {
    return this.queue.drain(this.workspaceId, this.workers, batch);
  }

  async wait(begin: (key: number) => void): Promise<void> {
    this.listener = new pg.Client({ connectionString: this.url });
    await this.listener.connect();
    this.listener.on('notification', () => void this.work(begin));
    await this.listener.query('LISTEN plain_queue');
  }

  async close(): Promise<void> {
    await this.listener?.end();
    await this.queue.close();
  }

  private async work(begin: (key: number) => void): Promise<void> {
    const agentId = this.workers[this.next++ % WORKERS] ?? '';
    const [task] = await this.queue.claim(this.workspaceId, agentId, 1);
    if (!task) return;
    begin(task.input_context.key ?? 0);
    await this.queue.complete(agentId, [task.id]);
  }
}
