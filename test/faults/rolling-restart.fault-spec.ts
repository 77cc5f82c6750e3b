import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Agent, createServer, request as send, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '#lib/local-servers';
import { checkInvariants } from '#lib/invariants';
import { newId } from '#lib/kernel';
import { apiClient } from '../support/api-client.js';
import { SECRET, TestGateway } from '../../apps/gateway/testing/gateway-process.js';
import { readFaultTimes } from '../support/fault-times.js';
import { TestFleet } from '../support/fleet.js';
import type { BuiltProcess } from '../support/processes.js';
import { waitFor } from '../support/wait-for.js';

const CLIENTS = 4;
const { restartRounds: RESTARTS } = readFaultTimes();
const PACE_MS = 100;
/** Each session is a process of its own. */
const SESSIONS_ONE_IN = 16;

/**
 * Two servers behind a balancer that checks every 100 ms whether they are ready. It repeats no
 * request.
 */
class Balancer {
  private readonly agent = new Agent({ keepAlive: true });
  private readonly ready = new Set<number>();
  private readonly asking: NodeJS.Timeout;
  private turn = 0;
  /** Requests of all clients, workers and gateways that got no answer or a status above 499. */
  readonly failures: string[] = [];

  private constructor(
    private readonly server: Server,
    private readonly ports: readonly number[],
  ) {
    this.asking = setInterval(() => ports.forEach((port) => void this.ask(port)), 100);
    server.on('request', (incoming, outgoing) => {
      const port = this.next();
      const { method, url: path, headers } = incoming;
      const onward = send({ port, host: '127.0.0.1', method, path, headers, agent: this.agent });
      const what = `${method} ${path}`;
      onward.on('response', (answer) => {
        const { statusCode = 502 } = answer;
        if (statusCode >= 500) this.failures.push(`${what}: ${statusCode}`);
        outgoing.writeHead(statusCode, answer.headers);
        answer.pipe(outgoing);
      });
      onward.on('error', (error) => {
        if (incoming.socket.destroyed) return;
        this.failures.push(`${what}: ${error.message}`);
        outgoing.writeHead(502).end('{}');
      });
      outgoing.on('close', () => outgoing.writableEnded || onward.destroy());
      incoming.pipe(onward);
    });
  }

  static async start(ports: readonly number[]): Promise<Balancer> {
    // Longer than any client keeps a connection, so that a client's own end of one is no failure of
    // the servers.
    const server = createServer({ keepAliveTimeout: 60_000 });
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    return new Balancer(server, ports);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  knows(count: number): boolean {
    return this.ready.size === count;
  }

  async stop(): Promise<void> {
    clearInterval(this.asking);
    this.server.closeAllConnections();
    await new Promise((resolve) => void this.server.close(resolve));
    this.agent.destroy();
  }

  private async ask(port: number): Promise<void> {
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
    if (answer?.ok) this.ready.add(port);
    else this.ready.delete(port);
    await answer?.arrayBuffer();
  }

  private next(): number {
    const ready = [...this.ready];
    return ready[this.turn++ % ready.length] ?? (this.ports[0] as number);
  }
}

let fleet: TestFleet;
let balancer: Balancer;
let gateway: TestGateway;
let gatewayPort: number;
let ports: readonly [number, number];
const servers: BuiltProcess[] = [];

const startServer = (port: number) =>
  fleet.startServer({
    PORT: String(port),
    SHUTDOWN_DELAY_SECONDS: '2',
    GATEWAY_URL: `http://127.0.0.1:${gatewayPort}`,
    GATEWAY_SECRET: SECRET,
    PUBLIC_URL: balancer.url,
  });

/** A session of a push agent: it reports, and completes its run. */
const SESSION = `
  const { DROVER_API_URL: url, DROVER_RUN_ID: run, DROVER_RUN_TOKEN: token } = process.env;
  const call = (method, path, body) => fetch(url + '/runs/' + run + '/' + path, {
    method,
    headers: { authorization: 'Bearer ' + token, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  call('PATCH', 'progress', { progressPercent: 50 }).then(() => call('POST', 'complete', {}));`;

beforeAll(async () => {
  fleet = await TestFleet.create();
  ports = [fleet.port, await freePort()];
  gatewayPort = await freePort();
  balancer = await Balancer.start(ports);
  servers.push(...(await Promise.all(ports.map(startServer))));
  await waitFor('both to be ready', () => balancer.knows(2));
  gateway = await new TestGateway({
    DROVER_API_URL: balancer.url,
    PORT: String(gatewayPort),
  }).start();
});
afterAll(async () => {
  await gateway.dispose();
  await balancer.stop();
  await fleet.stop();
});

it(`no request fails while two servers restart one after the other, ${RESTARTS} times`, async () => {
  const client = apiClient(balancer.url, fleet.credentials);
  await fleet.startWorker('worker', {
    DROVER_API_URL: balancer.url,
    DROVER_WORKER_CONCURRENCY: '4',
  });
  const agent = { name: 'Pushed', mode: 'push', command: [process.execPath, '-e', SESSION] };
  const pushed = { ...agent, capabilities: ['pushed', 'command'], maxConcurrentTasks: 3 };
  expect((await client.put(`/agents/${newId()}`, pushed)).status).toBe(201);
  const created: string[] = [];
  const failures: string[] = [];
  let going = true;
  const work = Array.from({ length: CLIENTS }, async () => {
    while (going) {
      const values = { inputContext: { command: ['true'] } };
      const task = { title: 'A script', taskType: 'test', retryBackoffSeconds: 0, ...values };
      const requiredCapabilities = created.length % SESSIONS_ONE_IN === 0 ? ['pushed'] : [];
      const answer = await client.post<{ id: string }>('/agent-tasks', {
        ...task,
        requiredCapabilities,
      });
      if (answer.status === 201) created.push(answer.body.id);
      else failures.push(`POST: ${answer.status} ${JSON.stringify(answer.body)}`);
      const list = await client.get('/agent-tasks?limit=5');
      if (list.status !== 200) failures.push(`GET: ${list.status} ${JSON.stringify(list.body)}`);
      // Sends requests all the time, but leaves the servers enough processor time to start.
      await delay(PACE_MS);
    }
  });
  for (let round = 0; round < RESTARTS; round++) {
    for (const [index, port] of ports.entries()) {
      await servers[index]?.stop();
      servers[index] = await startServer(port);
      await waitFor('both to be ready', () => balancer.knows(2));
    }
  }
  going = false;
  await Promise.all(work);
  expect(failures).toEqual([]);
  expect(balancer.failures).toEqual([]);
  expect(created.length).toBeGreaterThan(RESTARTS * CLIENTS);
  const rest = created.slice(20);
  for (let i = 0; i < rest.length; i += 1_000) {
    await client.post('/agent-tasks/bulk/cancel', { ids: rest.slice(i, i + 1_000) });
  }
  await waitFor('every task to end', async () => {
    const { rows } = await fleet.db.owner.query<{ open: number }>(
      `SELECT count(*)::int AS open FROM agent_tasks
       WHERE status IN ('PENDING', 'ASSIGNED', 'RUNNING') OR retry_at IS NOT NULL`,
    );
    return rows[0]?.open === 0;
  });
  const { rows } = await fleet.db.owner.query<{ mode: string; retried: number }>(
    `SELECT a.mode, max(t.retry_count)::int AS retried FROM agent_tasks t
     JOIN task_runs r ON r.task_id = t.id JOIN agents a ON a.id = r.agent_id
     WHERE t.status = 'COMPLETED' GROUP BY a.mode ORDER BY a.mode`,
  );
  expect(rows).toEqual([
    { mode: 'pull', retried: 0 },
    { mode: 'push', retried: 0 },
  ]);
  const outcomes = await checkInvariants(fleet.db.ownerUrl);
  expect(outcomes.filter((outcome) => !outcome.holds)).toEqual([]);
  // Four starts of a server take most of it on a slow machine.
}, 600_000);
