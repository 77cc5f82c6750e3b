import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { newId } from '#lib/kernel';
import { apiClient, type ApiClient } from '../../../../test/support/api-client.js';
import {
  sharedServer,
  type TestServer,
  type TestWorkspace,
} from '../../../../test/support/shared-server.js';
import { aTask } from '../../../../test/support/task-factories.js';
import { waitFor } from '../../../../test/support/wait-for.js';

interface Claimed {
  run: { id: string; token: string };
  task: { id: string };
}

interface Result {
  runId: string;
  outcome?: { taskId: string; status: string };
  problem?: { code: string; status: number };
}

let server: TestServer;
let workspace: TestWorkspace;

beforeAll(async () => {
  server = await sharedServer();
  workspace = await server.newWorkspace();
});
afterAll(() => server.stop());

async function aBusyAgent(tasks: number): Promise<{ id: string; api: ApiClient; held: Claimed[] }> {
  for (let i = 0; i < tasks; i++) await aTask(server.db.owner, workspace.id);
  const agent = await workspace.newAgent({ maxConcurrentTasks: 10 });
  const api = apiClient(server.url, { authorization: `Bearer ${agent.token}` });
  const claim = await api.post<{ tasks: Claimed[] }>(`/agents/${agent.id}/claim`, {
    maxTasks: tasks,
  });
  return { id: agent.id, api, held: claim.body.tasks };
}

it('many runs complete in one request, each on its own, and the next are claimed', async () => {
  const other = await aBusyAgent(1);
  const { api, held } = await aBusyAgent(3);
  const next = await aTask(server.db.owner, workspace.id);
  const [first, second, third] = held as [Claimed, Claimed, Claimed];
  expect((await api.post(`/runs/${second.run.id}/release`, {})).status).toBe(200);
  const unknown = newId();

  const { status, body } = await api.post<{ results: Result[]; claimed: Claimed[] }>(
    '/runs/complete',
    {
      completions: [
        { runId: first.run.id, outputResult: { n: 1 }, summary: 'done' },
        { runId: second.run.id },
        { runId: other.held[0]?.run.id },
        { runId: unknown },
        { runId: third.run.id },
      ],
      claimNext: { maxTasks: 5 },
    },
  );

  expect(status).toBe(200);
  expect(body.results.map(({ runId }) => runId)).toEqual([
    first.run.id,
    second.run.id,
    other.held[0]?.run.id,
    unknown,
    third.run.id,
  ]);
  expect(body.results.map(({ outcome }) => outcome?.status)).toEqual([
    'COMPLETED',
    undefined,
    undefined,
    undefined,
    'COMPLETED',
  ]);
  expect(body.results.map(({ problem }) => problem?.code)).toEqual([
    undefined,
    'stale_run',
    'run_not_found',
    'run_not_found',
    undefined,
  ]);
  expect(body.claimed.map(({ task }) => task.id).sort()).toEqual([second.task.id, next].sort());
  const { body: task } = await workspace.api.get(`/agent-tasks/${first.task.id}`);
  expect(task).toMatchObject({ status: 'COMPLETED', outputResult: { n: 1 }, summary: 'done' });
});

it('a repeated request of many completions gets the same answer', async () => {
  const { api, held } = await aBusyAgent(2);
  const request = { completions: held.map(({ run }) => ({ runId: run.id })) };
  const [once, again] = [
    await api.post('/runs/complete', request),
    await api.post('/runs/complete', request),
  ];
  expect(again).toMatchObject({ status: 200, body: once.body as object });
});

it("many completions need the agent's token and a list that is not empty", async () => {
  const { api, held } = await aBusyAgent(1);
  const [{ run }] = held as [Claimed];
  const ofRun = apiClient(server.url, { authorization: `Bearer ${run.token}` });
  const request = { completions: [{ runId: run.id }] };
  expect((await ofRun.post('/runs/complete', request)).status).toBe(401);
  expect((await api.post('/runs/complete', { completions: [] })).status).toBe(400);
  expect((await api.post('/runs/complete', request)).status).toBe(200);
});

it('a completion with usage does not wait for the tasks of the others', async () => {
  const { api, held } = await aBusyAgent(2);
  const [using, plain] = held as [Claimed, Claimed];
  const usage = [{ id: 'one', model: 'claude-sonnet-4', inputTokens: 10, outputTokens: 0 }];
  const other = await server.db.owner.connect();
  await other.query('BEGIN');
  await other.query('SELECT FROM agent_tasks WHERE id = $1 FOR UPDATE', [plain.task.id]);
  const completions = [{ runId: using.run.id, usage }, { runId: plain.run.id }];
  const completing = api.post('/runs/complete', { completions });
  const statusOf = async ({ task }: Claimed) =>
    (await workspace.api.get(`/agent-tasks/${task.id}`)).body['status'];
  await waitFor('the one with usage', async () => (await statusOf(using)) === 'COMPLETED');
  expect(await statusOf(plain)).not.toBe('COMPLETED');
  await other.query('COMMIT');
  other.release();
  expect((await completing).status).toBe(200);
  expect(await statusOf(plain)).toBe('COMPLETED');
});
