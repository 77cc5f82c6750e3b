import type { Benchmark } from '../harness/benchmark.js';
import { Client } from '../harness/client.js';
import {
  figure,
  type Goal,
  type Latencies,
  latencyFigures,
  type Measured,
} from '../harness/figure.js';
import { inTurns } from '../harness/in-turns.js';
import { drainBy, moveOver } from '../harness/life.js';
import type { Rig } from '../harness/rig.js';
import type { Site } from '../harness/site.js';
import { createdInBatchesPerSecond, createdPerSecond } from '../harness/tasks.js';
import { WaitingAgents } from '../harness/waiting-agents.js';
import { measurePeer, type Part } from '../peers/measure.js';
import { WORKERS } from '../peers/peer.js';
import { latencies } from './create-to-start.js';

const SECONDS = 2;
const PACE = { count: 120, perSecond: 20 };
const PEERS = ['graphile-worker', 'pg-boss', 'loop'] as const;

/** The peer and the ratio to it that Drover's figure is wanted to reach. */
const WANTED: Partial<Record<Part, { peer: (typeof PEERS)[number]; goal: Goal }>> = {
  'add-thousands': { peer: 'pg-boss', goal: { ratioAtLeast: 0.5 } },
  'drain-one': { peer: 'graphile-worker', goal: { ratioAtLeast: 0.7 } },
  'drain-fifties': { peer: 'pg-boss', goal: { ratioAtLeast: 1.3 } },
};

type Rates = Record<Exclude<Part, 'latency'>, () => Promise<number>>;

/**
 * Compares as users run them: the server as a process, everything on, durable, over HTTP; peers in
 * their process.
 */
export const peers: Benchmark = {
  name: 'peers',
  what: `Drover over HTTP beside ${PEERS.join(', ')}`,
  async run(rig) {
    const drover = await asUsersHaveIt(rig);
    const figures: Measured[] = [];
    for (const part of Object.keys(drover) as (keyof Rates)[]) {
      rig.note(part);
      const values = await inTurns(rig.repeats, beside(rig, part, drover[part]));
      const about = (name: string) => ({ name: `${part}-${name}`, unit: 'tasks/s' });
      const { drover: ours = [], ...others } = values;
      const { peer = 'loop', goal } = WANTED[part] ?? {};
      figures.push(figure({ ...about('drover'), goal }, ours, others[peer]));
      for (const [name, rates] of Object.entries(others)) figures.push(figure(about(name), rates));
    }
    rig.note('latency');
    const fleet = await WaitingAgents.start(rig, await rig.newSite({ durable: true }), WORKERS);
    const idle = beside<Latencies>(rig, 'latency', () => latencies(fleet, PACE));
    const values = await inTurns(rig.repeats, idle);
    for (const [name, each] of Object.entries(values)) {
      figures.push(...latencyFigures(`create-to-start-${name}`, 'ms', {}, each));
    }
    await fleet.stop();
    return figures;
  },
};

function beside<Value>(rig: Rig, part: Part, drover: () => Promise<Value>) {
  const ways: Record<string, () => Promise<Value>> = { drover };
  for (const name of PEERS) ways[name] = () => measurePeer(rig, name, part) as Promise<Value>;
  return ways;
}

async function asUsersHaveIt(rig: Rig): Promise<Rates> {
  const [adding, drained] = [await aServer(rig), await aServer(rig)];
  const { token } = await adding.site.newMember(await adding.site.newWorkspace());
  const target = { url: adding.url, token, seconds: SECONDS };
  const client = new Client(drained.url, WORKERS);
  const drain = async (tasks: number, batch: number): Promise<number> => {
    const { agents } = await drained.site.newQueue(tasks, WORKERS);
    const move = await moveOver(client, agents[0] ?? { id: '', token: '' }, batch);
    return (await drainBy(move, agents, tasks)).rate;
  };
  await createdPerSecond(target);
  await drain(200, 1);
  return {
    'add-one': relayedAfter(rig, () => createdPerSecond(target)),
    'add-thousands': relayedAfter(rig, () => createdInBatchesPerSecond(target, 'minimal')),
    'drain-one': relayedAfter(rig, () => drain(3_000, 1)),
    'drain-fifties': relayedAfter(rig, () => drain(10_000, 50)),
  };
}

async function aServer(rig: Rig): Promise<{ site: Site; url: string }> {
  const site = await rig.newSite({ durable: true });
  const { url } = await rig.startServer(site, { LOG_LEVEL: 'info' });
  return { site, url };
}

/** The next measurement must not run beside a busy relay. */
function relayedAfter<T>(rig: Rig, work: () => Promise<T>): () => Promise<T> {
  return async () => {
    const value = await work();
    await rig.relayed();
    return value;
  };
}
