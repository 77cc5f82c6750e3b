import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { apiClient, type ApiClient } from '../../../../test/support/api-client.js';
import {
  sharedServer,
  type TestServer,
  type TestWorkspace,
} from '../../../../test/support/shared-server.js';
import { aTask } from '../../../../test/support/task-factories.js';
import { OWN_EVENTS } from '../domain/own-events.js';

/**
 * Requests refused for the token of a run, which the process of its task has in its environment.
 */

let server: TestServer;
let workspace: TestWorkspace;
let runId: string;
let run: ApiClient;

beforeAll(async () => {
  server = await sharedServer();
  workspace = await server.newWorkspace();
  const agent = await workspace.newAgent({ maxConcurrentTasks: 9 });
  await aTask(server.db.owner, workspace.id);
  const { body } = await agent.api.post<{ tasks: { run: { id: string; token: string } }[] }>(
    `/agents/${agent.id}/claim`,
    { maxTasks: 1 },
  );
  const given = body.tasks[0]?.run as { id: string; token: string };
  runId = given.id;
  run = apiClient(server.url, { authorization: `Bearer ${given.token}` });
});
afterAll(() => server.stop());

it.each(OWN_EVENTS)('a run token cannot write a %s event into the log', async (event) => {
  const answer = await run.post(`/runs/${runId}/logs`, { entries: [{ message: 'x' }, { event }] });
  expect(answer).toMatchObject({ status: 400, body: { errors: [{ field: 'entries[1].event' }] } });
});

it('the list of server events contains all events of a log', async () => {
  expect((await run.post(`/runs/${runId}/start`)).status).toBe(200);
  await run.patch(`/runs/${runId}/progress`, { progressPercent: 1 });
  await run.put(`/runs/${runId}/checkpoint`, { checkpointData: {} });
  const { rows } = await server.db.owner.query<{ event: string }>(
    'SELECT DISTINCT event FROM agent_task_logs WHERE workspace_id = $1',
    [workspace.id],
  );
  expect(rows.length).toBeGreaterThan(1);
  for (const { event } of rows) expect(OWN_EVENTS).toContain(event);
});

it('a run token cannot claim further tasks, and such a completion is refused', async () => {
  const waiting = await aTask(server.db.owner, workspace.id);
  const refused = await run.post(`/runs/${runId}/complete`, { claimNext: { maxTasks: 5 } });
  expect(refused).toMatchObject({ status: 403, body: { code: 'forbidden' } });
  const { rows } = await server.db.owner.query(
    'SELECT id FROM task_runs WHERE workspace_id = $1 AND ended_at IS NULL',
    [workspace.id],
  );
  expect(rows).toEqual([{ id: runId }]);
  expect((await run.post(`/runs/${runId}/complete`, {})).status).toBe(200);
  const task = await workspace.api.get<{ status: string }>(`/agent-tasks/${waiting}`);
  expect(task.body.status).toBe('PENDING');
});
