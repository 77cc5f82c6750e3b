import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import {
  sharedServer,
  type TestServer,
  type TestWorkspace,
} from '../../../../test/support/shared-server.js';
import { aProject } from '../../../../test/support/factories.js';

interface Answer {
  id: string;
  code: string;
  version: number;
  errors?: { field: string }[];
}

let server: TestServer;
let workspace: TestWorkspace;
let open: string;
let archived: string;

const TASK = { title: 'A task', taskType: 'test' };

beforeAll(async () => {
  server = await sharedServer();
});
beforeEach(async () => {
  workspace = await server.newWorkspace();
  open = await aProject(server.db.owner, workspace.id);
  archived = await aProject(server.db.owner, workspace.id);
  await archive(archived);
});
afterAll(() => server.stop());

async function archive(id: string): Promise<void> {
  expect((await workspace.api.post(`/projects/${id}/archive`)).status).toBe(200);
}

async function tasks(): Promise<number> {
  const { rows } = await server.db.owner.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM agent_tasks WHERE workspace_id = $1',
    [workspace.id],
  );
  return rows[0]?.count ?? 0;
}

const post = (path: string, body: object, headers?: Record<string, string>) =>
  workspace.api.post<Answer>(path, body, headers);

const refusal = (field: string) => ({
  status: 409,
  body: { code: 'project_archived', errors: [{ field }] },
});

it('an archived project accepts no new task, with a key or without', async () => {
  const body = { ...TASK, projectId: archived.toUpperCase() };
  expect(await post('/agent-tasks', body)).toMatchObject(refusal('projectId'));
  const key = { 'idempotency-key': 'once' };
  expect(await post('/agent-tasks', body, key)).toMatchObject(refusal('projectId'));
  expect(await tasks()).toBe(0);
});

it('a task for an archived project refuses its whole batch and is named', async () => {
  const batch = { tasks: [TASK, { ...TASK, projectId: open }, { ...TASK, projectId: archived }] };
  expect(await post('/agent-tasks/batch', batch)).toMatchObject(refusal('tasks[2].projectId'));
  expect(await tasks()).toBe(0);
});

it('an archived project accepts no task of another project', async () => {
  const { body: task } = await post('/agent-tasks', { ...TASK, projectId: open });
  const { api } = workspace;
  const change = { title: 'Other', projectId: archived };
  const refused = await api.patch(`/agent-tasks/${task.id}`, change);
  expect(refused).toMatchObject(refusal('projectId'));
  expect((await api.get(`/agent-tasks/${task.id}`)).body).toMatchObject({ title: 'A task' });
});

it('the tasks of an archived project can change and leave', async () => {
  const { body: task } = await post('/agent-tasks', { ...TASK, projectId: open });
  await archive(open);
  const { api } = workspace;
  const change = { priority: 9, projectId: open };
  expect((await api.patch(`/agent-tasks/${task.id}`, change)).status).toBe(200);
  expect((await api.patch(`/agent-tasks/${task.id}`, { projectId: null })).status).toBe(200);
});

it('an archived milestone accepts no task', async () => {
  const { api } = workspace;
  const path = `/projects/${open}/milestones`;
  const { body: milestone } = await api.post<Answer>(path, { name: 'M' });
  const placed = { ...TASK, projectId: open, milestoneId: milestone.id };
  const { body: inside } = await post('/agent-tasks', placed);
  const { body: outside } = await post('/agent-tasks', { ...TASK, projectId: open });
  expect((await api.post(`/milestones/${milestone.id}/archive`)).status).toBe(200);
  const refused = (field: string) => ({
    status: 409,
    body: { code: 'milestone_archived', errors: [{ field }] },
  });
  const batch = { tasks: [TASK, placed] };
  const change = { milestoneId: milestone.id };
  expect(await post('/agent-tasks', placed)).toMatchObject(refused('milestoneId'));
  expect(await post('/agent-tasks/batch', batch)).toMatchObject(refused('tasks[1].milestoneId'));
  expect(await api.patch(`/agent-tasks/${outside.id}`, change)).toMatchObject(
    refused('milestoneId'),
  );
  expect((await api.patch(`/agent-tasks/${inside.id}`, { priority: 9 })).status).toBe(200);
  expect(await tasks()).toBe(2);
});
