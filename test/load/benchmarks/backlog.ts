import type { Benchmark } from '../harness/benchmark.js';
import type { Core } from '../harness/core.js';
import { figure } from '../harness/figure.js';
import type { Agent, Site } from '../harness/site.js';

const LEVELS = [1_000, 100_000, 500_000] as const;
const CONCURRENCY = 10;
const BATCH = 10;
/** A turn takes a part of the backlog, and its tasks are replaced before the next turn. */
const PER_TURN = 500;
const TURNS = 8;

interface Backlog {
  waiting: number;
  workspaceId: string;
  agents: Agent[];
  rates: number[];
}

/** Measures the speed of claims with a short and a long queue. */
export const backlog: Benchmark = {
  name: 'backlog',
  what: `claim rate with ${LEVELS.map((level) => level.toLocaleString('en')).join(', ')} tasks waiting`,
  async run(rig) {
    const site = await rig.newSite();
    const core = await rig.startCore(site);
    const backlogs: Backlog[] = [];
    for (const waiting of LEVELS) {
      const workspaceId = await site.newWorkspace();
      const agents = await site.newAgents(workspaceId, CONCURRENCY, 1_000_000);
      rig.note(`filling in ${waiting} tasks`);
      await site.addWaitingTasks(workspaceId, waiting);
      backlogs.push({ waiting, workspaceId, agents, rates: [] });
    }
    await site.settle();
    for (const each of backlogs) await claimRate(site, core, each);
    for (let repeat = 0; repeat < rig.repeats; repeat++) {
      for (const each of backlogs) each.rates.push(await claimRate(site, core, each));
    }
    const [first, ...others] = backlogs as [Backlog, ...Backlog[]];
    return [
      figure({ name: `claim-${first.waiting}-waiting`, unit: 'tasks/s' }, first.rates),
      ...others.map(({ waiting, rates }) => {
        const goal = waiting === LEVELS.at(-1) ? { goal: { ratioAtLeast: 0.95 } } : {};
        const about = { name: `claim-${waiting}-waiting`, unit: 'tasks/s', ...goal };
        return figure(about, rates, first.rates);
      }),
    ];
  },
};

async function claimRate(
  site: Site,
  core: Core,
  { workspaceId, agents }: Backlog,
): Promise<number> {
  let elapsed = 0;
  for (let turn = 0; turn < TURNS; turn++) {
    const start = performance.now();
    await Promise.all(agents.map(({ id }) => claimShare(core, workspaceId, id)));
    elapsed += performance.now() - start;
    await site.addWaitingTasks(workspaceId, PER_TURN);
  }
  return (TURNS * PER_TURN) / (elapsed / 1000);
}

async function claimShare(core: Core, workspaceId: string, agentId: string): Promise<void> {
  for (let left = PER_TURN / CONCURRENCY; left > 0;) {
    const claimed = await core.claim(workspaceId, agentId, BATCH);
    if (claimed.length === 0) throw new Error('The backlog ran out');
    left -= claimed.length;
  }
}
