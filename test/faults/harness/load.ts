import type pg from 'pg';
import { newId } from '#lib/kernel';
import type { TestFleet } from '../../support/fleet.js';
import { waitFor } from '../../support/wait-for.js';
import { AnswerBook, patiently } from './patience.js';
import { PullAgent, type PullAgentOptions } from './pull-agent.js';

export interface LoadOptions {
  /** Clients that create one task after the other. */
  clients?: number;
  agents?: number;
  agent?: PullAgentOptions;
}

/** The limit of queued and running tasks. Above it, clients wait for the agents. */
const BACKLOG = 50;

/** Clients that create tasks, and agents that complete them, until they are stopped. */
export class Load {
  /** Answers that clients received. */
  readonly clients = new AnswerBook();
  /** Ids of the tasks whose creation was answered with 201. */
  readonly created: string[] = [];
  private producers: Promise<void>[] = [];
  private ended = false;
  private readonly waiting = new Set<() => void>();

  private constructor(
    private readonly fleet: TestFleet,
    readonly agents: PullAgent[],
  ) {}

  static async start(fleet: TestFleet, options: LoadOptions = {}): Promise<Load> {
    const { clients = 4, agents = 4, agent } = options;
    const workers = await Promise.all(
      Array.from({ length: agents }, () => PullAgent.register(fleet, agent)),
    );
    await Promise.all(workers.map((worker) => worker.startHeartbeats()));
    const load = new Load(fleet, workers);
    for (const worker of workers) worker.work(() => load.wake());
    load.producers = Array.from({ length: clients }, () => load.produce());
    return load;
  }

  /** Resolves when `more` tasks have been created from now on. */
  async goesOn(more = 20): Promise<void> {
    const target = this.created.length + more;
    await waitFor('the load to go on', () => this.created.length >= target).catch(
      (error: unknown) => {
        throw new Error(`${String(error)}: ${this.describe()}`);
      },
    );
  }

  private describe(): string {
    const answers = JSON.stringify([...this.clients.byStatus]);
    return `${this.created.length} created, ${this.backlog} not completed, answers ${answers}`;
  }

  /** Stops new tasks. Resolves when all created ones have finished and every event is out. */
  async stop(): Promise<void> {
    this.ended = true;
    this.wake();
    await Promise.all(this.producers);
    const { owner } = this.fleet.db;
    await waitFor('all tasks to be over', async () => (await openTasks(owner)) === 0);
    await waitFor('all events to be out', async () => (await unpublished(owner)) === 0).catch(
      async (error: unknown) => {
        throw new Error(`${String(error)}: ${await describeOutbox(owner)}`);
      },
    );
    await Promise.all(this.agents.map((agent) => agent.leave()));
  }

  private async produce(): Promise<void> {
    while (!this.ended) {
      const key = newId();
      const { status, body } = await patiently(
        () => this.fleet.api.post('/agent-tasks', taskOf(key), { 'idempotency-key': key }),
        this.clients,
      );
      if (status !== 201) throw new Error(`not created: ${status} ${JSON.stringify(body)}`);
      this.created.push(String(body['id']));
      this.wake();
      while (!this.ended && this.backlog > BACKLOG) await this.news();
    }
  }

  private get backlog(): number {
    const completed = this.agents.reduce((sum, agent) => sum + agent.completed, 0);
    return this.created.length - completed;
  }

  private news(): Promise<void> {
    return new Promise((resolve) => void this.waiting.add(resolve));
  }

  private wake(): void {
    for (const resolve of this.waiting) resolve();
    this.waiting.clear();
  }
}

function taskOf(title: string): object {
  return { title, taskType: 'fault', retryBackoffSeconds: 0 };
}

async function openTasks(owner: pg.Pool): Promise<number> {
  return count(
    owner,
    `SELECT count(*)::int AS n FROM agent_tasks WHERE status NOT IN ('COMPLETED', 'FAILED', 'ARCHIVED')
       AND (status <> 'ABORTED' OR retry_at IS NOT NULL)`,
  );
}

async function unpublished(owner: pg.Pool): Promise<number> {
  return count(
    owner,
    'SELECT count(*)::int AS n FROM journal WHERE id > (SELECT min(position) FROM event_consumers)',
  );
}

async function describeOutbox(owner: pg.Pool): Promise<string> {
  const { rows } = await owner.query(
    `SELECT c.name, c.owner, c.leased_until > now() AS leased, c.position,
       (SELECT max(id) FROM journal) AS newest, pg_current_snapshot()::text AS snapshot,
       (SELECT json_agg(e) FROM (SELECT id, xid::text, event, task_id, created_at FROM journal
         WHERE id > c.position ORDER BY id LIMIT 5) e) AS waiting
     FROM event_consumers c`,
  );
  return JSON.stringify(rows);
}

async function count(owner: pg.Pool, sql: string): Promise<number> {
  const { rows } = await owner.query<{ n: number }>(sql);
  return rows[0]?.n ?? 0;
}
