import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { newId } from '#lib/kernel';
import { startTestApp, type TestApp } from '../../../../test/support/app.js';
import { Pass } from '../cycle/pass.js';
import type { Reconciler } from '../cycle/reconciler.js';
import { type Held, Scene } from '../testing/scene.js';
import { RECONCILERS, type StepName } from './index.js';

/** The tokens that a run holds of a budget return when the run ends, whatever ends it. */

const ESTIMATE = '8970';

let server: TestApp;
let scene: Scene;

beforeAll(async () => {
  server = await startTestApp({ ROLES: 'api' });
});
afterAll(() => server.stop());

beforeEach(async () => {
  scene = await Scene.of(server);
  const period = { periodStart: '2020-01-01T00:00:00Z', periodEnd: '2120-01-01T00:00:00Z' };
  const limits = { scope: 'global', allocated: 20_000, policy: 'abort', ...period };
  expect((await scene.workspace.api.post('/budgets', limits)).status).toBe(201);
});

async function reserved(): Promise<unknown> {
  const sql = 'SELECT reserved FROM usage_budgets WHERE workspace_id = $1';
  return (await scene.sql(sql, scene.id)).rows[0]?.['reserved'];
}

async function expectGivenBack({ runId }: Held): Promise<void> {
  const sql = 'SELECT ended_at IS NOT NULL AS ended, held_tokens FROM task_runs WHERE id = $1';
  expect((await scene.sql(sql, runId)).rows).toEqual([{ ended: true, held_tokens: '0' }]);
  expect(await reserved()).toBe('0');
}

type Damage = (held: Held) => Promise<unknown>;

/** Damages a run, its task or its agent. */
function damage(table: string, changes: string): Damage {
  return ({ id, runId, agent }) =>
    scene.sql(`UPDATE ${table} SET ${changes} WHERE id = ANY ($1::uuid[])`, [id, runId, agent.id]);
}

/** The damage that makes the step end a live run; null: the step ends none. */
const STEPS: Record<StepName, Damage | null> = {
  expire_leases: damage('task_runs', `lease_expires_at = now() - interval '1 second'`),
  reap_stale_agents: null,
  recover_lost_runs: damage('agents', `lifecycle = 'ERROR', error_at = now()`),
  close_workspaces: () =>
    scene.sql('UPDATE workspaces SET archived_at = now() WHERE id = $1', scene.id),
  end_paused_runs: () =>
    scene.sql(
      `INSERT INTO pauses (workspace_id, id, reason, paused_by, ends_runs)
       SELECT workspace_id, uuidv7(), 'why', user_id, true FROM workspace_members WHERE workspace_id = $1 LIMIT 1`,
      scene.id,
    ),
  watch_liveness: null,
  recover_orphans: damage('agent_tasks', `run_id = '${newId()}'`),
  // Not this step itself: it releases the tokens that the run's end left behind.
  reconcile_states: damage('task_runs', `state = 'FAILED', ended_at = now(), end_reason = 'old'`),
  promote_retries: null,
  expire_questions: null,
  start_schedules: null,
  remind_reviews: null,
  start_delayed: null,
  review_by_agents: null,
  fail_cycles: null,
  settle_dependents: null,
  grant_slots: null,
  time_out_runs: damage('task_runs', `deadline_at = now() - interval '61 seconds'`),
  warn_hung: null,
  time_out_hung: damage('task_runs', `hung_warned_at = now() - interval '1 hour'`),
  detect_split_brain: null,
  expire_queued: null,
  terminate_drained: null,
  end_budget_periods: null,
  enforce_budgets: () =>
    scene.sql('UPDATE usage_budgets SET allocated = 0 WHERE workspace_id = $1', scene.id),
  heed_provider_limits: ({ runId, agent }) =>
    scene.sql(
      `WITH limited AS (UPDATE task_runs SET model = 'a model' WHERE id = $2)
       INSERT INTO provider_limits (workspace_id, id, provider, covers, kind, until, over_at,
         run_id, agent_id)
       SELECT $1, $4, 'somebody', '^a model$', 'rate_limited', u, u, $2, $3
       FROM (SELECT now() + interval '1 day') AS t (u)`,
      scene.id,
      runId,
      agent.id,
      newId(),
    ),
  clear_pauses: null,
  tell_budget_alerts: null,
  throttle_workspaces: null,
  assign: null,
};

const ENDING = Object.entries(STEPS).flatMap(([step, damage]) =>
  damage ? [{ step, damage }] : [],
);

/** In these steps the agent itself ends a run that was started. */
const ENDING_UNSTARTED: readonly string[] = ['heed_provider_limits'] satisfies StepName[];

it.each(ENDING)('a run that $step ends returns its hold', async ({ step, damage }) => {
  const held = await scene.held({}, { start: !ENDING_UNSTARTED.includes(step) });
  expect(await reserved()).toBe(ESTIMATE);
  await damage(held);
  const pattern = RECONCILERS.find(({ facts }) => facts.name === step);
  if (!pattern) throw new Error('there is no such step');
  const scope = { workspaceId: scene.id, thorough: true };
  const pass = new Pass(server.db.database, () => Promise.resolve(), 1_000, scope);
  await server.app.get<Reconciler>(pattern, { strict: false }).sweep(pass);
  await expectGivenBack(held);
});

const PASSED = { error: { message: 'on purpose', class: 'exit_code' } };
const byAgent =
  (path: string, body = {}): Damage =>
  ({ agent, runId }) =>
    agent.api.post(path.replace(':run', runId).replace(':agent', agent.id), body);
const byUser =
  (path: string, body = {}): Damage =>
  ({ agent, id }) =>
    scene.workspace.api.post(path.replace(':task', id).replace(':agent', agent.id), body);

const REQUESTS: Record<string, Damage[]> = {
  completed: [byAgent('/runs/:run/complete')],
  failed: [byAgent('/runs/:run/fail', PASSED)],
  released: [byAgent('/runs/:run/release')],
  'released when its task is paused': [
    byUser('/agent-tasks/:task/pause'),
    byAgent('/runs/:run/release'),
  ],
  'released after its deadline': [
    damage('task_runs', `deadline_at = now() - interval '61 seconds'`),
    byAgent('/runs/:run/release'),
  ],
  'deregistered with its agent': [byAgent('/agents/:agent/deregister')],
  'completed by an agent that drains': [
    byUser('/agents/:agent/terminate', { graceful: true }),
    byAgent('/runs/:run/complete'),
  ],
  'terminated with its agent': [byUser('/agents/:agent/terminate', { graceful: false })],
  'cancelled with its task': [byUser('/agent-tasks/:task/cancel')],
  'cancelled when its task is paused': [
    byUser('/agent-tasks/:task/pause'),
    byUser('/agent-tasks/:task/cancel'),
  ],
  'cancelled with what its task depends on': [
    byUser('/agent-tasks/:task/cancel', { cascade: true }),
  ],
  'cancelled with many others': [
    ({ id }) => scene.workspace.api.post('/agent-tasks/bulk/cancel', { ids: [id] }),
  ],
};

it.each(Object.entries(REQUESTS))('a run that is %s returns its hold', async (_, requests) => {
  const held = await scene.held();
  expect(await reserved()).toBe(ESTIMATE);
  for (const request of requests) await request(held);
  await expectGivenBack(held);
});
