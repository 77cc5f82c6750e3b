import type { Benchmark } from '../harness/benchmark.js';
import { figure } from '../harness/figure.js';
import { inTurns } from '../harness/in-turns.js';
import type { Rig } from '../harness/rig.js';
import { createdPerSecond } from '../harness/tasks.js';

const SECONDS = 5;

/**
 * Measures one task per request: with the API alone, with the relay in the same process, and with
 * all roles. Each has its own database whose events have all been relayed.
 */
export const create: Benchmark = {
  name: 'create',
  what: 'task creation over HTTP, 16 connections',
  async run(rig) {
    const ways = {
      bare: await aBareServer(rig),
      alone: await aServer(rig, { ROLES: 'api' }),
      relaying: await aServer(rig, { ROLES: 'api,relay' }),
      whole: await aServer(rig, {}),
    };
    for (const way of Object.values(ways)) await way(2);
    const { bare, alone, relaying, whole } = await inTurns(rig.repeats, {
      bare: () => ways.bare(SECONDS),
      alone: () => ways.alone(SECONDS),
      relaying: () => ways.relaying(SECONDS),
      whole: () => ways.whole(SECONDS),
    });
    const about = (name: string, ratioAtLeast: number) => {
      return { name, unit: 'tasks/s', goal: { ratioAtLeast } };
    };
    return [
      figure(about('create', 0.8), alone, bare),
      figure(about('create-all-roles', 0.75), whole, bare),
      figure(about('create-with-relay', 0.85), relaying, alone),
    ];
  },
};

type Way = (seconds: number) => Promise<number>;

async function aServer(rig: Rig, env: Record<string, string>): Promise<Way> {
  const site = await rig.newSite();
  const { token } = await site.newMember(await site.newWorkspace());
  const { url } = await rig.startServer(site, env);
  return async (seconds) => {
    const rate = await createdPerSecond({ url, token, seconds });
    await rig.relayed();
    return rate;
  };
}

async function aBareServer(rig: Rig): Promise<Way> {
  const site = await rig.newSite();
  const { token } = await site.newMember(await site.newWorkspace());
  const { url } = await rig.startBareServer(site);
  return (seconds) => createdPerSecond({ url, token, seconds, path: '/tasks' });
}
