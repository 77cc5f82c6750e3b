import { Cycle } from '../../../libs/coordinator/cycle.js';
import { Leadership } from '../../../libs/coordinator/leadership/leadership.js';
import type { Benchmark } from '../harness/benchmark.js';
import { figure, type Measured } from '../harness/figure.js';
import type { Rig } from '../harness/rig.js';
import type { Site } from '../harness/site.js';

const SIZES = [
  { tasks: 10_000, agents: 100, workspaces: 10 },
  { tasks: 100_000, agents: 1_000, workspaces: 100 },
  { tasks: 1_000_000, agents: 10_000, workspaces: 1_000 },
] as const;
const CYCLES_EACH = 5;

/** What a cycle with nothing to do costs as everything grows ten-fold, twice. */
export const growth: Benchmark = {
  name: 'growth',
  what: 'a coordinator cycle over ten and a hundred times as much',
  async run(rig) {
    const figures: Measured[] = [];
    for (const size of SIZES) figures.push(await cycleOver(rig, size));
    return figures;
  },
};

async function cycleOver(rig: Rig, size: (typeof SIZES)[number]): Promise<Measured> {
  const site = await rig.newSite();
  rig.note(`filling in ${size.tasks.toLocaleString('en')} tasks`);
  await fill(site, size);
  const core = await rig.startCore(site);
  const leadership = core.get(Leadership);
  const times: number[] = [];
  // The first one finds cold caches.
  for (let cycle = 0; cycle <= rig.repeats * CYCLES_EACH; cycle++) {
    await site.owner.query(BEAT);
    if (!(await leadership.keep())) throw new Error('Somebody else leads');
    const start = performance.now();
    const report = await core.get(Cycle).run(leadership.fence(), async () => {});
    if (cycle > 0) times.push(performance.now() - start);
    const moved = report.steps.filter((step) => step.moved > 0 || step.error !== null);
    if (moved.length > 0) throw new Error(`There was something to do: ${JSON.stringify(moved)}`);
  }
  await core.stop();
  return figure({ name: `cycle-${size.tasks}-tasks`, unit: 'ms' }, times);
}

async function fill(site: Site, { tasks, agents, workspaces }: (typeof SIZES)[number]) {
  await site.owner.query(ADD_WORKSPACES, [workspaces]);
  await site.owner.query(ADD_AGENTS, [agents / workspaces]);
  // Of ten tasks six are done, three wait and one is running.
  const perWorkspace = tasks / workspaces;
  await site.owner.query(ADD_DONE, [perWorkspace * 0.6]);
  await site.owner.query(ADD_WAITING, [perWorkspace * 0.3]);
  await site.owner.query(ADD_RUNNING, [perWorkspace * 0.1]);
  await site.owner.query(COUNT_RUNS);
  await site.settle();
}

const ADD_WORKSPACES = `
INSERT INTO workspaces (id, name, slug)
SELECT uuidv7(), 'Benchmarks', 'growth-' || n FROM generate_series(1, $1::int) AS n`;

const ADD_AGENTS = `
INSERT INTO agents (workspace_id, id, name, lifecycle, max_concurrent_tasks)
SELECT w.id, uuidv7(), 'agent', 'ACTIVE', 1000 FROM workspaces w, generate_series(1, $1::int)`;

const ADD_DONE = `
INSERT INTO agent_tasks (workspace_id, id, title, task_type, status, version, ready_at, completed_at)
SELECT w.id, uuidv7(), 'A task', 'test', 'COMPLETED', 3, now(), now()
FROM workspaces w, generate_series(1, $1::int)`;

const ADD_WAITING = `
WITH capable AS (
  INSERT INTO capability_sets (workspace_id, key, capabilities) SELECT id, '', '{}' FROM workspaces)
INSERT INTO agent_tasks (workspace_id, id, title, task_type, ready_at)
SELECT w.id, uuidv7(), 'A task', 'test', now() FROM workspaces w, generate_series(1, $1::int)`;

const ADD_RUNNING = `
WITH task AS (
  INSERT INTO agent_tasks (workspace_id, id, title, task_type, status, version, run_id, agent_id,
    generation, ready_at, assigned_at, started_at)
  SELECT a.workspace_id, uuidv7(), 'A task', 'test', 'RUNNING', 3, uuidv7(), a.id, 1, now(), now(), now()
  FROM (SELECT workspace_id, array_agg(id) AS ids, count(*)::int AS agents FROM agents GROUP BY 1) w
  CROSS JOIN generate_series(1, $1::int) AS n
  CROSS JOIN LATERAL (SELECT w.workspace_id, w.ids[n % w.agents + 1] AS id) a
  RETURNING workspace_id, id, run_id, agent_id)
INSERT INTO task_runs (workspace_id, id, task_id, agent_id, generation, state, version, lease_seconds,
  lease_expires_at, lease_by_heartbeat, started_at)
SELECT workspace_id, run_id, id, agent_id, 1, 'WORKING', 2, 180, now() + interval '1 hour', true, now()
FROM task`;

const COUNT_RUNS = `
UPDATE agents a SET live_runs = held.runs
FROM (SELECT workspace_id, agent_id, count(*) AS runs FROM task_runs GROUP BY 1, 2) held
WHERE a.workspace_id = held.workspace_id AND a.id = held.agent_id`;

const BEAT = `
INSERT INTO agent_heartbeats (workspace_id, agent_id, status)
SELECT workspace_id, id, 'healthy' FROM agents
ON CONFLICT (workspace_id, agent_id) DO UPDATE SET last_seen_at = now()`;
