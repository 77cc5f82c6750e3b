import type { Benchmark } from '../harness/benchmark.js';
import { figure } from '../harness/figure.js';
import { inTurns } from '../harness/in-turns.js';
import type { Rig } from '../harness/rig.js';
import { type Answer, createdInBatchesPerSecond } from '../harness/tasks.js';

const SECONDS = 5;

/** Measures a thousand tasks per request, two requests at a time, answered with ids alone. */
export const createBatch: Benchmark = {
  name: 'create-batch',
  what: 'task creation over HTTP in batches of 1,000',
  async run(rig) {
    const ways = {
      alone: await aServer(rig, { durable: false, roles: 'api' }),
      durable: await aServer(rig, { durable: true, roles: 'api' }),
      whole: await aServer(rig, { durable: true, roles: 'api,coordinator,relay' }),
    };
    for (const way of Object.values(ways)) await way(2);
    const { alone, answered, durable, whole } = await inTurns(rig.repeats, {
      alone: () => ways.alone(SECONDS),
      answered: () => ways.alone(SECONDS, 'representation'),
      durable: () => ways.durable(SECONDS),
      whole: () => ways.whole(SECONDS),
    });
    const about = (name: string) => ({ name, unit: 'tasks/s' });
    return [
      figure({ ...about('create-batch'), goal: { atLeast: 35_000 } }, alone),
      figure(about('create-batch-with-tasks'), answered),
      figure(about('create-batch-durable'), durable),
      figure({ ...about('create-batch-all-roles'), goal: { atLeast: 26_000 } }, whole),
    ];
  },
};

interface Kind {
  durable: boolean;
  roles: string;
}

async function aServer(rig: Rig, { durable, roles }: Kind) {
  const site = await rig.newSite({ durable });
  const { token } = await site.newMember(await site.newWorkspace());
  const { url } = await rig.startServer(site, { ROLES: roles });
  return async (seconds: number, prefer: Answer = 'minimal'): Promise<number> => {
    const rate = await createdInBatchesPerSecond({ url, token, seconds }, prefer);
    await rig.relayed();
    return rate;
  };
}
