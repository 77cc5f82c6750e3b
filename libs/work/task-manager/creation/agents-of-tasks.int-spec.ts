import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import {
  sharedServer,
  type TestServer,
  type TestWorkspace,
} from '../../../../test/support/shared-server.js';
import { apiClient } from '../../../../test/support/api-client.js';
import { aProject } from '../../../../test/support/factories.js';

interface Task {
  id: string;
  requiredCapabilities: string[];
  agent: { kind: string; settings?: Record<string, unknown> } | null;
  instructions: string | null;
  steps: string[];
  acceptance: string[];
  code: string;
  detail?: string;
  errors?: { field: string; message: string }[];
}

interface Claims {
  tasks: { run: { token: string }; task: Task }[];
}

const WORK = { title: 'Mend the parser', taskType: 'development' };
const CODEX = { kind: 'codex' };

let server: TestServer;
let workspace: TestWorkspace;

beforeAll(async () => {
  server = await sharedServer();
});
beforeEach(async () => {
  workspace = await server.newWorkspace();
});
afterAll(() => server.stop());

const create = (values: object) => workspace.api.post<Task>('/agent-tasks', { ...WORK, ...values });

async function claimOf(capabilities: string[]) {
  const agent = await workspace.newAgent({ capabilities });
  const { body } = await agent.api.post<Claims>(`/agents/${agent.id}/claim`);
  return body.tasks;
}

it('only an agent with the kind of the task claims it, and receives its brief', async () => {
  const brief = {
    instructions: 'ISO weeks are missing.',
    steps: ['Read the parser', 'Write a test'],
    deliverables: ['A green test'],
    acceptance: ['npm test passes'],
  };
  const agent = {
    kind: 'codex',
    model: 'gpt-5.5',
    permissionMode: 'ask',
    settings: { effort: 'low' },
  };
  const { status, body } = await create({ agent, ...brief });
  expect(status).toBe(201);
  expect(body).toMatchObject({ agent, ...brief });
  expect(body.requiredCapabilities).toEqual(['command', 'kind:codex']);
  expect((await workspace.api.get<Task>(`/agent-tasks/${body.id}`)).body).toMatchObject(brief);

  expect(await claimOf(['command', 'kind:claude-code'])).toEqual([]);
  const [claimed] = await claimOf(['command', 'kind:codex']);
  expect(claimed?.task).toMatchObject({ id: body.id, agent, ...brief });
});

it('a task without a coding agent has none, and no brief', async () => {
  const { body } = await create({});
  expect(body).toMatchObject({ agent: null, instructions: null, steps: [], acceptance: [] });
  expect(body.requiredCapabilities).toEqual([]);
});

it('new capabilities do not remove the kind', async () => {
  const { body } = await create({ agent: CODEX });
  const changed = await workspace.api.patch<Task>(`/agent-tasks/${body.id}`, {
    requiredCapabilities: ['gpu'],
  });
  expect(changed.body.requiredCapabilities).toEqual(['command', 'gpu', 'kind:codex']);
});

it('explain names the kind that no agent has', async () => {
  await workspace.newAgent({ capabilities: ['command', 'kind:claude-code'] });
  const { body } = await create({ agent: CODEX });
  const explained = await workspace.api.get<{ reasons: { code: string; message: string }[] }>(
    `/agent-tasks/${body.id}/explain`,
  );
  expect(explained.body.reasons[0]).toMatchObject({
    code: 'no_capable_agent',
    message: expect.stringContaining('No agent here has the kind "codex".'),
  });
});

it('secrets of the brief and of settings are hidden, but not from the run', async () => {
  const token = 'ghp_0123456789abcdefghijABCDEFGHIJ012345';
  const { body } = await create({
    agent: { kind: 'codex', settings: { apiKey: 'a-key-of-a-tool' } },
    instructions: `Use ${token}.`,
    steps: ['Start', `curl -H "Authorization: Bearer ${token}"`],
  });
  expect(body.instructions).toBe('Use [redacted].');
  expect(JSON.stringify(body)).not.toContain(token);
  expect(JSON.stringify(body)).not.toContain('a-key-of-a-tool');
  const [claimed] = await claimOf(['command', 'kind:codex']);
  expect(claimed?.task.instructions).toBe(`Use ${token}.`);
  expect(claimed?.task.steps[1]).toContain(token);
  expect(claimed?.task.agent?.settings).toEqual({ apiKey: 'a-key-of-a-tool' });
});

it.each([
  [{ agent: {} }, 'agent.kind'],
  [{ agent: { kind: 'Codex' } }, 'agent.kind'],
  [{ agent: { kind: 'codex', permissionMode: 'sudo' } }, 'agent.permissionMode'],
  [{ agent: { kind: 'codex', tools: [] } }, 'agent.tools'],
  [{ agent: 'codex' }, 'agent'],
  [
    { agent: { kind: 'codex', settings: { permissions: [{ tool: 'shell' }] } } },
    'agent.settings.permissions[0]',
  ],
  [
    { agent: { kind: 'codex', permissionMode: 'plan', settings: { permissions: [] } } },
    'agent.settings.permissions',
  ],
  [{ steps: 'all' }, 'steps'],
])('%j is refused', async (values, field) => {
  const { status, body } = await create(values);
  expect(status).toBe(400);
  expect(body.errors?.map((error) => error.field)).toEqual([field]);
});

it('the server refuses operations that the rules of the task deny to its run', async () => {
  const permissions = [
    { tool: 'drover', pattern: 'listTasks', decision: 'allow' },
    { tool: 'drover', pattern: 'list*', decision: 'deny' },
  ];
  const { body } = await create({ agent: { kind: 'codex', settings: { permissions } } });
  const [claimed] = await claimOf(['command', 'kind:codex']);
  const run = apiClient(server.url, { authorization: `Bearer ${claimed?.run.token}` });
  expect((await run.get(`/agent-tasks/${body.id}`)).status).toBe(200);
  const refused = await run.get<Task & { detail: string }>('/questions');
  expect(refused).toMatchObject({ status: 403, body: { code: 'forbidden' } });
  expect(refused.body.detail).toContain('listQuestions');
});

it('a run cannot create a task with a coding agent unless its workspace allows that', async () => {
  await create({ agent: CODEX });
  const [claimed] = await claimOf(['command', 'kind:codex']);
  const run = apiClient(server.url, { authorization: `Bearer ${claimed?.run.token}` });
  const subtask = { ...WORK, agent: CODEX };
  const refused = await run.post<Task>('/agent-tasks', subtask);
  expect(refused).toMatchObject({ status: 403, body: { code: 'run_commands_forbidden' } });
  await workspace.api.patch(`/workspaces/${workspace.id}`, { allowRunCommands: true });
  expect((await run.post('/agent-tasks', subtask)).status).toBe(201);
});

it('a task whose model is not allowed is refused, also in a batch or in another project', async () => {
  const { api, id } = workspace;
  const projectId = await aProject(server.db.owner, id);
  const [haiku, opus] = ['claude-haiku-4-5', 'claude-opus-4-6'].map((model) => ({
    agent: { kind: 'claude-code', model },
  }));
  await api.patch(`/workspaces/${id}`, { allowedModels: ['claude-*'] });
  await api.patch(`/projects/${projectId}`, { allowedModels: ['*-haiku-*'] });
  const message = 'The model "claude-opus-4-6" is not allowed: its project allows only *-haiku-*.';
  expect(await create({ ...opus, projectId: projectId.toUpperCase() })).toMatchObject({
    status: 422,
    body: {
      code: 'model_not_allowed',
      detail: message,
      errors: [{ field: 'agent.model', message }],
    },
  });
  const tasks = [haiku, opus].map((task) => ({ ...WORK, ...task, projectId }));
  expect(await api.post('/agent-tasks/batch', { tasks })).toMatchObject({
    status: 422,
    body: { errors: [{ field: 'tasks[1].agent.model' }] },
  });
  expect(await create({ agent: { kind: 'codex', model: 'gpt-5.5' } })).toMatchObject({
    body: { detail: expect.stringContaining('its workspace allows only claude-*.') },
  });
  const { body: listed } = await api.get<{ items: unknown[] }>('/agent-tasks');
  expect(listed.items).toEqual([]);

  expect((await create({ ...haiku, projectId })).status).toBe(201);
  const { body: outside } = await create({ ...opus });
  const path = `/agent-tasks/${outside.id}`;
  expect(await api.patch(path, { projectId, title: 'Other' })).toMatchObject({
    status: 422,
    body: { code: 'model_not_allowed', errors: [{ field: 'projectId', message }] },
  });
  expect((await api.get(path)).body).toMatchObject({ title: WORK.title });
  await api.patch(`/workspaces/${id}`, { allowedModels: ['gpt-*'] });
  expect((await api.patch(path, { title: 'Other' })).status).toBe(200);
});
