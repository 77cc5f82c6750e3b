import { BareQueue } from '../floors/bare-queue.js';
import type { Benchmark } from '../harness/benchmark.js';
import { Client } from '../harness/client.js';
import { figure, type Goal, type Measured, quantile } from '../harness/figure.js';
import { inTurns } from '../harness/in-turns.js';
import { type Drained, drainBy, moveOver, moveOverBare } from '../harness/life.js';
import type { Rig } from '../harness/rig.js';

const AGENTS = 16;
const CONNECTIONS = 50;

interface Shape {
  name: string;
  batch: number;
  tasks: number;
  goal: Goal;
}

const SHAPES: readonly Shape[] = [
  { name: 'life-over-http', batch: 1, tasks: 6_000, goal: { ratioAtLeast: 0.85 } },
  { name: 'life-over-http-50', batch: 50, tasks: 12_000, goal: { atLeast: 5_500 } },
];

/**
 * Each agent completes its run and claims the next in one request, on a server as users have it.
 */
export const lifeOverHttp: Benchmark = {
  name: 'life-over-http',
  what: `${AGENTS} agents that complete and claim over HTTP, one and fifty tasks at a time`,
  async run(rig) {
    const figures: Measured[] = [];
    for (const shape of SHAPES) figures.push(...(await measure(rig, shape)));
    return figures;
  },
};

async function measure(rig: Rig, { name, batch, tasks, goal }: Shape): Promise<Measured[]> {
  const site = await rig.newSite({ durable: true });
  const bare = await rig.startBareServer(site);
  const server = await rig.startServer(site);
  const [ours, theirs] = [server, bare].map(({ url }) => new Client(url, CONNECTIONS)) as [
    Client,
    Client,
  ];
  const queue = await BareQueue.create(site.ownerUrl, 1);
  const drain = async (count: number): Promise<Drained> => {
    const { agents } = await site.newQueue(count, AGENTS);
    const move = await moveOver(ours, agents[0] ?? { id: '', token: '' }, batch);
    const drained = await drainBy(move, agents, count);
    await rig.relayed();
    return drained;
  };
  const drainBare = async (count: number): Promise<Drained> => {
    const workspaceId = await site.newWorkspace();
    const agents = await site.newAgents(workspaceId, AGENTS);
    await queue.fill(workspaceId, count);
    return drainBy(moveOverBare(theirs, batch), agents, count);
  };
  await drainBare(tasks / 4);
  await drain(tasks / 4);
  const turns = { floor: () => drainBare(tasks), value: () => drain(tasks) };
  const { value, floor } = await inTurns(rig.repeats, turns);
  await Promise.all([ours.close(), theirs.close(), queue.close()]);
  await Promise.all([server.stop(), bare.stop()]);
  const rates = (all: Drained[]) => all.map(({ rate }) => rate);
  const p99s = (all: Drained[]) => all.map(({ latencies }) => quantile(latencies, 0.99));
  const p99 = {
    name: `${name}-p99`,
    unit: 'ms',
    ...(batch === 1 && { goal: { ratioAtMost: 1.3 } }),
  };
  return [
    figure({ name, unit: 'tasks/s', goal }, rates(value), rates(floor)),
    figure(p99, p99s(value), p99s(floor)),
  ];
}
