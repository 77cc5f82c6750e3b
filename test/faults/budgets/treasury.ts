import { expect } from '@jest/globals';
import { freePort } from '#lib/local-servers';
import { newId } from '#lib/kernel';
import { type ApiAnswer, type ApiClient, apiClient } from '../../support/api-client.js';
import { TestFleet } from '../../support/fleet.js';
import type { BuiltProcess } from '../../support/processes.js';
import { patiently } from '../harness/patience.js';
import type { HeldRun } from '../harness/pull-agent.js';

export const SERVERS = 2;
/**
 * The period ends soon. The budgets' tokens last until then, so that no project gets fewer
 * concurrent runs.
 */
export const PERIOD = {
  periodStart: '2020-01-01T00:00:00Z',
  periodEnd: new Date(Date.now() + 600_000).toISOString(),
};

/** The clients of one caller, one for each server. */
export type Clients = readonly ApiClient[];

export interface Spender {
  id: string;
  at: Clients;
}

export interface Spending extends HeldRun {
  spender: Spender;
}

/** A usage report, as each try sends it. */
export interface Report {
  id: string;
  model: string;
  inputTokens: number;
  outputTokens: number;
}

export interface BudgetBody {
  id: string;
  allocated: string;
  reserved: string;
  consumed: string;
  available: string;
  version: number;
}

/**
 * Records each change that holds more of a budget than it has, or moves more out of it. Usage can
 * exceed the allocation, and so can a lowered allocation, but only a renewal lowers it here.
 */
const OVERSPENDING = `
CREATE TABLE overspending (was jsonb NOT NULL, became jsonb NOT NULL);
CREATE FUNCTION note_overspending() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
  INSERT INTO overspending VALUES (to_jsonb(OLD), to_jsonb(NEW));
  RETURN NULL;
END $$;
CREATE TRIGGER note_overspending AFTER UPDATE ON usage_budgets FOR EACH ROW
  WHEN (NEW.available < 0 AND NEW.period_start = OLD.period_start
    AND (NEW.reserved > OLD.reserved OR NEW.allocated < OLD.allocated))
  EXECUTE FUNCTION note_overspending()`;

/**
 * A request that a dead server had begun under an Idempotency-Key can be repeated after a minute;
 * here at once. The other server's keys are freed as well, and the second request is still the only
 * one that ends.
 */
const FREE_KEYS = `UPDATE idempotency_keys SET locked_until = now() WHERE status_code IS NULL`;

/** Two servers on one database, one of which can be dead, and the spenders of its budgets. */
export class Treasury {
  readonly servers: (BuiltProcess | undefined)[] = [];
  private readonly starting = new Map<number, Promise<void>>();

  private constructor(
    readonly fleet: TestFleet,
    private readonly ports: readonly number[],
  ) {}

  static async open(): Promise<Treasury> {
    const fleet = await TestFleet.create({ env: { COORDINATOR_CRON: '* * * * * *' } });
    await fleet.db.owner.query(OVERSPENDING);
    const treasury = new Treasury(fleet, [fleet.port, await freePort()]);
    await Promise.all([treasury.start(0), treasury.start(1)]);
    return treasury;
  }

  async close(): Promise<void> {
    await Promise.all(this.starting.values());
    // The servers have nothing left to do, and need no graceful end.
    for (const server of this.servers) server?.kill('SIGKILL');
    await this.fleet.stop();
  }

  /**
   * Kills a server while the other one serves, and starts it again later. Does nothing while the
   * other is away.
   */
  kill(n: number): void {
    const server = this.servers[n];
    if (this.servers.includes(undefined)) return;
    this.servers[n] = undefined;
    server?.kill('SIGKILL');
    this.starting.set(n, this.start(n));
    void server?.ended().then(() => this.fleet.db.owner.query(FREE_KEYS));
  }

  private async start(n: number): Promise<void> {
    const own = { PORT: String(this.ports[n]), INSTANCE_ID: `treasury-${n}` };
    this.servers[n] = await this.fleet.startServer(own);
  }

  /** Clients that act as an owner of the workspace. */
  get owner(): Clients {
    return this.as(this.fleet.credentials);
  }

  async spender(maxConcurrentTasks: number, capabilities: string[] = []): Promise<Spender> {
    const id = newId();
    const body = { name: `spender ${id.slice(-6)}`, maxConcurrentTasks, capabilities };
    await ask(this.owner, (server) => server.put(`/agents/${id}`, body));
    const made = await ask(this.owner, (server) => server.post(`/agents/${id}/token`, {}));
    return { id, at: this.as({ authorization: `Bearer ${String(made.body['token'])}` }) };
  }

  /**
   * @returns the id of the created object
   */
  async make(path: string, body: object): Promise<string> {
    const key = newId();
    const send = (server: ApiClient) => server.post(path, body, { 'idempotency-key': key });
    const answer = await ask(this.owner, send);
    expect(answer).toMatchObject({ status: 201 });
    return String(answer.body['id']);
  }

  async budget(id: string): Promise<BudgetBody> {
    const answer = await ask(this.owner, (server) => server.get(`/budgets/${id}`));
    return answer.body as unknown as BudgetBody;
  }

  /** Returns holds and moves of tokens beyond the limits. */
  async overspending(): Promise<unknown[]> {
    return (await this.fleet.db.owner.query('SELECT * FROM overspending LIMIT 3')).rows;
  }

  private as(credentials: Record<string, string>): Clients {
    return this.ports.map((port) => apiClient(`http://127.0.0.1:${port}`, credentials));
  }
}

/** Asks one server after the other until the answer is final. */
export function ask(
  clients: Clients,
  send: (server: ApiClient) => Promise<ApiAnswer>,
  first = 0,
): Promise<ApiAnswer> {
  let turn = first;
  return patiently(() => send(clients[turn++ % clients.length] as ApiClient));
}

/** Claims at the first server that answers and returns the answer. */
export async function claim(spender: Spender, maxTasks: number, first = 0): Promise<Spending[]> {
  const body = { maxTasks, leaseSeconds: 600 };
  const answer = await ask(
    spender.at,
    (server) => server.post(`/agents/${spender.id}/claim`, body),
    first,
  );
  expect(answer.status).toBe(200);
  const { tasks } = answer.body as unknown as {
    tasks: { run: { id: string }; task: { id: string } }[];
  };
  return tasks.map(({ run, task }) => ({ runId: run.id, taskId: task.id, spender }));
}
