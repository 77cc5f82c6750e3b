import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { apiClient } from '../../../../test/support/api-client.js';
import {
  sharedServer,
  type TestServer,
  type TestWorkspace,
} from '../../../../test/support/shared-server.js';
import { waitFor } from '../../../../test/support/wait-for.js';

const TOKEN = `ghp_${'a1'.repeat(18)}`;

let server: TestServer;
let workspace: TestWorkspace;

beforeAll(async () => {
  server = await sharedServer();
  workspace = await server.newWorkspace();
});
afterAll(() => server.stop());

it('a tag shows no secret', async () => {
  const task = { title: 'A task', taskType: 'test', tags: [`by ${TOKEN}`, 'plain'] };
  const { status, body } = await workspace.api.post<{ id: string }>('/agent-tasks', task);
  expect(status).toBe(201);
  expect(body).toMatchObject({ tags: ['by [redacted]', 'plain'] });
  const changed = await workspace.api.patch(`/agent-tasks/${body.id}`, { tags: [TOKEN, 'plain'] });
  expect(changed).toMatchObject({ status: 200, body: { tags: ['[redacted]', 'plain'] } });
  const { rows } = await server.db.owner.query(
    `SELECT FROM agent_task_tags WHERE workspace_id = $1 AND tag LIKE '%ghp%'`,
    [workspace.id],
  );
  expect(rows).toEqual([]);
});

it('a usage report with a secret as its id is refused', async () => {
  const agent = await workspace.newAgent();
  await workspace.api.post('/agent-tasks', { title: 'A task', taskType: 'test' });
  const { body } = await agent.api.post<{ tasks: { run: { id: string; token: string } }[] }>(
    `/agents/${agent.id}/claim`,
    {},
  );
  const [task] = body.tasks;
  const run = apiClient(server.url, { authorization: `Bearer ${task?.run.token}` });
  const report = (id: string) => {
    const usage = { id, model: 'claude-sonnet-4', inputTokens: 5, outputTokens: 5 };
    return run.post(`/runs/${task?.run.id}/usage`, { reports: [usage] });
  };
  expect(await report(TOKEN)).toMatchObject({
    status: 400,
    body: { code: 'validation_failed', errors: [{ field: 'id' }] },
  });
  expect((await report('page-7')).status).toBeLessThan(300);
});

it('the current step of a heartbeat shows no secret', async () => {
  const agent = await workspace.newAgent();
  const step = { status: 'busy', currentStep: `pushing with ${TOKEN}` };
  expect((await agent.api.post(`/agents/${agent.id}/heartbeat`, step)).status).toBeLessThan(300);
  await waitFor('the step', async () => {
    const { body } = await workspace.api.get<{ lastHeartbeat?: object }>(
      `/agents/${agent.id}/health`,
    );
    const text = JSON.stringify(body);
    expect(text).not.toContain('ghp_');
    return text.includes('pushing with [redacted]');
  });
});
