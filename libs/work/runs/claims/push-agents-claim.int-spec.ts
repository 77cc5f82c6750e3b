import { afterAll, beforeAll, expect, it } from '@jest/globals';
import {
  sharedServer,
  type TestServer,
  type TestWorkspace,
} from '../../../../test/support/shared-server.js';
import { aTask } from '../../../../test/support/task-factories.js';

let server: TestServer;
let workspace: TestWorkspace;

beforeAll(async () => {
  server = await sharedServer();
  workspace = await server.newWorkspace();
});
afterAll(() => server.stop());

const wantTask = () => aTask(server.db.owner, workspace.id);

const statusOf = async (id: string) =>
  (await workspace.api.get<{ status: string }>(`/agent-tasks/${id}`)).body.status;

it('a claim of a push agent is refused, and a pull agent gets the task', async () => {
  const task = await wantTask();
  const pushed = await workspace.newAgent({ mode: 'push' });
  const pulling = await workspace.newAgent();
  const path = (id: string) => `/agents/${id}/claim`;
  const [refused, given] = await Promise.all([
    pushed.api.post(path(pushed.id), { maxTasks: 1, waitMs: 20_000 }),
    pulling.api.post(path(pulling.id), { maxTasks: 1, waitMs: 20_000 }),
  ]);
  expect(refused).toMatchObject({ status: 409, body: { code: 'agent_is_push' } });
  expect(given).toMatchObject({ status: 200, body: { tasks: [{ task: { id: task } }] } });
});

it('a completion of a push agent claims no further task', async () => {
  const agent = await workspace.newAgent();
  const first = await wantTask();
  const { body } = await agent.api.post<{ tasks: { run: { id: string } }[] }>(
    `/agents/${agent.id}/claim`,
    { maxTasks: 1 },
  );
  await server.db.owner.query(`UPDATE agents SET mode = 'push' WHERE id = $1`, [agent.id]);
  const second = await wantTask();
  const completed = await agent.api.post(`/runs/${body.tasks[0]?.run.id}/complete`, {
    claimNext: { maxTasks: 1 },
  });
  expect(completed).toMatchObject({ status: 200, body: { claimed: [] } });
  expect(await statusOf(first)).toBe('COMPLETED');
  expect(await statusOf(second)).toBe('PENDING');
});
