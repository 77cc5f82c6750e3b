import { readFileSync } from 'node:fs';
import { olderNode } from '../../support/older-node.js';
import type { Benchmark } from '../harness/benchmark.js';
import { Client } from '../harness/client.js';
import { figure, type Measured } from '../harness/figure.js';
import { inTurns } from '../harness/in-turns.js';
import { drainBy, moveOver } from '../harness/life.js';
import type { Runtime } from '../harness/program.js';
import type { Rig } from '../harness/rig.js';
import { createdPerSecond } from '../harness/tasks.js';

const AGENTS = 16;
const BATCH = 50;
const TASKS = 8_000;
const CREATION_SECONDS = 4;
const WARM_UP = { tasks: 4_000, seconds: 3 };
/** The ticks of Linux in which /proc counts, 100 per second. */
const TICK_MS = 10;
const PEAK = /^VmHWM:\s+(\d+) kB$/m;

/** The CPU time of the server process, in us per task, and its largest memory so far, in MB. */
interface Cost {
  fifties: number;
  creation: number;
  memory: number;
}

/**
 * A server in Node 22, and some with a larger young generation, beside one as users have it. Node 20
 * is too old for the server.
 */
export const nodeVersions: Benchmark = {
  name: 'node-versions',
  what: 'CPU time of a server in Node 22 and 24, and with larger young generations',
  async run(rig) {
    const runtimes = {
      'node-24': { file: process.execPath },
      'node-22': { file: await olderNode(22) },
      'young-32-mb': { file: process.execPath, flags: ['--max-semi-space-size=32'] },
      'young-64-mb': { file: process.execPath, flags: ['--max-semi-space-size=64'] },
    } satisfies Record<string, Runtime>;
    const ways: Record<string, () => Promise<Cost>> = {};
    for (const [name, runtime] of Object.entries(runtimes)) ways[name] = await aWay(rig, runtime);
    const costs = await inTurns(rig.repeats, ways);
    const { 'node-24': floor = [], ...others } = costs;
    return Object.entries(others).flatMap(([name, values]) => [
      cost(`${name}, fifties`, values, floor, 'fifties'),
      cost(`${name}, creation`, values, floor, 'creation'),
      cost(`${name}, memory`, values, floor, 'memory', 'MB'),
    ]);
  },
};

function cost(
  name: string,
  values: Cost[],
  floors: Cost[],
  of: keyof Cost,
  unit = 'us CPU/task',
): Measured {
  const all = (costs: Cost[]): number[] => costs.map((each) => each[of]);
  return figure({ name, unit }, all(values), all(floors));
}

async function aWay(rig: Rig, runtime: Runtime): Promise<() => Promise<Cost>> {
  const site = await rig.newSite({ durable: true });
  const server = await rig.startServer(site, {}, runtime);
  const client = new Client(server.url, AGENTS);
  rig.onClear(() => client.close());
  const { token } = await site.newMember(await site.newWorkspace());
  const fifties = async (tasks: number): Promise<number> => {
    const { agents } = await site.newQueue(tasks, AGENTS);
    const move = await moveOver(client, agents[0] ?? { id: '', token: '' }, BATCH);
    const before = cpuMs(server.pid);
    await drainBy(move, agents, tasks);
    await rig.relayed();
    return ((cpuMs(server.pid) - before) * 1_000) / tasks;
  };
  const creation = async (seconds: number): Promise<number> => {
    const before = cpuMs(server.pid);
    const created = (await createdPerSecond({ url: server.url, token, seconds })) * seconds;
    await rig.relayed();
    return ((cpuMs(server.pid) - before) * 1_000) / created;
  };
  await fifties(WARM_UP.tasks);
  await creation(WARM_UP.seconds);
  return async () => ({
    fifties: await fifties(TASKS),
    creation: await creation(CREATION_SECONDS),
    memory: peakMb(server.pid),
  });
}

/** User and system time of a process. */
function cpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13);
  return (Number(user) + Number(system)) * TICK_MS;
}

function peakMb(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return (Number(PEAK.exec(status)?.[1]) * 1_024) / 1e6;
}
