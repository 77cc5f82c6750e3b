import { newId } from '#lib/kernel';
import type { Benchmark } from '../harness/benchmark.js';
import { Client } from '../harness/client.js';
import { figure, type Measured, quantile } from '../harness/figure.js';
import { type Move, moveOver } from '../harness/life.js';
import { paced } from '../harness/paced.js';
import type { Agent, Holder } from '../harness/site.js';

const LOAD_AGENTS = 16;
/** More than the agents complete until the registrations are over. */
const LOAD_TASKS = 30_000;
const AGENT = { name: 'Registered', capabilities: ['development'] };
const PACE = { count: 200, perSecond: 20 };

/** Measures registrations of agents while other agents complete and claim tasks without a pause. */
export const registration: Benchmark = {
  name: 'registration',
  what: `${PACE.perSecond} agents registered a second, beside ${LOAD_AGENTS} agents that complete and claim`,
  async run(rig) {
    const site = await rig.newSite({ durable: true });
    const server = await rig.startServer(site);
    const [ours, load] = [new Client(server.url, 8), new Client(server.url, LOAD_AGENTS)];
    const member = await site.newMember(await site.newWorkspace());
    await register(ours, member, { ...PACE, count: 40 });
    const p95s: number[] = [];
    const p50s: number[] = [];
    for (let repeat = 0; repeat < rig.repeats; repeat++) {
      const { agents } = await site.newQueue(LOAD_TASKS, LOAD_AGENTS);
      const move = await moveOver(load, agents[0] ?? { id: '', token: '' }, 1);
      const times = await besides(move, agents, () => register(ours, member, PACE));
      await rig.relayed();
      p50s.push(quantile(times, 0.5));
      p95s.push(quantile(times, 0.95));
    }
    await Promise.all([ours.close(), load.close()]);
    await server.stop();
    return figures(p50s, p95s);
  },
};

/**
 * The agents complete and claim tasks while `work` goes on.
 *
 * @throws Error if no tasks are left before its end
 */
async function besides<T>(
  move: Move,
  agents: readonly Agent[],
  work: () => Promise<T>,
): Promise<T> {
  let isOver = false;
  const loads = agents.map(async (agent) => {
    for (let held: string[] = []; !isOver;) {
      held = await move(agent, held);
      if (held.length === 0 && !isOver) throw new Error('There are too few tasks');
    }
  });
  const end = () => void (isOver = true);
  const [result] = await Promise.all([work().finally(end), ...loads]);
  return result;
}

/** @returns the time of each registration in ms */
function register(client: Client, { token }: Holder, pace: typeof PACE): Promise<number[]> {
  return paced(pace, async () => {
    const calledAt = performance.now();
    await client.put(`/api/v1/agents/${newId()}`, token, AGENT);
    return performance.now() - calledAt;
  });
}

function figures(p50s: readonly number[], p95s: readonly number[]): Measured[] {
  return [
    figure({ name: 'registration-p50', unit: 'ms' }, p50s),
    figure({ name: 'registration-p95', unit: 'ms', goal: { atMost: 100 } }, p95s),
  ];
}
