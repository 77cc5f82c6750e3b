import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApp, type TestApp, type TestWorkspace } from '../../../../test/support/app.js';
import { SET_TENANT_PINNED } from '../../../platform/database/client/tenant-query.js';
import { claimOf } from './claim-tasks.sql.js';

const AGENTS = 6;
const TASKS_OF_EACH = 50;
const TASKS = AGENTS * TASKS_OF_EACH;
/** For a short queue, a full read is the right plan. */
const WAITING = 5_000;

let server: TestApp;
let workspace: TestWorkspace;
let agentIds: string[];

beforeAll(async () => {
  server = await startTestApp({ ROLES: 'api' });
  workspace = await server.newWorkspace();
  const tasks = Array.from({ length: 1_000 }, () => ({ title: 'T', taskType: 'one' }));
  for (let count = 0; count < WAITING; count += tasks.length) {
    expect((await workspace.api.post('/agent-tasks/batch', { tasks })).status).toBe(201);
  }
  const agents = Array.from({ length: AGENTS }, () =>
    workspace.newAgent({ maxConcurrentTasks: TASKS_OF_EACH }),
  );
  agentIds = (await Promise.all(agents)).map(({ id }) => id);
  const add = `INSERT INTO usage_budgets (workspace_id, id, task_id, allocated, period_start,
    period_end)
    SELECT $1, uuidv7(), task_id, 1000000000, now() - interval '1 day', now() + interval '1 day'`;
  await server.db.owner.query(`${add} FROM (SELECT NULL::uuid AS task_id) t`, [workspace.id]);
  await server.db.owner.query(
    `${add} FROM (SELECT id AS task_id FROM agent_tasks WHERE workspace_id = $1) t`,
    [workspace.id],
  );
  await server.db.owner.query('VACUUM ANALYZE agent_tasks, usage_budgets');
}, 150_000);

afterAll(() => server.stop());

interface PlanNode {
  Plans?: PlanNode[];
  'Actual Loops': number;
  'Rows Removed by Join Filter'?: number;
}

/** Pairs of rows that joins compared and discarded. */
function comparedInVain({ Plans = [], ...node }: PlanNode): number {
  const here = (node['Rows Removed by Join Filter'] ?? 0) * node['Actual Loops'];
  return Plans.reduce((sum, plan) => sum + comparedInVain(plan), here);
}

describe('a claim with many budgets of tasks and of the workspace', () => {
  it('a claim compares no task with every other task, nor with their budgets', async () => {
    const { text } = claimOf(AGENTS, TASKS, false)[1];
    const client = await server.db.owner.connect();
    try {
      await client.query('BEGIN');
      await client.query(SET_TENANT_PINNED.text, [workspace.id]);
      await client.query(`PREPARE planned AS ${text}`);
      const each = (value: unknown) => `'{${agentIds.map(() => value).join(',')}}'`;
      const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
        `EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE planned
          ('${workspace.id}', '{${agentIds.join(',')}}', ${each(TASKS_OF_EACH)}, ${each(60)}, 60, false)`,
      );
      const taken = await client.query<{ count: number }>(
        'SELECT count(*)::int FROM task_runs WHERE workspace_id = $1 AND cardinality(budget_ids) = 2',
        [workspace.id],
      );
      expect(taken.rows[0]?.count).toBe(TASKS);
      const [plan] = rows[0]?.['QUERY PLAN'] ?? [];
      expect(plan && comparedInVain(plan.Plan)).toBeLessThan(TASKS * AGENTS * 4);
    } finally {
      client.release(true);
    }
  });
});
