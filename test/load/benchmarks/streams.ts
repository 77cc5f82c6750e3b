import { readFileSync } from 'node:fs';
import { Agent, get, type IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Benchmark } from '../harness/benchmark.js';
import { figure } from '../harness/figure.js';
import type { Program } from '../harness/program.js';
import type { Rig } from '../harness/rig.js';

const CLIENTS = 2_000;
const AT_ONCE = 50;
const SETTLE_MS = 3_000;
const RESIDENT = /^VmRSS:\s+(\d+) kB$/m;

/** Measures the resident memory of a server for each client with an open stream of events. */
export const streams: Benchmark = {
  name: 'streams',
  what: `memory of a server for each of ${CLIENTS} clients with a stream of events`,
  async run(rig) {
    const values: number[] = [];
    for (let repeat = 0; repeat < rig.repeats; repeat++) values.push(await kilobytesAClient(rig));
    return [figure({ name: 'stream-client', unit: 'kB', goal: { atMost: 20 } }, values)];
  },
};

async function kilobytesAClient(rig: Rig): Promise<number> {
  const site = await rig.newSite();
  const { token } = await site.newMember(await site.newWorkspace());
  const server = await rig.startServer(site, { MAX_STREAMS_PER_CALLER: `${CLIENTS + AT_ONCE}` });
  const agent = new Agent({ keepAlive: false });
  const open = () => openStream(server.url, token, agent);
  // The first streams load the shared modules.
  const answers = await Promise.all(Array.from({ length: AT_ONCE }, open));
  await delay(SETTLE_MS);
  const before = resident(server);
  for (let left = CLIENTS; left > 0; left -= AT_ONCE) {
    answers.push(...(await Promise.all(Array.from({ length: AT_ONCE }, open))));
  }
  await delay(SETTLE_MS);
  const after = resident(server);
  for (const answer of answers) answer.destroy();
  await server.stop();
  return (after - before) / CLIENTS;
}

function openStream(url: string, token: string, agent: Agent): Promise<IncomingMessage> {
  const headers = { authorization: `Bearer ${token}` };
  return new Promise((resolve, reject) => {
    get(`${url}/api/v1/events`, { agent, headers }, (answer) => {
      answer.resume();
      if (answer.statusCode === 200) resolve(answer);
      else reject(new Error(`A stream was answered with ${answer.statusCode}`));
    }).on('error', reject);
  });
}

/** Returns the resident memory in kB. */
function resident({ pid }: Program): number {
  return Number(RESIDENT.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1.024;
}
