import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '#lib/kernel';
import { type ApiClient, apiClient } from '../../../../test/support/api-client.js';
import {
  startTestApp,
  type TestAgent,
  type TestApp,
  type TestWorkspace,
} from '../../../../test/support/app.js';
import { aProject } from '../../../../test/support/factories.js';

interface Task {
  id: string;
  status: string;
  priority: number;
  projectId: string | null;
  parentTaskId: string | null;
  createdBy: string | null;
  unmetDependencies: number;
  dependsOn: string[];
  blocks: string[];
  code: string;
  errors?: { field: string }[];
}

const SUBTASK = { title: 'A part', taskType: 'test', requiredCapabilities: ['nobody-has-it'] };

let server: TestApp;
let workspace: TestWorkspace;
/** The parent, the agent that holds it, and its run. */
let parent: Task;
let agent: TestAgent;
let runId: string;
let run: ApiClient;

beforeAll(async () => {
  server = await startTestApp({ MAX_SUBTASKS_PER_TASK: '3', MAX_SUBTASK_DEPTH: '2' });
  workspace = await server.newWorkspace();
});

afterAll(() => server.stop());

async function hold(values: Record<string, unknown> = {}) {
  const capability = newId();
  const agent = await workspace.newAgent({ capabilities: [capability] });
  const requiredCapabilities = [capability];
  const task = { title: 'The whole', taskType: 'test', requiredCapabilities, ...values };
  const { body: parent } = await workspace.api.post<Task>('/agent-tasks', task);
  return { agent, parent, ...(await claim(agent)) };
}

async function claim(by: TestAgent) {
  const { body } = await by.api.post<{ tasks: { run: { id: string; token: string } }[] }>(
    `/agents/${by.id}/claim`,
  );
  const [{ run }] = body.tasks as [(typeof body.tasks)[number]];
  const token = { authorization: `Bearer ${run.token}` };
  return { runId: run.id, run: apiClient(server.url, token) };
}

beforeEach(async () => {
  const projectId = await aProject(server.db.owner, workspace.id);
  ({ agent, parent, runId, run } = await hold({ priority: 4, projectId }));
});

const create = (by: ApiClient, values: Record<string, unknown> = {}) =>
  by.post<Task>('/agent-tasks', { ...SUBTASK, ...values });
const batch = (by: ApiClient, ...tasks: Record<string, unknown>[]) =>
  by.post<{ items: Task[]; code: string; path: string[] }>('/agent-tasks/batch', {
    tasks: tasks.map((task) => ({ ...SUBTASK, ...task })),
  });
const read = async (by: ApiClient, { id }: { id: string }) =>
  (await by.get<Task>(`/agent-tasks/${id}`)).body;

describe('a subtask', () => {
  it("a subtask has its parent's project and priority, and both tokens create it", async () => {
    const inherited = { parentTaskId: parent.id, projectId: parent.projectId, createdBy: null };
    const byRun = await create(run);
    expect(byRun).toMatchObject({ status: 201, body: { ...inherited, priority: 4 } });
    const byAgent = await create(agent.api, { parentTaskId: parent.id, priority: 2 });
    expect(byAgent).toMatchObject({ status: 201, body: { ...inherited, priority: 2 } });
    const { body } = await workspace.api.get(`/agent-tasks?parentTaskId=${parent.id}`);
    expect(body).toMatchObject({ items: [{ id: byAgent.body.id }, { id: byRun.body.id }] });
    expect(await read(workspace.api, byRun.body)).toEqual(byRun.body);
  });

  it("a subtask is visible to its parent's holder and to no other agent", async () => {
    const { body: subtask } = await create(run);
    const other = await hold();
    expect((await read(run, subtask)).id).toBe(subtask.id);
    expect((await read(agent.api, subtask)).id).toBe(subtask.id);
    for (const by of [other.run, other.agent.api]) {
      expect((await read(by, subtask)).code).toBe('task_not_found');
    }
  });

  it.each([
    ['a higher priority', () => ({ priority: 5 }), 'priority'],
    ['another project', () => ({ projectId: newId() }), 'projectId'],
    ['another parent', () => ({ parentTaskId: newId() }), 'parentTaskId'],
  ])('a subtask does not get %s', async (_, values, field) => {
    const { status, body } = await create(run, values());
    expect({ status, body }).toMatchObject({ status: 400, body: { code: 'validation_failed' } });
    expect(body.errors).toMatchObject([{ field }]);
  });

  it('only the live holder of a task creates subtasks', async () => {
    const other = await hold();
    const asked = { parentTaskId: parent.id };
    expect((await create(other.agent.api, asked)).body.code).toBe('task_not_found');
    expect((await create(agent.api)).body.errors).toMatchObject([{ field: 'parentTaskId' }]);
    expect((await create(workspace.api, asked)).body.errors).toMatchObject([
      { field: 'parentTaskId' },
    ]);
    await run.post(`/runs/${runId}/complete`);
    expect((await create(agent.api, asked)).body.code).toBe('stale_run');
  });

  it('a subtask depends only on its parent or its siblings', async () => {
    const { body: first } = await create(run, { dependsOn: [parent.id] });
    const { body: second } = await create(run, { dependsOn: [first.id] });
    expect([first.unmetDependencies, second.unmetDependencies]).toEqual([1, 1]);
    const { body: stranger } = await create(workspace.api);
    const refused = await create(run, { dependsOn: [first.id, stranger.id] });
    expect(refused.body).toMatchObject({
      code: 'task_not_found',
      errors: [
        { field: 'dependsOn[1]', message: 'must be the parent task or one of its subtasks' },
      ],
    });
  });
});

describe('a subtask with a command', () => {
  const COMMAND = { inputContext: { command: ['true'] } };
  const allow = (allowRunCommands: boolean) =>
    workspace.api.patch(`/workspaces/${workspace.id}`, { allowRunCommands });

  it('a run creates a task with a command only if the workspace allows it', async () => {
    const refused = { status: 403, body: { code: 'run_commands_forbidden' } };
    expect(await create(run, COMMAND)).toMatchObject(refused);
    expect(await batch(run, {}, COMMAND)).toMatchObject(refused);
    expect(await create(run, { acceptanceScript: 'true' })).toMatchObject(refused);
    expect(await allow(true)).toMatchObject({ status: 200, body: { allowRunCommands: true } });
    expect((await create(run, COMMAND)).status).toBe(201);
    expect((await allow(false)).status).toBe(200);
    expect(await create(run, COMMAND)).toMatchObject(refused);
    expect((await create(run, { inputContext: { command: null } })).status).toBe(201);
  });

  it('an agent creates a task with a command with its own token', async () => {
    const { status } = await create(agent.api, { ...COMMAND, parentTaskId: parent.id });
    expect(status).toBe(201);
  });
});

it('a subtask cannot refer to objects of another tenant', async () => {
  const stranger = await server.newWorkspace();
  const { body: task } = await create(stranger.api);
  const agentId = (await stranger.newAgent()).id;
  const projectId = await aProject(server.db.owner, stranger.id);
  const naming = (ids: { task: string; agent: string; project: string }) => [
    { parentTaskId: ids.task },
    { parentTaskId: parent.id, dependsOn: [ids.task] },
    { parentTaskId: parent.id, agentId: ids.agent },
    { parentTaskId: parent.id, projectId: ids.project },
  ];
  const theirs = naming({ task: task.id, agent: agentId, project: projectId });
  const nowhere = naming({ task: newId(), agent: newId(), project: newId() });
  for (const by of [run, agent.api]) {
    for (const [index, values] of theirs.entries()) {
      const [refused, unknown] = [await create(by, values), await create(by, nowhere[index])];
      expect(refused.status).toBeGreaterThanOrEqual(400);
      expect([refused.status, refused.body.code]).toEqual([unknown.status, unknown.body.code]);
    }
  }
  const { body } = await workspace.api.get(`/agent-tasks?parentTaskId=${parent.id}`);
  expect(body['items']).toEqual([]);
});

describe('the limits on subtasks', () => {
  it('the limit on their number holds under concurrency', async () => {
    const answers = await Promise.all(Array.from({ length: 5 }, () => create(run)));
    const codes = answers.map(({ status, body }) => (status === 201 ? 'created' : body.code));
    expect(codes.sort()).toEqual([
      'created',
      'created',
      'created',
      'subtask_limit',
      'subtask_limit',
    ]);
    expect((await batch(agent.api, { parentTaskId: parent.id })).body.code).toBe('subtask_limit');
  });

  it('the limit on depth holds', async () => {
    let holder = { agent, run };
    for (const status of [201, 201, 409]) {
      const next = newId();
      const below = await create(holder.run, { requiredCapabilities: [next] });
      expect(below.status).toBe(status);
      if (status === 409) expect(below.body.code).toBe('subtask_limit');
      else {
        const its = await workspace.newAgent({ capabilities: [next] });
        holder = { agent: its, run: (await claim(its)).run };
      }
    }
  });
});

describe('a parent that its subtasks block', () => {
  it('a blocked parent waits after its run for the end of its subtasks', async () => {
    const { body } = await batch(run, { blocksParent: true }, { blocksParent: true }, {});
    const [first, second, third] = body.items as [Task, Task, Task];
    expect([first.blocks, third.blocks]).toEqual([[parent.id], []]);
    expect(await read(workspace.api, first)).toEqual({ ...first, dependencies: [] });
    await run.post(`/runs/${runId}/release`, { reason: 'waits for its parts' });
    expect(await read(workspace.api, parent)).toMatchObject({
      status: 'PENDING',
      unmetDependencies: 2,
      dependsOn: [first.id, second.id],
    });
    await workspace.api.post(`/agent-tasks/${first.id}/cancel`);
    await workspace.api.post(`/agent-tasks/${second.id}/cancel`);
    await workspace.api.post('/coordinator/recover');
    expect(await read(workspace.api, parent)).toMatchObject({ unmetDependencies: 0 });
    const again = await claim(agent);
    expect((await read(again.run, first)).status).toBe('ABORTED');
  });

  it('a subtask cannot depend on a parent that it blocks, not even indirectly', async () => {
    const { body: one } = await create(run, { dependsOn: [parent.id] });
    const { status, body } = await batch(run, { dependsOn: [one.id], blocksParent: true });
    expect([status, body.code]).toEqual([409, 'dependency_cycle']);
    expect(body.path).toEqual([parent.id, expect.any(String), one.id, parent.id]);
    expect((await read(workspace.api, parent)).dependsOn).toEqual([]);
  });
});

it('cancelling a parent cancels its subtasks only on request', async () => {
  const { body: subtask } = await create(run);
  const { body: other } = await create(workspace.api);
  await workspace.api.post(`/agent-tasks/${parent.id}/cancel`);
  expect((await read(workspace.api, subtask)).status).toBe('PENDING');
  await workspace.api.post(`/agent-tasks/${parent.id}/retry`);
  await workspace.api.post(`/agent-tasks/${parent.id}/cancel`, { cascade: true });
  expect((await read(workspace.api, subtask)).status).toBe('ABORTED');
  expect((await read(workspace.api, other)).status).toBe('PENDING');
});

it('cancelling with cascade ends no task that waits for nothing that is cancelled', async () => {
  const held = await hold();
  const { body: subtask } = await create(held.run);
  await server.db.owner.query(
    `UPDATE agent_tasks SET status = 'COMPLETED', progress_percent = 100, completed_at = now()
     WHERE id = $1`,
    [subtask.id],
  );
  const { body: after } = await create(workspace.api, { dependsOn: [subtask.id] });
  expect(after.unmetDependencies).toBe(0);
  const { body: waiting } = await create(workspace.api, { dependsOn: [held.parent.id] });
  await workspace.api.post(`/agent-tasks/${held.parent.id}/cancel`, { cascade: true });
  expect((await read(workspace.api, after)).status).toBe('PENDING');
  expect((await read(workspace.api, waiting)).status).toBe('ABORTED');
});

it('cancelling a subtask cancels its dependents, and the parent continues', async () => {
  const { body: one } = await create(run, { blocksParent: true });
  const { body: two } = await create(run, { blocksParent: true, dependsOn: [one.id] });
  const { body: three } = await create(run, { blocksParent: true });
  await workspace.api.post(`/agent-tasks/${one.id}/cancel`, { cascade: true });
  const statuses = await Promise.all(
    [one, two, three, parent].map(async (task) => (await read(workspace.api, task)).status),
  );
  expect(statuses).toEqual(['ABORTED', 'ABORTED', 'PENDING', 'ASSIGNED']);
});

it('a subtask shows none of the secrets that the run received', async () => {
  const held = await hold({ secrets: { DB_PASS: 'hunter-2-hunter' } });
  const values = { description: 'connect with hunter-2-hunter', tags: ['hunter-2-hunter'] };
  const { status, body } = await create(held.run, values);
  expect(status).toBe(201);
  expect(JSON.stringify([body, await read(workspace.api, body)])).not.toContain('hunter-2');
  const refused = await create(held.run, { taskType: 'hunter-2-hunter' });
  expect([refused.status, refused.body.code]).toEqual([400, 'validation_failed']);
});
