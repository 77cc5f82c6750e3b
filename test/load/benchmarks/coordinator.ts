import type { CycleReport } from '#lib/coordinator';
import type { Benchmark } from '../harness/benchmark.js';
import { runCycle } from '../harness/cycles.js';
import { figure } from '../harness/figure.js';
import { ADD_COMPLETED, ADD_RUNNING, LOSE_RUNS } from '../harness/tables.js';

const AGENTS = 1_000;
const LOST = 500;
/** The sizes add up to 100,000. */
const TASKS = { completed: 60_000, waiting: 30_000, running: 10_000 };

/** Measures one cycle over a large fleet, with and without work to do. */
export const coordinator: Benchmark = {
  name: 'coordinator',
  what: `one coordinator cycle over ${AGENTS} agents and 100,000 tasks`,
  async run(rig) {
    const site = await rig.newSite();
    const core = await rig.startCore(site);
    const workspaceId = await site.newWorkspace();
    const agents = await site.newAgents(workspaceId, AGENTS, 100);
    rig.note('filling in 100,000 tasks');
    await site.addWaitingTasks(workspaceId, TASKS.waiting);
    await site.owner.query(ADD_COMPLETED, [workspaceId, TASKS.completed]);
    const ids = agents.map(({ id }) => id);
    await site.owner.query(ADD_RUNNING, [workspaceId, TASKS.running, ids]);
    await site.settle();
    const cycle = async (expected: number): Promise<number> => {
      const { ms, report } = await runCycle(site, core);
      refuseUnlessRecovered(report, expected);
      return ms;
    };
    await runCycle(site, core);
    const [recovering, idle]: [number[], number[]] = [[], []];
    for (let repeat = 0; repeat < rig.repeats; repeat++) {
      await site.owner.query(LOSE_RUNS, [workspaceId, LOST]);
      recovering.push(await cycle(LOST));
      idle.push(await cycle(0));
    }
    return [
      figure({ name: 'cycle-500-recoveries', unit: 'ms', goal: { atMost: 2_000 } }, recovering),
      figure({ name: 'cycle-nothing-to-do', unit: 'ms', goal: { atMost: 100 } }, idle),
    ];
  },
};

function refuseUnlessRecovered({ steps }: CycleReport, expected: number): void {
  const recovered = steps
    .filter(({ step }) => step === 'expire_leases' || step === 'recover_lost_runs')
    .reduce((sum, { moved }) => sum + moved, 0);
  if (recovered === expected) return;
  throw new Error(`${recovered} tasks were recovered instead of ${expected}`);
}
