import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Sql } from '#lib/database';
import { newId } from '#lib/kernel';
import { startTestApp, type TestApp, type TestWorkspace } from '../../../../test/support/app.js';
import { SET_TENANT_PINNED } from '../../../platform/database/client/tenant-query.js';
import { claimOf } from './claim-tasks.sql.js';
import { completeRuns } from '../reports/complete-runs.sql.js';
import { lockReadyTasks } from '../assignment/lock-ready-tasks.sql.js';
import { startRun } from '../reports/start-run.sql.js';

/** With fewer tasks, a full sort is the right plan. */
const WAITING = 20_000;

let server: TestApp;
let workspace: TestWorkspace;

beforeAll(async () => {
  server = await startTestApp({ ROLES: 'api' });
  workspace = await server.newWorkspace();
  const tasks = Array.from({ length: 1_000 }, () => ({ title: 'T', taskType: 'one' }));
  for (let count = 0; count < WAITING; count += tasks.length) {
    expect((await workspace.api.post('/agent-tasks/batch', { tasks })).status).toBe(201);
  }
  await server.db.owner.query('VACUUM ANALYZE agent_tasks');
}, 150_000);

afterAll(() => server.stop());

async function planOf({ text, pinned }: Sql, values: string, mode: string): Promise<string> {
  const client = await server.db.owner.connect();
  try {
    await client.query('BEGIN');
    if (pinned) await client.query(SET_TENANT_PINNED.text, [workspace.id]);
    await client.query(`SET plan_cache_mode = ${mode}`);
    await client.query(`PREPARE planned AS ${text}`);
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(
      `EXPLAIN (COSTS OFF) EXECUTE planned (${values})`,
    );
    return rows.map((row) => row['QUERY PLAN']).join('\n');
  } finally {
    client.release(true);
  }
}

const claim = () => `'${workspace.id}', '{${newId()}}', '{50}', '{60}', 60, false`;

const assignment = () => {
  const seeker = [{ workspace_id: workspace.id, capabilities: [], want: 50 }];
  return `'${JSON.stringify(seeker)}'`;
};

describe.each([
  ['a claim of one agent', claimOf(1, 1, false)[0], claim],
  ['a claim of several agents', claimOf(2, 2, false)[0], claim],
  ['a claim of many tasks', claimOf(1, 50, false)[0], claim],
  ['a claim with budgets', claimOf(1, 1, false)[1], claim],
  ['a claim of many tasks with budgets', claimOf(1, 50, false)[1], claim],
  ['an assignment to push agents', lockReadyTasks, assignment],
])('%s', (_, statement, valuesOf) => {
  it.each(['force_custom_plan', 'force_generic_plan'])(
    'a long queue of one type is read from its head (%s)',
    async (mode) => {
      const plan = await planOf(statement, valuesOf(), mode);
      expect(plan).toContain('using agent_tasks_queue_idx');
      expect(plan).not.toContain('Seq Scan on agent_tasks');
    },
  );
});

const report = () => {
  const done = { run_id: newId(), agent_id: newId(), actor_kind: 'agent', output_result: null };
  return `'${workspace.id}', '${JSON.stringify([done, { ...done, run_id: newId() }])}'`;
};

const beginning = () => `'${workspace.id}', '${newId()}', '${newId()}', 'agent', NULL, NULL, NULL`;

describe.each([
  ['a completion', completeRuns, report],
  ['a start', startRun, beginning],
])('%s', (_, statement, valuesOf) => {
  it.each(['force_custom_plan', 'force_generic_plan'])(
    'tasks are found by their keys, not among formerly live ones (%s)',
    async (mode) => {
      const plan = await planOf(statement, valuesOf(), mode);
      expect(plan).toContain('using agent_tasks_pkey');
      expect(plan).not.toContain('agent_tasks_status_idx');
      expect(plan).not.toContain('Seq Scan on agent_tasks');
    },
  );
});
