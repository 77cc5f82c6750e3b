import { setTimeout as sleep } from 'node:timers/promises';
import { EVERYWHERE as ALL, type SweepScope } from '#lib/transitions';
import { Cycle } from '#lib/coordinator';
import type { Benchmark } from '../harness/benchmark.js';
import { runCycle } from '../harness/cycles.js';
import { figure, type Goal, type Measured } from '../harness/figure.js';
import type { Rig } from '../harness/rig.js';
import type { Site } from '../harness/site.js';
import { EVERYWHERE } from '../harness/tables.js';

interface Size {
  tasks: number;
  agents: number;
  workspaces: number;
  goals?: { idle: Goal; paced: Goal };
}

const SIZES: readonly Size[] = [
  { tasks: 10_000, agents: 100, workspaces: 10 },
  { tasks: 100_000, agents: 1_000, workspaces: 100 },
  {
    tasks: 1_000_000,
    agents: 10_000,
    workspaces: 1_000,
    goals: { idle: { atMost: 80 }, paced: { atMost: 150 } },
  },
];
const CYCLES_EACH = 5;

/** Tasks that change between two paced searches. */
const CHANGES = 1_000;

/** A gateway makes `assign` search for work. */
const SETTINGS = {
  RECONCILE_INTERVAL_SECONDS: '2',
  GATEWAY_URL: 'http://127.0.0.1:1',
  GATEWAY_SECRET: 'of a gateway that nothing is ever sent to',
};

/**
 * Measures an empty cycle as everything grows ten-fold, twice, a cycle with the paced searches after
 * some changes, and one with a search over everything, as on request.
 */
export const growth: Benchmark = {
  name: 'growth',
  what: 'a coordinator cycle over ten and a hundred times as much',
  async run(rig) {
    const figures: Measured[] = [];
    for (const size of SIZES) figures.push(...(await cyclesOver(rig, size)));
    return figures;
  },
};

async function cyclesOver(rig: Rig, size: Size): Promise<Measured[]> {
  const site = await rig.newSite();
  rig.note(`filling in ${size.tasks.toLocaleString('en')} tasks`);
  await fill(site, size);
  const core = await rig.startCore(site, SETTINGS);
  const idleCycle = async (scope: SweepScope): Promise<number> => {
    const { ms, report } = await runCycle(site, core, scope);
    const moved = report.steps.filter((step) => step.moved > 0);
    if (moved.length > 0) throw new Error(`There was something to do: ${JSON.stringify(moved)}`);
    return ms;
  };
  const [idle, paced, thorough]: [number[], number[], number[]] = [[], [], []];
  for (let cycle = 0; cycle <= rig.repeats * CYCLES_EACH; cycle++) {
    await site.owner.query(EVERYWHERE.CHANGE_TASKS, [CHANGES]);
    await sleep(Math.max(1, core.get(Cycle).nextSearchAt() - performance.now()));
    const searching = await idleCycle(ALL);
    const plain = await idleCycle(ALL);
    // The first cycles find cold caches.
    if (cycle === 0) continue;
    paced.push(searching);
    idle.push(plain);
    if (cycle % CYCLES_EACH === 0) thorough.push(await idleCycle({ ...ALL, thorough: true }));
  }
  await core.stop();
  const about = (name: string, goal?: Goal) => ({ name, unit: 'ms', goal });
  return [
    figure(about(`cycle-${size.tasks}-tasks`, size.goals?.idle), idle),
    figure(about(`cycle-paced-${size.tasks}-tasks`, size.goals?.paced), paced),
    figure(about(`cycle-thorough-${size.tasks}-tasks`), thorough),
  ];
}

async function fill(site: Site, { tasks, agents, workspaces }: Size): Promise<void> {
  const { owner } = site;
  await owner.query(EVERYWHERE.ADD_WORKSPACES, [workspaces]);
  await owner.query(EVERYWHERE.ADD_AGENTS, [agents / workspaces]);
  // Six of ten tasks are done, three wait and one is running.
  const perWorkspace = tasks / workspaces;
  await owner.query(EVERYWHERE.ADD_COMPLETED, [perWorkspace * 0.6]);
  await owner.query(EVERYWHERE.ADD_WAITING, [perWorkspace * 0.3]);
  await owner.query(EVERYWHERE.ADD_RUNNING, [perWorkspace * 0.1]);
  await owner.query(EVERYWHERE.COUNT_RUNS);
  await site.settle();
}
