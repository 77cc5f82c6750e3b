import { Cycle } from '../../../libs/coordinator/cycle.js';
import { Leadership } from '../../../libs/coordinator/leadership/leadership.js';
import type { Benchmark } from '../harness/benchmark.js';
import type { Core } from '../harness/core.js';
import { figure } from '../harness/figure.js';
import type { Site } from '../harness/site.js';

const AGENTS = 1_000;
const LOST = 500;
/** Together 100,000. */
const TASKS = { completed: 60_000, waiting: 30_000, running: 10_000 };

/** One cycle over a large fleet, with work to do and without. */
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
    await runCycle(site, core, workspaceId);
    const [recovering, idle]: [number[], number[]] = [[], []];
    for (let repeat = 0; repeat < rig.repeats; repeat++) {
      await site.owner.query(LOSE, [workspaceId, LOST]);
      recovering.push(await runCycle(site, core, workspaceId, LOST));
      idle.push(await runCycle(site, core, workspaceId, 0));
    }
    return [
      figure({ name: 'cycle-500-recoveries', unit: 'ms', goal: { atMost: 2_000 } }, recovering),
      figure({ name: 'cycle-nothing-to-do', unit: 'ms', goal: { atMost: 100 } }, idle),
    ];
  },
};

/** @returns milliseconds. @throws Error when it did not do what there was to do */
async function runCycle(
  site: Site,
  core: Core,
  workspaceId: string,
  expected?: number,
): Promise<number> {
  await site.owner.query(BEAT, [workspaceId]);
  const leadership = core.get(Leadership);
  if (!(await leadership.keep())) throw new Error('Somebody else leads');
  const start = performance.now();
  const report = await core.get(Cycle).run(leadership.fence(), async () => {});
  const elapsed = performance.now() - start;
  const failed = report.steps.find((step) => step.error !== null);
  if (failed) throw new Error(`The step ${failed.step} failed: ${failed.error}`);
  const recovered = report.steps
    .filter(({ step }) => step === 'expire_leases' || step === 'recover_lost_runs')
    .reduce((sum, { moved }) => sum + moved, 0);
  if (expected !== undefined && recovered !== expected) {
    throw new Error(`${recovered} tasks were recovered instead of ${expected}`);
  }
  return elapsed;
}

const ADD_COMPLETED = `
INSERT INTO agent_tasks (workspace_id, id, title, task_type, status, version, ready_at, completed_at)
SELECT $1, uuidv7(), 'A task', 'test', 'COMPLETED', 3, now(), now() FROM generate_series(1, $2::int)`;

// Retried after an hour, so that a task that was recovered is no work for the next cycle.
const ADD_RUNNING = `
WITH task AS (
  INSERT INTO agent_tasks (workspace_id, id, title, task_type, status, version, run_id, agent_id,
    generation, retry_backoff_seconds, ready_at, assigned_at, started_at)
  SELECT $1, uuidv7(), 'A task', 'test', 'RUNNING', 3, uuidv7(), ($3::uuid[])[n % cardinality($3) + 1],
    1, 3600, now(), now(), now()
  FROM generate_series(1, $2::int) AS n
  RETURNING id, run_id, agent_id),
busy AS (
  UPDATE agents a SET live_runs = held.runs
  FROM (SELECT agent_id, count(*) AS runs FROM task GROUP BY 1) held
  WHERE a.workspace_id = $1 AND a.id = held.agent_id)
INSERT INTO task_runs (workspace_id, id, task_id, agent_id, generation, state, version, lease_seconds,
  lease_expires_at, lease_by_heartbeat, started_at)
SELECT $1, run_id, id, agent_id, 1, 'WORKING', 2, 180, now() + interval '1 hour', true, now() FROM task`;

const LOSE = `
UPDATE task_runs SET lease_by_heartbeat = false, lease_expires_at = now() - interval '1 second'
WHERE workspace_id = $1 AND id IN (
  SELECT id FROM task_runs WHERE workspace_id = $1 AND state = 'WORKING' LIMIT $2)`;

const BEAT = `
INSERT INTO agent_heartbeats (workspace_id, agent_id, status)
SELECT workspace_id, id, 'healthy' FROM agents WHERE workspace_id = $1
ON CONFLICT (workspace_id, agent_id) DO UPDATE SET last_seen_at = now()`;
