import type { Benchmark } from '../harness/benchmark.js';
import { figure } from '../harness/figure.js';
import { type Load, postsPerSecond } from '../harness/http-load.js';
import { inTurns } from '../harness/in-turns.js';

const CONNECTIONS = 50;

/** Measures heartbeats over HTTP. Each connection is another agent. */
export const heartbeats: Benchmark = {
  name: 'heartbeats',
  what: `heartbeats over HTTP, ${CONNECTIONS} connections`,
  async run(rig) {
    const site = await rig.newSite();
    const agents = await site.newAgents(await site.newWorkspace(), CONNECTIONS);
    const server = await rig.startServer(site, { ROLES: 'api' });
    const bare = await rig.startBareServer(site);
    const of = (connection: number) => agents[connection % CONNECTIONS] ?? { id: '', token: '' };
    const load: Omit<Load, 'url' | 'path'> = {
      connections: CONNECTIONS,
      seconds: 5,
      headers: (connection) => ({ authorization: `Bearer ${of(connection).token}` }),
      body: { status: 'healthy', memoryMb: 80, cpuPercent: 3 },
    };
    const ours: Load = {
      ...load,
      url: server.url,
      path: (connection) => `/api/v1/agents/${of(connection).id}/heartbeat`,
    };
    const theirs: Load = { ...load, url: bare.url, path: '/heartbeat' };
    for (const each of [ours, theirs]) await postsPerSecond({ ...each, seconds: 2 });
    const { values, floors } = await inTurns(rig.repeats, {
      floors: () => postsPerSecond(theirs),
      values: () => postsPerSecond(ours),
    });
    const about = { name: 'heartbeats', unit: 'heartbeats/s', goal: { ratioAtLeast: 0.8 } };
    return [figure(about, values, floors)];
  },
};
