import { BareQueue } from '../floors/bare-queue.js';
import { drainWithGraphileWorker } from '../floors/graphile-worker.js';
import type { Benchmark } from '../harness/benchmark.js';
import { drainWithCore } from '../harness/drain.js';
import { figure, type Measured } from '../harness/figure.js';
import { inTurns, perSecond } from '../harness/in-turns.js';
import type { Rig } from '../harness/rig.js';

const CONCURRENCY = 10;

/** No-op tasks claimed and completed through the server's own services, without HTTP. */
export const claimComplete: Benchmark = {
  name: 'claim-complete',
  what: `claim and complete of no-op tasks, ${CONCURRENCY} at once`,
  async run(rig) {
    return [
      await measure(rig, { batch: 1, tasks: 6_000, ratioAtLeast: 0.6 }),
      await measure(rig, { batch: 50, tasks: 20_000, ratioAtLeast: 0.4 }),
      await besideGraphileWorker(rig, 6_000),
    ];
  },
};

interface Shape {
  batch: number;
  tasks: number;
  ratioAtLeast: number;
}

async function measure(rig: Rig, { batch, tasks, ratioAtLeast }: Shape): Promise<Measured> {
  const site = await rig.newSite();
  const core = await rig.startCore(site);
  const queue = await BareQueue.create(site.ownerUrl, CONCURRENCY);
  const drain = async (count: number): Promise<number> => {
    const workspaceId = await site.newWorkspace();
    const agents = await site.newAgents(workspaceId, CONCURRENCY);
    await site.addWaitingTasks(workspaceId, count);
    await site.settle();
    return perSecond(() => drainWithCore(core, workspaceId, { agents, batch }));
  };
  const drainBare = async (count: number): Promise<number> => {
    const workspaceId = await site.newWorkspace();
    const agents = await site.newAgents(workspaceId, CONCURRENCY);
    await queue.fill(workspaceId, count);
    return perSecond(async () => {
      const done = agents.map(({ id }) => queue.drain(workspaceId, id, batch));
      return (await Promise.all(done)).reduce((sum, count) => sum + count, 0);
    });
  };
  const { values, floors } = await inTurns(rig.repeats, {
    warmUp: async () => {
      await drain(tasks / 4);
      await drainBare(tasks / 4);
    },
    value: () => drain(tasks),
    floor: () => drainBare(tasks),
  });
  await queue.close();
  const name = `claim-complete-${batch}`;
  return figure({ name, unit: 'tasks/s', goal: { ratioAtLeast } }, values, floors);
}

/** The same work by a queue that many use; its floor is the hand-written loop's batch of one. */
async function besideGraphileWorker(rig: Rig, tasks: number): Promise<Measured> {
  const site = await rig.newSite();
  const values: number[] = [];
  await drainWithGraphileWorker(site.ownerUrl, { tasks: tasks / 4, concurrency: CONCURRENCY });
  for (let repeat = 0; repeat < rig.repeats; repeat++) {
    const drained = { tasks, concurrency: CONCURRENCY };
    values.push(await drainWithGraphileWorker(site.ownerUrl, drained));
  }
  return figure({ name: 'graphile-worker', unit: 'tasks/s' }, values);
}
