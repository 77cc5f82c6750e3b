import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Benchmark } from '../harness/benchmark.js';
import { figure, quantile } from '../harness/figure.js';
import type { Rig } from '../harness/rig.js';

const ENDPOINTS = 10_000;
/**
 * One receiver in this number is dead. Every other dead one hangs, and the others break the
 * connection.
 */
const DEAD_EVERY = 100;
const MESSAGES = 5_000;
const AT_ONCE = 16;
const LOOK_MS = 20;
const SERVER = {
  ROLES: 'api,relay',
  WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
  MAX_WEBHOOKS_PER_WORKSPACE: String(ENDPOINTS),
};

/** Measures the effect of 1 % dead receivers on the others, and the rate of one receiver. */
export const webhooks: Benchmark = {
  name: 'webhooks',
  what: `an event for ${ENDPOINTS} webhooks, of which none and 1 % are dead; ${MESSAGES} events for one`,
  async run(rig) {
    const { without, withDead } = await lags(rig);
    const rates: number[] = [];
    for (let repeat = 0; repeat < rig.repeats; repeat++) rates.push(await rate(rig));
    const lag = { name: 'webhook-lag-p99', unit: 'ms', goal: { ratioAtMost: 1.2 } };
    return [
      figure(lag, withDead, without),
      figure({ name: 'webhook-deliveries', unit: 'deliveries/s' }, rates),
    ];
  },
};

/**
 * The 99th percentiles of the time from a task's creation until the live receivers have got its
 * message.
 */
async function lags(rig: Rig): Promise<{ without: number[]; withDead: number[] }> {
  const receiver = await Receiver.start(rig);
  const { post, addTask } = await startSender(rig);
  let made = 0;
  const makeAll = async (): Promise<void> => {
    while (made < ENDPOINTS) await post('/webhooks', endpoint(`${receiver.url}/${made++}`));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, makeAll));
  const alive = ENDPOINTS - ENDPOINTS / DEAD_EVERY;
  const round = async (): Promise<number> => {
    const start = receiver.begin();
    await addTask();
    await receiver.reached(alive);
    return quantile(
      receiver.times.map((at) => at - start),
      0.99,
    );
  };
  // The first use of each part is not measured.
  await round();
  const [without, withDead]: [number[], number[]] = [[], []];
  for (let repeat = 0; repeat < rig.repeats; repeat++) without.push(await round());
  receiver.dead = true;
  for (let repeat = 0; repeat < rig.repeats; repeat++) withDead.push(await round());
  await rig.clear();
  return { without, withDead };
}

/** Measures the deliveries per second to one receiver with a long backlog. */
async function rate(rig: Rig): Promise<number> {
  const receiver = await Receiver.start(rig);
  const { post, addTask, addTasks } = await startSender(rig);
  // The first receiver is dead, and a round does not wait for it.
  await post('/webhooks', endpoint(`${receiver.url}/1`));
  const start = receiver.begin();
  await addTasks(MESSAGES - 1);
  await addTask();
  await receiver.reached(MESSAGES);
  await rig.clear();
  return (MESSAGES * 1_000) / (Math.max(...receiver.times) - start);
}

const endpoint = (url: string) => ({ url, events: ['task.created'] });

async function startSender(rig: Rig) {
  const site = await rig.newSite();
  const workspaceId = await site.newWorkspace();
  const { token } = await site.newMember(workspaceId);
  const server = await rig.startServer(site, SERVER);
  const post = async (path: string, body: object): Promise<void> => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const request = { method: 'POST', headers, body: JSON.stringify(body) };
    const answer = await fetch(`${server.url}/api/v1${path}`, request);
    if (answer.status !== 201) throw new Error(`${answer.status} ${await answer.text()}`);
    await answer.text();
  };
  return {
    post,
    addTask: () => post('/agent-tasks', { title: 'A task', taskType: 'test' }),
    addTasks: (count: number) => site.addWaitingTasks(workspaceId, count),
  };
}

/** Answers all receivers, or all but the dead ones. */
class Receiver {
  url = '';
  dead = false;
  /** The arrival times of messages to live receivers since the start of the round. */
  times: number[] = [];

  static async start(rig: Rig): Promise<Receiver> {
    const receiver = new Receiver();
    const server = createServer((request, response) => {
      const number = Number(request.url?.slice(1));
      request.resume();
      request.on('end', () => receiver.answer(number, response));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    rig.onClear(async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    });
    return receiver;
  }

  /**
   * @returns the time in ms
   */
  begin(): number {
    this.times = [];
    return performance.now();
  }

  async reached(count: number): Promise<void> {
    while (this.times.length < count) await delay(LOOK_MS);
  }

  private answer(number: number, response: ServerResponse): void {
    const isOfTheDead = number % DEAD_EVERY === 0;
    if (!isOfTheDead) this.times.push(performance.now());
    if (!isOfTheDead || !this.dead) response.writeHead(204).end();
    else if (number % (2 * DEAD_EVERY) === 0) response.socket?.resetAndDestroy();
  }
}
