import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { apiClient, type ApiClient } from '../../../../test/support/api-client.js';
import {
  sharedServer,
  type TestServer,
  type TestWorkspace,
} from '../../../../test/support/shared-server.js';
import { aTask } from '../../../../test/support/task-factories.js';
import { claimOf } from '../store/claim-tasks.sql.js';

interface Claimed {
  run: { id: string };
  task: { id: string };
}

interface Agent {
  id: string;
  api: ApiClient;
  held: Claimed;
}

let server: TestServer;
let workspace: TestWorkspace;

beforeAll(async () => {
  server = await sharedServer();
});
beforeEach(async () => {
  workspace = await server.newWorkspace();
});
afterAll(() => server.stop());

/** An agent that holds one task and can hold no other. */
async function aBusyAgent(): Promise<Agent> {
  await aTask(server.db.owner, workspace.id);
  const { id, token } = await workspace.newAgent({ maxConcurrentTasks: 1 });
  const api = apiClient(server.url, { authorization: `Bearer ${token}` });
  const { body } = await api.post<{ tasks: [Claimed] }>(`/agents/${id}/claim`, {});
  return { id, api, held: body.tasks[0] };
}

const completeAndClaim = ({ api, held }: Agent, result: object = {}) =>
  api.post<{ status: string; claimed: Claimed[] }>(`/runs/${held.run.id}/complete`, {
    ...result,
    claimNext: {},
  });

interface Run {
  state: string;
  assigned_at: Date;
  ended_at: Date | null;
}

async function runOf(id: string | undefined): Promise<Run | undefined> {
  const { rows } = await server.db.owner.query<Run>(
    'SELECT state, assigned_at, ended_at FROM task_runs WHERE id = $1',
    [id],
  );
  return rows[0];
}

async function liveRunsOf({ id }: Agent): Promise<number> {
  const { rows } = await server.db.owner.query<{ live_runs: number }>(
    'SELECT live_runs FROM agents WHERE id = $1',
    [id],
  );
  return rows[0]?.live_runs ?? -1;
}

describe('a completion with a claim', () => {
  it('completes the run and claims the next in one transaction', async () => {
    const agent = await aBusyAgent();
    const next = await aTask(server.db.owner, workspace.id);
    const { status, body } = await completeAndClaim(agent, { outputResult: { n: 1 } });
    expect([status, body.status]).toEqual([200, 'COMPLETED']);
    expect(body.claimed.map(({ task }) => task.id)).toEqual([next]);
    const [ended, begun] = [await runOf(agent.held.run.id), await runOf(body.claimed[0]?.run.id)];
    expect(ended?.state).toBe('COMPLETED');
    // Both have the time of the start of their transaction.
    expect(begun?.assigned_at).toEqual(ended?.ended_at);
    expect(await liveRunsOf(agent)).toBe(1);
  });

  it('claims nothing if it is refused, and does not affect others', async () => {
    const agents = [await aBusyAgent(), await aBusyAgent(), await aBusyAgent()] as const;
    const [first, stale, last] = agents;
    const cancel = `/agent-tasks/${stale.held.task.id}/cancel`;
    expect((await workspace.api.post(cancel, {})).status).toBe(200);
    for (let i = 0; i < 3; i++) await aTask(server.db.owner, workspace.id);
    const answers = await Promise.all(agents.map((agent) => completeAndClaim(agent)));
    expect(answers.map(({ status }) => status)).toEqual([200, 409, 200]);
    expect(answers.map(({ body }) => body.claimed?.length)).toEqual([1, undefined, 1]);
    expect(await Promise.all([first, stale, last].map(liveRunsOf))).toEqual([1, 0, 1]);
  });

  it('claims when it is repeated', async () => {
    const agent = await aBusyAgent();
    expect((await completeAndClaim(agent)).body.claimed).toEqual([]);
    const next = await aTask(server.db.owner, workspace.id);
    const { status, body } = await completeAndClaim(agent);
    expect([status, body.status]).toEqual([200, 'COMPLETED']);
    expect(body.claimed.map(({ task }) => task.id)).toEqual([next]);
  });

  it('stays if its claim fails', async () => {
    const agent = await aBusyAgent();
    const next = await aTask(server.db.owner, workspace.id);
    // Its next run would have no number.
    await server.db.owner.query('UPDATE agent_tasks SET generation = 2147483647 WHERE id = $1', [
      next,
    ]);
    expect((await completeAndClaim(agent)).status).toBe(400);
    expect(await runOf(agent.held.run.id)).toMatchObject({ state: 'COMPLETED' });
    expect(await liveRunsOf(agent)).toBe(0);
  });

  it.each([
    ['a secret in its result', { outputResult: { password: 'hunter22' } }],
    ['usage', { usage: [{ id: 'u', model: 'claude-sonnet-4', inputTokens: 1, outputTokens: 1 }] }],
  ])('with %s is a transaction of its own', async (_, result) => {
    const agent = await aBusyAgent();
    const next = await aTask(server.db.owner, workspace.id);
    const { body } = await completeAndClaim(agent, result);
    expect(body.claimed.map(({ task }) => task.id)).toEqual([next]);
    const [ended, begun] = [await runOf(agent.held.run.id), await runOf(body.claimed[0]?.run.id)];
    expect(begun?.assigned_at).not.toEqual(ended?.ended_at);
  });

  it('takes the holds of its next run in a workspace with a budget', async () => {
    const agent = await aBusyAgent();
    const period = { periodStart: '2026-01-01T00:00:00Z', periodEnd: '2099-01-01T00:00:00Z' };
    const budget = { scope: 'global', allocated: 1_000_000, ...period };
    expect((await workspace.api.post('/budgets', budget)).status).toBe(201);
    await aTask(server.db.owner, workspace.id);
    const { body } = await completeAndClaim(agent);
    const { rows } = await server.db.owner.query<{ held: boolean }>(
      'SELECT cardinality(budget_ids) = 1 AS held FROM task_runs WHERE id = $1',
      [body.claimed[0]?.run.id],
    );
    expect(rows).toEqual([{ held: true }]);
  });
});

it('a claim behind a completion leaves tasks that changed after its transaction began', async () => {
  const { id } = await workspace.newAgent({ maxConcurrentTasks: 5 });
  const { text } = claimOf(1, 1, false)[0];
  const client = await server.db.owner.connect();
  const claim = async (behindOthers: boolean) => {
    const params = [workspace.id, [id], [1], [60], 60, behindOthers];
    const { rows } = await client.query<{ id: string | null }>(text, params);
    return rows[0]?.id;
  };
  try {
    await client.query('BEGIN');
    await client.query(`SELECT set_config('app.workspace_id', $1, true)`, [workspace.id]);
    const task = await aTask(server.db.owner, workspace.id);
    expect(await claim(true)).toBeNull();
    expect(await claim(false)).toBe(task);
    await client.query('ROLLBACK');
  } finally {
    client.release();
  }
});
