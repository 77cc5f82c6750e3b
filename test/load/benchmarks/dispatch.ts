import type { Benchmark } from '../harness/benchmark.js';
import { latenciesOf, latencyFigures } from '../harness/figure.js';
import { WaitingAgents } from '../harness/waiting-agents.js';

const AGENTS = 20;
const SAMPLES = 300;

/**
 * Measures the time from the answer to a creation to the answer of a claim that was waiting for it.
 */
export const dispatch: Benchmark = {
  name: 'dispatch',
  what: `dispatch latency of an idle fleet of ${AGENTS} agents`,
  async run(rig) {
    const fleet = await WaitingAgents.start(rig, await rig.newSite(), AGENTS);
    await latencies(fleet, SAMPLES / 3);
    const values = [];
    for (let repeat = 0; repeat < rig.repeats; repeat++) {
      values.push(latenciesOf(await latencies(fleet, SAMPLES)));
    }
    await fleet.stop();
    const goals = { p50: { atMost: 5 }, p99: { atMost: 20 } };
    return latencyFigures('dispatch', 'ms', goals, values);
  },
};

/**
 * Creates one task after the other, each when all agents wait again. Times are in ms, and 0 if the
 * agent was first.
 */
async function latencies(fleet: WaitingAgents, samples: number): Promise<number[]> {
  const all: number[] = [];
  while (all.length < samples) {
    await fleet.untilAllWait();
    const id = await fleet.create();
    const answeredAt = performance.now();
    all.push(Math.max(0, (await fleet.starts.of(id)) - answeredAt));
  }
  return all;
}
