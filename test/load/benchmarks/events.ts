import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'iovalkey';
import type { Benchmark } from '../harness/benchmark.js';
import { Client } from '../harness/client.js';
import { figure, type Latencies, latenciesOf, latencyFigures } from '../harness/figure.js';
import { inTurns } from '../harness/in-turns.js';
import { drainBy, moveOver } from '../harness/life.js';
import { paced } from '../harness/paced.js';
import type { Program } from '../harness/program.js';
import type { Rig } from '../harness/rig.js';
import type { Site } from '../harness/site.js';

/** The rate of new tasks during the measurement, and their number. */
const PACE = 50;
const TASKS = 500;
const BACKLOG = 20_000;
const LIVES = 2_000;
const AGENTS = 16;
const LOOK_MS = 10;
const WITH_CONSUMERS = { ROLES: 'api,relay', WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' };
const TASK = { title: 'A task', taskType: 'test' };

/**
 * Measures the delay and the rate of events for each kind of follower, and their total cost for the
 * transitions.
 */
export const events: Benchmark = {
  name: 'events',
  what: 'events to Valkey, a stream and a webhook: lag under load, rate, and what they cost',
  async run(rig) {
    const lags = await lagsOf(rig);
    const rates: number[] = [];
    for (let repeat = 0; repeat < rig.repeats; repeat++) rates.push(await streamRate(rig));
    const { alone, followed } = await livesOf(rig);
    const cost = { name: 'lives-with-consumers', unit: 'tasks/s', goal: { ratioAtLeast: 0.85 } };
    return [
      ...EARS.flatMap((name) => latencyFigures(`events-lag-${name}`, 'ms', {}, lags[name])),
      figure({ name: 'events-to-a-stream', unit: 'events/s' }, rates),
      figure(cost, followed, alone),
    ];
  },
};

const EARS = ['valkey', 'stream', 'webhook'] as const;

/** The received messages, and their delays since the event in milliseconds. */
class Ear {
  lags: number[] = [];

  hear(message: string): void {
    const [, at] = /"event":"task.created".*?"timestamp":"([^"]+)"/.exec(message) ?? [];
    if (at !== undefined) this.lags.push(Date.now() - Date.parse(at));
  }

  async heard(count: number): Promise<void> {
    while (this.lags.length < count) await delay(LOOK_MS);
  }
}

type Ears = Record<(typeof EARS)[number], Ear>;

/** A server with a follower of each kind. */
interface Stage {
  site: Site;
  workspaceId: string;
  token: string;
  server: Program;
  ears: Ears;
}

async function aStage(rig: Rig): Promise<Stage> {
  const site = await rig.newSite({ durable: true });
  const workspaceId = await site.newWorkspace();
  const { token } = await site.newMember(workspaceId);
  const server = await rig.startServer(site, WITH_CONSUMERS);
  const ears: Ears = { valkey: new Ear(), stream: new Ear(), webhook: new Ear() };
  const valkey = new Redis(rig.valkeyUrl);
  valkey.on('pmessage', (_pattern, _channel, message: string) => ears.valkey.hear(message));
  await valkey.psubscribe(`${site.env['VALKEY_KEY_PREFIX']}tasks:events:*`);
  rig.onClear(async () => valkey.disconnect());
  await listenToStream(rig, `${server.url}/api/v1/events`, token, ears.stream);
  const url = await aReceiver(rig, ears.webhook);
  const client = new Client(server.url, 1);
  await client.post('/api/v1/webhooks', token, { url, events: ['task.created'] });
  await client.close();
  return { site, workspaceId, token, server, ears };
}

/** Resolves when new events arrive. */
async function listenToStream(rig: Rig, url: string, token: string, ear: Ear): Promise<void> {
  const gone = new AbortController();
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(url, { headers, signal: gone.signal });
  if (!answer.ok) throw new Error(`A stream was answered with ${answer.status}`);
  rig.onClear(async () => gone.abort());
  const read = async (): Promise<void> => {
    let rest = '';
    for await (const text of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) ear.hear(line);
    }
  };
  void read().catch(() => undefined);
}

async function aReceiver(rig: Rig, ear: Ear): Promise<string> {
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      ear.hear(body);
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  rig.onClear(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

async function lagsOf(rig: Rig): Promise<Record<keyof Ears, Latencies[]>> {
  const { server, token, ears } = await aStage(rig);
  const client = new Client(server.url, AGENTS);
  const lags: Record<keyof Ears, Latencies[]> = { valkey: [], stream: [], webhook: [] };
  for (let repeat = 0; repeat <= rig.repeats; repeat++) {
    for (const name of EARS) ears[name].lags = [];
    await paced({ count: TASKS, perSecond: PACE }, async () => {
      await client.post('/api/v1/agent-tasks', token, TASK);
      return 0;
    });
    for (const name of EARS) {
      await ears[name].heard(TASKS);
      // The first use of each part is not measured.
      if (repeat > 0) lags[name].push(latenciesOf(ears[name].lags));
    }
  }
  await client.close();
  await rig.clear();
  return lags;
}

/** Measures the events per second of one stream for a transaction with many. */
async function streamRate(rig: Rig): Promise<number> {
  const { site, workspaceId, token } = await prepared(rig);
  const server = await rig.startServer(site, { ROLES: 'api' });
  const ear = new Ear();
  await listenToStream(rig, `${server.url}/api/v1/events`, token, ear);
  await site.addWaitingTasks(workspaceId, BACKLOG);
  await ear.heard(1);
  const [start, before] = [performance.now(), ear.lags.length];
  await ear.heard(BACKLOG);
  const rate = ((BACKLOG - before) * 1_000) / (performance.now() - start);
  await rig.clear();
  return rate;
}

async function prepared(rig: Rig) {
  const site = await rig.newSite({ durable: true });
  const workspaceId = await site.newWorkspace();
  return { site, workspaceId, ...(await site.newMember(workspaceId)) };
}

/**
 * Measures the tasks per second that agents claim and complete over HTTP, with no consumer of the
 * journal and with all. The webhook has received their creation before, so the figure includes its
 * search, and no requests to others.
 */
async function livesOf(rig: Rig): Promise<{ alone: number[]; followed: number[] }> {
  const bare = await prepared(rig);
  const alone = { ...bare, server: await rig.startServer(bare.site, { ROLES: 'api' }) };
  const followed = await aStage(rig);
  const lives = async (stage: Omit<Stage, 'ears'>, tasks = LIVES): Promise<number> => {
    const client = new Client(stage.server.url, AGENTS);
    const agents = await stage.site.newAgents(stage.workspaceId, AGENTS);
    followed.ears.webhook.lags = [];
    await stage.site.addWaitingTasks(stage.workspaceId, tasks);
    await stage.site.settle();
    if (stage === followed) await followed.ears.webhook.heard(tasks);
    const move = await moveOver(client, agents[0] ?? { id: '', token: '' }, 1);
    const { rate } = await drainBy(move, agents, tasks);
    await client.close();
    await rig.relayed();
    return rate;
  };
  for (const stage of [alone, followed]) await lives(stage, LIVES / 4);
  const measured = await inTurns(rig.repeats, {
    alone: () => lives(alone),
    followed: () => lives(followed),
  });
  await rig.clear();
  return measured;
}
