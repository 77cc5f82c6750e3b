import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { migrate } from '#lib/database';
import { checkInvariants } from '#lib/invariants';
import { freePort } from '#lib/local-servers';
import { newId } from '#lib/kernel';
import { apiClient, type ApiAnswer, type ApiClient } from '../support/api-client.js';
import { createTestDatabase } from '../support/database.js';
import { TestFleet } from '../support/fleet.js';
import { BuiltProcess } from '../support/processes.js';
import { testServers } from '../support/servers.js';
import { waitFor } from '../support/wait-for.js';
import { buildServer, type OldBuild, previousVersion } from './harness/previous-version.js';

const version = await previousVersion();
if (version === undefined) process.stderr.write('No repository here: no upgrade is tested.\n');

const CLIENTS = 3;

/** Clients that send each request to the next server of a list. */
class Clients {
  /** Answers other than 2xx. */
  readonly failures: string[] = [];
  private readonly rounds: number[] = Array.from({ length: CLIENTS }, () => 0);
  private servers: ApiClient[] = [];
  private turn = 0;
  private going = true;
  private running: Promise<void>[] = [];

  use(...servers: ApiClient[]): void {
    this.servers = servers;
    if (this.running.length === 0) this.running = this.rounds.map((_, index) => this.work(index));
  }

  /** Resolves when each client has done three more rounds. */
  async goOn(): Promise<void> {
    const goals = this.rounds.map((done) => done + 3);
    await waitFor('the clients to go on', () =>
      this.rounds.every((done, index) => done >= (goals[index] as number)),
    );
  }

  async stop(): Promise<void> {
    this.going = false;
    await Promise.all(this.running);
  }

  private async work(index: number): Promise<void> {
    while (this.going) {
      await this.round().catch((error: unknown) => this.failures.push(String(error)));
      this.rounds[index] = (this.rounds[index] ?? 0) + 1;
    }
  }

  private async round(): Promise<void> {
    const agentId = newId();
    const tag = `only-${agentId}`;
    await this.send((api) => api.post('/projects', { name: `A project ${agentId}` }));
    const agent = { name: 'An agent', mode: 'pull', capabilities: [tag], maxConcurrentTasks: 1 };
    await this.send((api) => api.put(`/agents/${agentId}`, agent));
    const { token } = await this.send((api) => api.post<Issued>(`/agents/${agentId}/token`, {}));
    const as = { authorization: `Bearer ${token}` };
    const values = { title: 'A task', taskType: 'test', requiredCapabilities: [tag] };
    const task = await this.send((api) => api.post<Named>('/agent-tasks', values));
    await this.send((api) => api.patch(`/agent-tasks/${task.id}`, { title: 'The same task' }));
    await this.send((api) => api.post(`/agent-tasks/${task.id}/pause`, {}));
    await this.send((api) => api.post(`/agent-tasks/${task.id}/resume`, {}));
    const beat = { status: 'healthy' };
    await this.send((api) => api.post(`/agents/${agentId}/heartbeat`, beat, as));
    const claim = await this.send((api) => api.post<Claim>(`/agents/${agentId}/claim`, {}, as));
    const run = claim.tasks[0]?.run.id ?? '';
    await this.send((api) => api.patch(`/runs/${run}/progress`, { progressPercent: 50 }, as));
    await this.send((api) => api.post(`/runs/${run}/complete`, {}, as));
  }

  private async send<T>(request: (api: ApiClient) => Promise<ApiAnswer<T>>): Promise<T> {
    const { status, body } = await request(
      this.servers[this.turn++ % this.servers.length] as ApiClient,
    );
    if (status >= 300) throw new Error(`${status}: ${JSON.stringify(body)}`);
    return body;
  }
}

interface Named {
  id: string;
}
interface Issued {
  token: string;
}
interface Claim {
  tasks: { run: Named }[];
}

let old: OldBuild;
let fleet: TestFleet;

beforeAll(async () => {
  if (version === undefined) return;
  old = await buildServer(version);
  const db = await createTestDatabase({}, testServers(), 'template0');
  const { ownerUrl, appUrl, serviceUrl } = db;
  // This process's own sessions count as those of a server.
  const urls = { ownerUrl, appUrl, serviceUrl };
  await migrate({ ...urls, migrationsDir: old.migrations, force: true });
  fleet = await TestFleet.create({ db });
});

afterAll(async () => {
  await fleet?.stop();
  await old?.remove();
});

(version === undefined ? it.skip : it)(
  `servers of ${version?.slice(0, 12)} serve while the database is migrated and servers are replaced`,
  async () => {
    const port = await freePort();
    const before = await fleet.startServer({ PORT: String(port), ...old.env }, old.dist);
    const clients = new Clients();
    const server = (of: number) => apiClient(`http://127.0.0.1:${of}`, fleet.credentials);
    try {
      clients.use(server(port));
      await clients.goOn();
      await migrated(fleet.db.ownerUrl);
      await clients.goOn();
      await fleet.startServer();
      clients.use(server(port), server(fleet.port));
      await clients.goOn();
      clients.use(server(fleet.port));
      await clients.goOn();
      await before.stop();
      await clients.goOn();
    } finally {
      await clients.stop();
    }
    expect(clients.failures).toEqual([]);
    const outcomes = await checkInvariants(fleet.db.ownerUrl);
    expect(outcomes.filter(({ holds }) => !holds)).toEqual([]);
  },
);

/** Migrates as an operator does, beside the servers. */
async function migrated(ownerUrl: string): Promise<void> {
  const env = fleet.settings({ DATABASE_OWNER_URL: ownerUrl });
  const migrating = BuiltProcess.start('apps/server/main.js', env, ['--migrate-only']);
  await migrating.said('migrated');
  expect(await migrating.ended()).toBe(0);
}
