import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { USED_BUDGET } from '../../../../test/support/holds.js';
import { sharedServer, type TestServer } from '../../../../test/support/shared-server.js';
import { aTask } from '../../../../test/support/task-factories.js';
import { waitFor } from '../../../../test/support/wait-for.js';
import { claimOf } from './claim-tasks.sql.js';

let server: TestServer;
let workspaceId: string;

beforeAll(async () => {
  server = await sharedServer();
});
beforeEach(async () => {
  workspaceId = (await server.newWorkspace()).id;
});
afterAll(() => server.stop());

async function isMarked(): Promise<boolean | undefined> {
  const { rows } = await server.db.owner.query<{ may_hold_tasks: boolean }>(
    'SELECT may_hold_tasks FROM workspaces WHERE id = $1',
    [workspaceId],
  );
  return rows[0]?.may_hold_tasks;
}

const run = (sql: string) => server.db.owner.query(sql, [workspaceId]);

const PAUSE = `INSERT INTO pauses (workspace_id, id, task_type, reason, paused_by)
  SELECT $1, uuidv7(), 'test', 'A test', id FROM users LIMIT 1`;
const BUDGET_GONE = 'DELETE FROM usage_budgets WHERE workspace_id = $1';
const PAUSE_ENDED = 'UPDATE pauses SET ended_at = now() WHERE workspace_id = $1';
const LIMIT = `INSERT INTO provider_limits
    (workspace_id, id, provider, covers, kind, until, over_at, run_id, agent_id)
  SELECT $1, uuidv7(), 'anthropic', '^claude-', 'quota_exhausted', u, u, uuidv7(), uuidv7()
  FROM (SELECT now() + interval '1 hour') AS t (u)`;

describe('the mark of a workspace', () => {
  it.each([
    ['a pause', PAUSE, PAUSE_ENDED],
    ['a budget', USED_BUDGET, BUDGET_GONE],
    ['a provider limit', LIMIT, 'DELETE FROM provider_limits WHERE workspace_id = $1'],
  ])('comes and goes with %s', async (_, begin, end) => {
    expect(await isMarked()).toBe(false);
    await run(begin);
    expect(await isMarked()).toBe(true);
    await run(end);
    expect(await isMarked()).toBe(false);
  });

  it('stays while another hold does', async () => {
    await run(PAUSE);
    await run(LIMIT);
    await run(PAUSE_ENDED);
    expect(await isMarked()).toBe(true);
  });

  it.each([
    ['its last pause ends', PAUSE_ENDED, USED_BUDGET],
    ['its first budget begins', USED_BUDGET, PAUSE_ENDED],
  ])('is right if another transaction changes a hold while %s', async (_, first, second) => {
    await run(PAUSE);
    const client = await server.db.owner.connect();
    try {
      await client.query('BEGIN');
      await client.query(first, [workspaceId]);
      const other = run(second);
      await waitFor('the other transaction to wait', async () => {
        const { rowCount } = await server.db.owner.query(
          `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`,
        );
        return rowCount === 1;
      });
      await client.query('COMMIT');
      await other;
    } finally {
      client.release();
    }
    expect(await isMarked()).toBe(true);
  });
});

describe('a claim', () => {
  it('asks only the mark for holds', async () => {
    for (const [agents, tasks] of [
      [1, 1],
      [2, 2],
      [1, 50],
    ] as const) {
      const { text } = claimOf(agents, tasks, false)[0];
      expect(text).toContain('may_hold_tasks');
      expect(text).not.toMatch(/FROM (pauses|workspace_throttles|usage_budgets|provider_limits)/);
    }
  });

  it('gives tasks again after the last hold, and none of a held type before', async () => {
    const workspace = await server.newWorkspace();
    workspaceId = workspace.id;
    const agent = await workspace.newAgent({ maxConcurrentTasks: 9 });
    const claim = async () => {
      const { body } = await agent.api.post<{ tasks: { task: { id: string } }[]; reason?: string }>(
        `/agents/${agent.id}/claim`,
        {},
      );
      return body.tasks.map(({ task }) => task.id);
    };
    await run(PAUSE);
    const held = await aTask(server.db.owner, workspaceId, { taskType: 'test' });
    const free = await aTask(server.db.owner, workspaceId, { taskType: 'other' });
    expect(await claim()).toEqual([free]);
    expect(await claim()).toEqual([]);
    await run(PAUSE_ENDED);
    expect(await claim()).toEqual([held]);
    const next = await aTask(server.db.owner, workspaceId, { taskType: 'test' });
    expect(await claim()).toEqual([next]);
  });
});
