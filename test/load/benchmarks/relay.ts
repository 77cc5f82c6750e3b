import { setTimeout as delay } from 'node:timers/promises';
import type { Benchmark } from '../harness/benchmark.js';
import { Client } from '../harness/client.js';
import { figure } from '../harness/figure.js';
import type { Rig } from '../harness/rig.js';
import type { Site } from '../harness/site.js';
import { BATCH } from '../harness/tasks.js';

const BATCHES = 100;
const LOOK_MS = 5;
/** A creation publishes two messages: in full, and in one word. */
const MESSAGES = 2;

/** Measures the speed at which a new relay publishes the events of 100,000 creations to Valkey. */
export const relay: Benchmark = {
  name: 'relay',
  what: 'events of 100,000 new tasks relayed to Valkey',
  async run(rig) {
    const site = await rig.newSite();
    const { token } = await site.newMember(await site.newWorkspace());
    const values: number[] = [];
    for (let repeat = 0; repeat < rig.repeats; repeat++) {
      await createMany(rig, site, token);
      values.push(await relayedPerSecond(rig, site));
    }
    const goal = { atLeast: 70_000 };
    return [figure({ name: 'events-relayed', unit: 'events/s', goal }, values)];
  },
};

async function createMany(rig: Rig, site: Site, token: string): Promise<void> {
  const server = await rig.startServer(site, { ROLES: 'api' });
  const client = new Client(server.url, 1);
  for (let batch = 0; batch < BATCHES; batch++) {
    await client.post('/api/v1/agent-tasks/batch', token, BATCH);
  }
  await client.close();
  await server.stop();
}

/** The time counts from the first message, without the start of the process. */
async function relayedPerSecond(rig: Rig, site: Site): Promise<number> {
  const before = await rig.published();
  const starting = rig.startServer(site, { ROLES: 'relay' });
  let first = await rig.published();
  while (first === before) {
    await delay(LOOK_MS);
    first = await rig.published();
  }
  const start = performance.now();
  const { published, at } = await rig.relayed();
  const server = await starting;
  await server.stop();
  if (published - before < BATCHES * BATCH.tasks.length * MESSAGES)
    throw new Error('Events are missing');
  return (published - first) / MESSAGES / ((at - start) / 1000);
}
