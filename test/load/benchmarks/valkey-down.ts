import autocannon from 'autocannon';
import type { Benchmark } from '../harness/benchmark.js';
import { figure, type Measured } from '../harness/figure.js';
import type { Rig } from '../harness/rig.js';
import { type Way, wayTo } from '../harness/way.js';

const SECONDS = 5;
const CONNECTIONS = 16;
const TASK = { title: 'A task', taskType: 'test', inputContext: { command: ['true'] } };

const STATES: { name: string; set: (way: Way) => void }[] = [
  { name: 'up', set: (way) => way.open() },
  { name: 'cut', set: (way) => way.cut() },
  { name: 'silent', set: (way) => way.silence() },
];

/**
 * Measures requests while Valkey is away: its connections are broken, or open and never answered.
 */
export const valkeyDown: Benchmark = {
  name: 'valkey-down',
  what: 'the API’s p99 while Valkey is down',
  async run(rig) {
    const way = await wayTo(rig.valkeyUrl);
    const send = await aClient(rig, way.url);
    const p99 = new Map(STATES.map(({ name }) => [name, [] as number[]]));
    await send();
    for (let repeat = 0; repeat < rig.repeats; repeat++) {
      for (const { name, set } of STATES) {
        set(way);
        p99.get(name)?.push(await send());
      }
      way.open();
      // The server has reconnected before the next repeat.
      await send();
    }
    await way.close();
    const up = p99.get('up') ?? [];
    return STATES.map(({ name }): Measured => {
      const about = { name: `api-p99-valkey-${name}`, unit: 'ms' };
      return figure(about, p99.get(name) ?? [], name === 'up' ? undefined : up);
    });
  },
};

/** Sends creations, reads and heartbeats in turn, as one mix. */
async function aClient(rig: Rig, valkeyUrl: string): Promise<() => Promise<number>> {
  const site = await rig.newSite();
  const workspaceId = await site.newWorkspace();
  const { token } = await site.newMember(workspaceId);
  const [agent] = await site.newAgents(workspaceId, 1);
  if (!agent) throw new Error('No agent');
  const { url } = await rig.startServer(site, { VALKEY_URL: valkeyUrl });
  const json = { 'content-type': 'application/json' };
  const asUser = { ...json, authorization: `Bearer ${token}` };
  const asAgent = { ...json, authorization: `Bearer ${agent.token}` };
  const heartbeat = JSON.stringify({ status: 'healthy' });
  const requests: autocannon.Request[] = [
    { method: 'POST', path: '/api/v1/agent-tasks', headers: asUser, body: JSON.stringify(TASK) },
    { method: 'GET', path: '/api/v1/agent-tasks?limit=10', headers: asUser },
    {
      method: 'POST',
      path: `/api/v1/agents/${agent.id}/heartbeat`,
      headers: asAgent,
      body: heartbeat,
    },
  ];
  return async () => {
    const result = await autocannon({ url, connections: CONNECTIONS, duration: SECONDS, requests });
    if (result.non2xx > 0 || result.errors > 0) {
      throw new Error(`${result.non2xx} refusals and ${result.errors} errors`);
    }
    return result.latency.p99;
  };
}
