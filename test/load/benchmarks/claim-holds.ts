import type { Benchmark } from '../harness/benchmark.js';
import { Client } from '../harness/client.js';
import { figure, type Measured } from '../harness/figure.js';
import { inTurns } from '../harness/in-turns.js';
import { claimAndComplete, type Spent } from '../harness/life.js';
import type { Rig } from '../harness/rig.js';
import type { Agent, Site } from '../harness/site.js';

const MOST_CLAIMERS = 64;
const DAY_MS = 86_400_000;

/** The turns are short and many, because other load on the machine changes within seconds. */
const TURNS_A_REPEAT = 3;

interface Shape {
  batch: number;
  claimers: number;
  /** The rounds of each claimer in a turn. */
  rounds: number;
}

const SHAPES: readonly Shape[] = [
  { batch: 1, claimers: 1, rounds: 20 },
  { batch: 1, claimers: 16, rounds: 8 },
  { batch: 1, claimers: MOST_CLAIMERS, rounds: 4 },
  { batch: 50, claimers: 1, rounds: 8 },
  { batch: 50, claimers: 16, rounds: 2 },
  { batch: 50, claimers: MOST_CLAIMERS, rounds: 1 },
];

/**
 * Measures the cost of a workspace-wide budget for each claim and each completion, on a server as
 * users have it.
 */
export const claimHolds: Benchmark = {
  name: 'claim-holds',
  what: 'claims and completions over HTTP, with a budget of the whole workspace and without one',
  async run(rig) {
    const site = await rig.newSite({ durable: true });
    const server = await rig.startServer(site);
    const client = new Client(server.url, MOST_CLAIMERS);
    const figures: Measured[] = [];
    for (const shape of SHAPES) figures.push(...(await measure(rig, site, client, shape)));
    await client.close();
    await server.stop();
    return figures;
  },
};

async function measure(
  rig: Rig,
  site: Site,
  client: Client,
  { batch, claimers, rounds }: Shape,
): Promise<Measured[]> {
  const turns = rig.repeats * TURNS_A_REPEAT;
  const tasks = batch * claimers * rounds * (turns + 1);
  const [value, floor] = [
    await site.newQueue(tasks, claimers),
    await site.newQueue(tasks, claimers),
  ];
  await addBudget(site, client, value.workspaceId);
  await rig.relayed();
  const by =
    ({ agents }: { agents: Agent[] }) =>
    () =>
      claimAndComplete(client, agents, { maxTasks: batch, rounds });
  const ways = { value: by(value), floor: by(floor) };
  await inTurns(1, ways);
  const times = await inTurns(turns, ways);
  return (['claim', 'complete'] as const).map((what) => {
    const name = `${what}-holds-${batch}-by-${claimers}`;
    const goal = what === 'claim' ? { ratioAtMost: 1.3 } : undefined;
    const of = (each: Spent): number => each[what];
    return figure({ name, unit: 'ms', goal }, times.value.map(of), times.floor.map(of));
  });
}

/** Creates a budget as the owner of the workspace, larger than the holds of all tasks. */
async function addBudget(site: Site, client: Client, workspaceId: string): Promise<void> {
  const { token } = await site.newMember(workspaceId);
  await client.post('/api/v1/budgets', token, {
    scope: 'global',
    allocated: '1000000000000',
    periodStart: new Date(Date.now() - DAY_MS),
    periodEnd: new Date(Date.now() + DAY_MS),
  });
}
