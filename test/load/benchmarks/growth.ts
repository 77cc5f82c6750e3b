import { Cycle } from '../../../libs/coordinator/cycle.js';
import { Leadership } from '../../../libs/coordinator/leadership/leadership.js';
import { EVERYWHERE, type SweepScope } from '../../../libs/transitions/sweeps.js';
import type { Benchmark } from '../harness/benchmark.js';
import type { Core } from '../harness/core.js';
import { figure, type Measured } from '../harness/figure.js';
import type { Rig } from '../harness/rig.js';
import type { Site } from '../harness/site.js';

const SIZES = [
  { tasks: 10_000, agents: 100, workspaces: 10 },
  { tasks: 100_000, agents: 1_000, workspaces: 100 },
  { tasks: 1_000_000, agents: 10_000, workspaces: 1_000 },
] as const;
const CYCLES_EACH = 5;

/** The paced searches come when they are asked for only. A gateway makes `assign` look for work. */
const SETTINGS = {
  RECONCILE_INTERVAL_SECONDS: '86400',
  GATEWAY_URL: 'http://127.0.0.1:1',
  GATEWAY_SECRET: 'of a gateway that nothing is ever sent to',
};

/** What a cycle with nothing to do costs as everything grows ten-fold, twice; and one with all searches. */
export const growth: Benchmark = {
  name: 'growth',
  what: 'a coordinator cycle over ten and a hundred times as much',
  async run(rig) {
    const figures: Measured[] = [];
    for (const size of SIZES) figures.push(...(await cyclesOver(rig, size)));
    return figures;
  },
};

async function cyclesOver(rig: Rig, size: (typeof SIZES)[number]): Promise<Measured[]> {
  const site = await rig.newSite();
  rig.note(`filling in ${size.tasks.toLocaleString('en')} tasks`);
  await fill(site, size);
  const core = await rig.startCore(site, SETTINGS);
  const [plain, thorough]: [number[], number[]] = [[], []];
  for (let cycle = 0; cycle <= rig.repeats * CYCLES_EACH; cycle++) {
    const idle = await runCycle(site, core, EVERYWHERE);
    const searching = await runCycle(site, core, { ...EVERYWHERE, thorough: true });
    // The first ones find cold caches.
    if (cycle === 0) continue;
    plain.push(idle);
    thorough.push(searching);
  }
  await core.stop();
  return [
    figure({ name: `cycle-${size.tasks}-tasks`, unit: 'ms' }, plain),
    figure({ name: `cycle-thorough-${size.tasks}-tasks`, unit: 'ms' }, thorough),
  ];
}

/** @returns milliseconds. @throws Error when there was something to do */
async function runCycle(site: Site, core: Core, scope: SweepScope): Promise<number> {
  await site.owner.query(BEAT);
  const leadership = core.get(Leadership);
  if (!(await leadership.keep())) throw new Error('Somebody else leads');
  const start = performance.now();
  const report = await core.get(Cycle).run(leadership.fence(), async () => {}, scope);
  const elapsed = performance.now() - start;
  const moved = report.steps.filter((step) => step.moved > 0 || step.error !== null);
  if (moved.length > 0) throw new Error(`There was something to do: ${JSON.stringify(moved)}`);
  return elapsed;
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

// One of ten is a push agent.
const ADD_AGENTS = `
INSERT INTO agents (workspace_id, id, name, lifecycle, max_concurrent_tasks, mode, command)
SELECT w.id, uuidv7(), 'agent', 'ACTIVE', 1000, CASE n % 10 WHEN 0 THEN 'push' ELSE 'pull' END,
  CASE n % 10 WHEN 0 THEN ARRAY['true'] ELSE '{}' END
FROM workspaces w, generate_series(1, $1::int) AS n`;

const ADD_DONE = `
INSERT INTO agent_tasks (workspace_id, id, title, task_type, status, version, ready_at, completed_at)
SELECT w.id, uuidv7(), 'A task', 'test', 'COMPLETED', 3, now(), now()
FROM workspaces w, generate_series(1, $1::int)`;

// For what no agent can do, so that none of it is assigned. Of ten, four are a chain.
const ADD_WAITING = `
WITH capable AS (
  INSERT INTO capability_sets (workspace_id, key, capabilities) SELECT id, 'rare', '{rare}' FROM workspaces),
given AS MATERIALIZED (
  SELECT w.id AS workspace_id, uuidv7() AS id, n % 10 IN (2, 3, 4) AS waits, n % 10 IN (1, 2, 3) AS awaited, n
  FROM workspaces w, generate_series(1, $1::int) AS n),
task AS (
  INSERT INTO agent_tasks (workspace_id, id, title, task_type, required_capabilities, capability_key,
    ready_at, unmet_dependencies, has_dependents)
  SELECT workspace_id, id, 'A task', 'test', '{rare}', 'rare', CASE WHEN NOT waits THEN now() END, waits::int, awaited
  FROM given)
INSERT INTO task_dependencies (workspace_id, task_id, depends_on_id)
SELECT workspace_id, id, previous
FROM (SELECT *, lag(id) OVER (PARTITION BY workspace_id ORDER BY n) AS previous FROM given)
WHERE waits`;

const ADD_RUNNING = `
WITH task AS (
  INSERT INTO agent_tasks (workspace_id, id, title, task_type, status, version, run_id, agent_id,
    generation, ready_at, assigned_at, started_at)
  SELECT a.workspace_id, uuidv7(), 'A task', 'test', 'RUNNING', 3, uuidv7(), a.id, 1, now(), now(), now()
  FROM (SELECT workspace_id, array_agg(id) AS ids, count(*)::int AS agents
    FROM agents WHERE mode = 'pull' GROUP BY 1) w
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
INSERT INTO agent_heartbeats (workspace_id, agent_id, status, current_task_id)
SELECT a.workspace_id, a.id, 'healthy', (SELECT task_id FROM task_runs r
  WHERE r.workspace_id = a.workspace_id AND r.agent_id = a.id AND r.state = 'WORKING' LIMIT 1)
FROM agents a WHERE a.mode = 'pull'
ON CONFLICT (workspace_id, agent_id) DO UPDATE SET last_seen_at = now()`;
