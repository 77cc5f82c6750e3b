import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { Benchmark } from '../harness/benchmark.js';
import { Client } from '../harness/client.js';
import { figure, median } from '../harness/figure.js';
import { drainBy, moveOver } from '../harness/life.js';
import { paced } from '../harness/paced.js';
import type { Program } from '../harness/program.js';
import type { Rig } from '../harness/rig.js';
import type { Agent } from '../harness/site.js';
import { createdPerSecond } from '../harness/tasks.js';

/** A server gives memory back at its first or second look for idleness, one each 30 s. */
const SETTLING_SECONDS = 70;
const REST_SECONDS = 10;
const BEAT_SECONDS = 20;
const LOAD_SECONDS = 10;
const LOOK_MS = 250;
const BEAT = { status: 'healthy', memoryMb: 80, cpuPercent: 3 };
const BEATING = 1_000;
/** The interval of a worker is 10 s. */
const BEATS_PER_SECOND = BEATING / 10;
const AGENTS = 16;
const TASKS = 5_000;
const RESIDENT = /^VmRSS:\s+(\d+) kB$/m;

interface Life {
  rest: number;
  floor: number;
  agents: number;
  load: number;
}

/**
 * Measures the resident memory of a server with all roles: idle, with 1,000 agents that
 * send heartbeats, and its maximum during creations and claims.
 */
export const memory: Benchmark = {
  name: 'memory',
  what: 'resident memory of a server at rest, with 1,000 agents, and under load',
  async run(rig) {
    const lives: Life[] = [];
    for (let repeat = 0; repeat < rig.repeats; repeat++) lives.push(await aLife(rig));
    const all = (of: keyof Life): number[] => lives.map((life) => life[of]);
    return [
      figure({ name: 'memory-rest', unit: 'MB', goal: { atMost: 160 } }, all('rest'), all('floor')),
      figure({ name: 'memory-1000-agents', unit: 'MB' }, all('agents'), all('floor')),
      figure({ name: 'memory-load', unit: 'MB' }, all('load')),
    ];
  },
};

async function aLife(rig: Rig): Promise<Life> {
  const site = await rig.newSite();
  const { agents } = await site.newQueue(TASKS, AGENTS);
  const beating = await site.newAgents(await site.newWorkspace(), BEATING);
  const { token } = await site.newMember(await site.newWorkspace());
  const bare = await rig.startBareServer(site);
  const floor = median(await residentDuring(bare, delay(REST_SECONDS * 1000)));
  const server = await rig.startServer(site);
  const client = new Client(server.url, AGENTS);
  await delay(SETTLING_SECONDS * 1000);
  const rest = median(await residentDuring(server, delay(REST_SECONDS * 1000)));
  const beaten = median(await residentDuring(server, beat(client, beating)));
  const draining = async (): Promise<void> => {
    const move = await moveOver(client, agents[0] ?? { id: '', token: '' }, 1);
    await drainBy(move, agents, TASKS);
  };
  const loaded = Promise.all([
    createdPerSecond({ url: server.url, token, seconds: LOAD_SECONDS }),
    draining(),
  ]);
  const load = Math.max(...(await residentDuring(server, loaded)));
  await client.close();
  await Promise.all([server.stop(), bare.stop()]);
  return { rest, floor, agents: beaten, load };
}

async function beat(client: Client, agents: readonly Agent[]): Promise<void> {
  let next = 0;
  const pace = { count: BEATS_PER_SECOND * BEAT_SECONDS, perSecond: BEATS_PER_SECOND };
  await paced(pace, async () => {
    const { id, token } = agents[next++ % agents.length] ?? { id: '', token: '' };
    await client.post(`/api/v1/agents/${id}/heartbeat`, token, BEAT);
    return 0;
  });
}

/** Samples the memory in MB, several times a second until the work is done. */
async function residentDuring({ pid }: Program, work: Promise<unknown>): Promise<number[]> {
  const seen: number[] = [];
  let busy = true;
  const done = work.finally(() => (busy = false));
  while (busy) {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    seen.push((Number(RESIDENT.exec(status)?.[1]) * 1_024) / 1e6);
    await delay(LOOK_MS);
  }
  await done;
  return seen;
}
