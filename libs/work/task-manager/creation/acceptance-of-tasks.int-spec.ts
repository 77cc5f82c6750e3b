import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { newId } from '#lib/kernel';
import { apiClient } from '../../../../test/support/api-client.js';
import { aProject } from '../../../../test/support/factories.js';
import { soundServer, type TestServer } from '../../../../test/support/sound-server.js';
import { Scene } from '../../coordinator/testing/scene.js';

let server: TestServer;
let scene: Scene;

beforeAll(async () => {
  server = await soundServer();
});
beforeEach(async () => {
  scene = await Scene.of(server);
});
afterAll(() => server.stop());

const SECRET = 'a-secret-of-the-acceptance';
const SCRIPT = `grep -q weeks report.md # ${SECRET}`;

it('a task with acceptance commands is completed by its host alone, and red ones go back', async () => {
  const id = await scene.task({
    acceptanceScript: SCRIPT,
    secrets: { TOKEN: SECRET },
    maxRetries: 1,
    retryBackoffSeconds: 3_600,
  });
  expect(await scene.read(id)).toMatchObject({
    acceptanceScript: 'grep -q weeks report.md # [redacted]',
    requiredCapabilities: ['acceptance', 'command'],
  });
  const other = await scene.workspace.newAgent({ capabilities: ['command'] });
  expect((await other.api.post<{ tasks: [] }>(`/agents/${other.id}/claim`)).body.tasks).toEqual([]);

  const agent = await scene.workspace.newAgent({ capabilities: ['acceptance', 'command'] });
  const { body } = await agent.api.post<{
    tasks: { run: { id: string; token: string }; task: { acceptanceScript: string } }[];
  }>(`/agents/${agent.id}/claim`);
  const [{ run, task }] = body.tasks as [(typeof body.tasks)[0]];
  expect(task.acceptanceScript).toBe(SCRIPT);
  const session = apiClient(server.url, { authorization: `Bearer ${run.token}` });
  expect(await session.post(`/runs/${run.id}/complete`, {})).toMatchObject({
    status: 409,
    body: { code: 'acceptance_required' },
  });

  const error = {
    message: 'Its acceptance failed (1)',
    class: 'acceptance_failed',
    exitCode: 1,
    stackTrace: `No weeks in the report, ${SECRET}`,
  };
  expect((await agent.api.post(`/runs/${run.id}/fail`, { error })).status).toBe(200);
  // It waits for no backoff.
  await scene.recover();
  const again = await scene.claim(agent, id);
  const { prompt } = (
    await agent.api.post<{ prompt: string }>(`/runs/${again.runId}/prompt`, {
      conversation: 'resumed',
    })
  ).body;
  expect(prompt).toContain('## Your work came back');
  expect(prompt).toContain('exit code 1. This is the end of its output:\n\n```\nNo weeks in the');
  expect(prompt).not.toContain(SECRET);
  expect((await agent.api.post(`/runs/${again.runId}/fail`, { error })).status).toBe(200);
  expect(await scene.read(id)).toMatchObject({
    status: 'FAILED',
    failureReason: 'retries_exhausted',
  });

  expect((await scene.workspace.api.post(`/agent-tasks/${id}/retry`, {})).status).toBe(200);
  const last = await scene.claim(agent, id);
  expect((await agent.api.post(`/runs/${last.runId}/complete`, {})).status).toBe(200);
  expect(await scene.read(id)).toMatchObject({ status: 'COMPLETED' });
  await scene.holdsEverything();
});

it('a task with a repository has the acceptance of that', async () => {
  const settings = { name: 'shop', url: 'https://example.com/shop.git' };
  const { body } = await scene.workspace.api.post<{ id: string }>('/repositories', settings);
  const task = { title: 'A', taskType: 'test', repositoryId: body.id, acceptanceScript: 'true' };
  expect(await scene.workspace.api.post('/agent-tasks', task)).toMatchObject({
    status: 400,
    body: { errors: [{ field: 'acceptanceScript' }] },
  });
});

it('a task cannot leave the project of its repository, if the repository has one', async () => {
  const { api, id: workspaceId } = scene.workspace;
  const [own, other] = [
    await aProject(server.db.owner, workspaceId),
    await aProject(server.db.owner, workspaceId),
  ];
  const taskOf = async (settings: object): Promise<string> => {
    const repository = { name: newId(), url: 'https://example.com/shop.git', ...settings };
    const { body } = await api.post<{ id: string }>('/repositories', repository);
    return scene.task({ repositoryId: body.id, projectId: own });
  };
  const [bound, free] = [await taskOf({ projectId: own }), await taskOf({})];
  for (const projectId of [other, null]) {
    expect(await api.patch(`/agent-tasks/${bound}`, { projectId, title: 'Moved' })).toMatchObject({
      status: 400,
      body: { errors: [{ field: 'projectId', message: expect.stringContaining('repository') }] },
    });
    expect((await api.patch(`/agent-tasks/${free}`, { projectId })).status).toBe(200);
  }
  expect(await scene.read(bound)).toMatchObject({
    projectId: own,
    title: expect.not.stringContaining('Moved'),
  });
});
