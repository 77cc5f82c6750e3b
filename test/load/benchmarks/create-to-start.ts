import type { Benchmark } from '../harness/benchmark.js';
import { type Latencies, latenciesOf, latencyFigures } from '../harness/figure.js';
import { inTurns } from '../harness/in-turns.js';
import { paced } from '../harness/paced.js';
import { WaitingAgents } from '../harness/waiting-agents.js';
import { measurePeer } from '../peers/measure.js';

const AGENTS = 10;
const PACE = { count: 200, perSecond: 20 };

/**
 * Measures the time from the call that creates a task to its handler's first line, beside
 * graphile-worker in its process.
 */
export const createToStart: Benchmark = {
  name: 'create-to-start',
  what: `from a creation to its handler, ${PACE.perSecond} tasks a second, ${AGENTS} agents waiting`,
  async run(rig) {
    const fleet = await WaitingAgents.start(rig, await rig.newSite({ durable: true }), AGENTS);
    await latencies(fleet, { ...PACE, count: 40 });
    const { ours, theirs } = await inTurns<string, Latencies>(rig.repeats, {
      theirs: () => measurePeer(rig, 'graphile-worker', 'latency'),
      ours: () => latencies(fleet, PACE),
    });
    await fleet.stop();
    const goals = { p50: { ratioAtMost: 1.5 }, p99: { ratioAtMost: 1.2 } };
    return latencyFigures('create-to-start', 'ms', goals, ours ?? [], theirs);
  },
};

export async function latencies(fleet: WaitingAgents, pace: typeof PACE): Promise<Latencies> {
  await fleet.untilAllWait();
  const all = await paced(pace, async () => {
    const calledAt = performance.now();
    const id = await fleet.create();
    return (await fleet.starts.of(id)) - calledAt;
  });
  return latenciesOf(all);
}
