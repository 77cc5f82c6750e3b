import { setTimeout as delay } from 'node:timers/promises';
import type { Benchmark } from '../harness/benchmark.js';
import { Client } from '../harness/client.js';
import { figure, median } from '../harness/figure.js';
import { drainBy, moveOver } from '../harness/life.js';
import type { Rig } from '../harness/rig.js';
import { createdPerSecond } from '../harness/tasks.js';

const METRICS_TOKEN = 'the metrics of the benchmarks';
const REST_SECONDS = 10;
const LOAD_SECONDS = 10;
const LOOK_MS = 250;
const AGENTS = 16;
const TASKS = 5_000;
const RESIDENT = /^process_resident_memory_bytes (\S+)$/m;

/** What a server of all roles keeps resident: just started, and at most while it creates and hands out. */
export const memory: Benchmark = {
  name: 'memory',
  what: 'resident memory of a server at rest and under load',
  async run(rig) {
    const [rest, load]: [number[], number[]] = [[], []];
    for (let repeat = 0; repeat < rig.repeats; repeat++) {
      const seen = await aLife(rig);
      rest.push(seen.rest);
      load.push(seen.load);
    }
    return [
      figure({ name: 'memory-rest', unit: 'MB' }, rest),
      figure({ name: 'memory-load', unit: 'MB' }, load),
    ];
  },
};

async function aLife(rig: Rig): Promise<{ rest: number; load: number }> {
  const site = await rig.newSite();
  const { agents } = await site.newQueue(TASKS, AGENTS);
  const { token } = await site.newMember(await site.newWorkspace());
  const server = await rig.startServer(site, { METRICS_TOKEN });
  const client = new Client(server.url, AGENTS);
  const rest = median(await residentDuring(server.url, delay(REST_SECONDS * 1000)));
  const draining = async (): Promise<void> => {
    const move = await moveOver(client, agents[0] ?? { id: '', token: '' }, 1);
    await drainBy(move, agents, TASKS);
  };
  const loaded = Promise.all([
    createdPerSecond({ url: server.url, token, seconds: LOAD_SECONDS }),
    draining(),
  ]);
  const load = Math.max(...(await residentDuring(server.url, loaded)));
  await client.close();
  await server.stop();
  return { rest, load };
}

/** In MB, several times a second until the work is done. */
async function residentDuring(url: string, work: Promise<unknown>): Promise<number[]> {
  const seen: number[] = [];
  const headers = { authorization: `Bearer ${METRICS_TOKEN}` };
  let busy = true;
  const done = work.finally(() => (busy = false));
  while (busy) {
    const text = await (await fetch(`${url}/metrics`, { headers })).text();
    seen.push(Number(RESIDENT.exec(text)?.[1]) / 1e6);
    await delay(LOOK_MS);
  }
  await done;
  return seen;
}
