import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { newId } from '#lib/kernel';
import { sharedServer, type TestServer } from '../../../test/support/shared-server.js';
import { aProject, aUser } from '../../../test/support/factories.js';

/** The first digits of ids in requests. test/api/short-ids.int-spec.ts walks all places of ids. */

type Workspace = Awaited<ReturnType<TestServer['newWorkspace']>>;

let server: TestServer;
let mine: Workspace;
let other: Workspace;

const TASKS = [
  '0198aaaa-0000-7000-8000-000000000001',
  '0198aaaa-0000-7000-8000-000000000002',
  '0198bbbb-0000-7000-8000-000000000003',
] as const;
const FOREIGN = '0198cccc-0000-7000-8000-000000000004';

beforeAll(async () => {
  server = await sharedServer();
  mine = await server.newWorkspace();
  other = await server.newWorkspace();
  for (const id of TASKS) await insertTask(mine.id, id);
  await insertTask(other.id, FOREIGN);
  await insertTask(other.id, TASKS[2].replace('3', '5'));
});
afterAll(() => server.stop());

function insertTask(workspaceId: string, id: string) {
  return server.db.owner.query(
    `INSERT INTO agent_tasks
       (workspace_id, id, title, task_type, status, priority, completed_at, started_at)
     VALUES ($1, $2, 'Short', 'nobody', 'COMPLETED', 3, now(), now())`,
    [workspaceId, id],
  );
}

it.each(['0198b', '0198BBBB-0', '0198bbbb00007', TASKS[2]])(
  'the digits %s stand for the only task of the workspace that has them',
  async (digits) => {
    const { status, body } = await mine.api.get<{ id: string }>(`/agent-tasks/${digits}`);
    expect([status, body.id]).toEqual([200, TASKS[2]]);
    const explained = await mine.api.get(`/agent-tasks/${digits}/explain`);
    expect(explained.status).toBe(200);
  },
);

it('digits of two tasks name both ids and change none', async () => {
  const { status, body } = await mine.api.post('/agent-tasks/0198aaaa/archive', {});
  expect(status).toBe(409);
  expect(body).toMatchObject({ code: 'ambiguous_id', candidates: TASKS.slice(0, 2) });
  expect((body as { detail: string }).detail).toContain(TASKS[1]);
  const { body: page } = await mine.api.get<{ items: object[] }>('/agent-tasks?status=COMPLETED');
  expect(page.items).toHaveLength(3);
});

it.each([
  ['digits of no task', '0198dddd', 404, 'task_not_found'],
  ['digits of a task of another workspace', '0198cccc', 404, 'task_not_found'],
  ['three digits', '019', 400, 'validation_failed'],
  ['three digits and dashes', '-019--', 400, 'validation_failed'],
  ['dashes', '----', 400, 'validation_failed'],
  ['too many digits', `${TASKS[0]}0`, 400, 'validation_failed'],
  ['letters', 'nightly', 400, 'validation_failed'],
])('%s are refused', async (_, digits, status, code) => {
  const answer = await mine.api.get<{ code: string }>(`/agent-tasks/${digits}`);
  expect([answer.status, answer.body.code]).toEqual([status, code]);
});

it('an agent is registered under a whole id only', async () => {
  const { id } = await mine.newAgent();
  for (const digits of [id.slice(0, 30), 'abcd']) {
    const { status, body } = await mine.api.put(`/agents/${digits}`, { name: 'Overwritten' });
    expect([status, body]).toMatchObject([400, { code: 'validation_failed' }]);
  }
  const { body } = await mine.api.get<{ items: { name: string }[] }>('/agents');
  expect(body.items.map(({ name }) => name)).not.toContain('Overwritten');
});

it('the rules of an inbound hook have whole ids', async () => {
  const task = { title: '{{issue.title}}', taskType: 'issue', agentId: '0198bbbb' };
  const rules = [{ on: 'issues', do: 'create_task', task }];
  const { status, body } = await mine.api.post('/inbound-hooks', { kind: 'github', rules });
  expect([status, body]).toMatchObject([400, { code: 'validation_failed' }]);
  expect(JSON.stringify(body['errors'])).toContain('agentId');
});

it('an agent must send whole ids', async () => {
  const { api } = await mine.newAgent();
  const answer = await api.get<{ code: string }>(`/agent-tasks/0198bbbb`);
  expect([answer.status, answer.body.code]).toEqual([400, 'validation_failed']);
});

const AMBIGUOUS = '0198aaaa';
const NEW = { title: 'New', taskType: 'nobody' };

it.each<[string, string, object | undefined]>([
  ['a filter', `/agent-tasks?parentTaskId=${AMBIGUOUS}`, undefined],
  ['the ids of a bulk command', '/agent-tasks/bulk/archive', { ids: [TASKS[2], AMBIGUOUS] }],
  ['a filter in a body', '/dead-letter/replay', { filter: { parentTaskId: AMBIGUOUS } }],
  ['a dependency', '/agent-tasks', { ...NEW, dependsOn: [AMBIGUOUS] }],
  [
    'a dependency in a batch',
    '/agent-tasks/batch',
    { tasks: [NEW, { ...NEW, dependsOn: [{ taskId: AMBIGUOUS, policy: 'fail' }] }] },
  ],
  [
    'the scope of a budget',
    '/budgets',
    { scope: 'task', scopeId: AMBIGUOUS, allocated: '1', recurrence: { every: 'day' } },
  ],
])('ambiguous digits in %s change nothing', async (_, path, body) => {
  const answer = await (body ? mine.api.post(path, body) : mine.api.get(path));
  expect(answer).toMatchObject({
    status: 409,
    body: { code: 'ambiguous_id', candidates: TASKS.slice(0, 2) },
  });
  const { body: page } = await mine.api.get<{ items: { status: string }[] }>('/agent-tasks');
  expect(page.items.map(({ status }) => status)).toEqual(Array(3).fill('COMPLETED'));
});

it('a filter that accepts unknown ids finds the digits of its own kind', async () => {
  const { id, api, newAgent } = await server.newWorkspace();
  const { owner } = server.db;
  const digits = Object.fromEntries(
    ['agents', 'projects', 'users', 'schedules'].map((kind) => [kind, newId().slice(0, -1)]),
  );
  for (const last of ['1', '2']) {
    await newAgent({ id: digits['agents'] + last });
    const twin = (table: string, from: unknown) =>
      owner.query(`UPDATE ${table} SET id = $1 WHERE id = $2`, [digits[table] + last, from]);
    await twin('projects', await aProject(owner, id));
    await twin('users', await aUser(owner));
    await owner.query(
      `INSERT INTO workspace_members (workspace_id, user_id, role) VALUES ($1, $2, 'VIEWER')`,
      [id, digits['users'] + last],
    );
    const schedule = { name: last, everySeconds: 3_600, tasks: [{ taskType: 'nobody' }] };
    await twin('schedules', (await api.post('/schedules', schedule)).body['id']);
  }
  for (const path of [
    `/usage?groupBy=day&agentId=${digits['agents']}`,
    `/usage?groupBy=day&projectId=${digits['projects']}`,
    `/workspaces/${id}/agent-tokens?agentId=${digits['agents']}`,
    `/workspaces/${id}/agent-tokens?issuedBy=${digits['users']}`,
    `/audit-log?actorId=${digits['users']}`,
    `/agent-tasks?scheduleId=${digits['schedules']}`,
  ]) {
    const { body } = await api.get<{ code: string; candidates: string[] }>(path);
    expect({ path, ...body }).toMatchObject({ path, code: 'ambiguous_id' });
    expect(body.candidates).toHaveLength(2);
  }
  const ofTask = await mine.api.get(`/usage?groupBy=day&taskId=${AMBIGUOUS}`);
  expect(ofTask.body).toMatchObject({ code: 'ambiguous_id' });
});

it('tasks, schedules, templates and rules store whole ids', async () => {
  const { api, id: workspaceId, newAgent } = await server.newWorkspace();
  const projectId = await aProject(server.db.owner, workspaceId);
  const { id: agentId } = await newAgent();
  const project = projectId.slice(0, 35);
  const task = { ...NEW, projectId: project, agentId: agentId.slice(0, 35) };
  const { body: first } = await api.post<{ id: string }>('/agent-tasks', task);
  expect(first).toMatchObject({ projectId });

  const onFirst = { taskId: first.id.slice(0, 35), policy: 'ignore' };
  const whole = { projectId, agentId, dependsOn: [{ taskId: first.id, policy: 'ignore' }] };
  const template = { name: 'short', task: { ...task, dependsOn: [onFirst] } };
  expect((await api.post('/task-templates', template)).body).toMatchObject({ task: whole });
  const schedule = { name: 'short', everySeconds: 3_600, tasks: [template.task] };
  expect((await api.post('/schedules', schedule)).body).toMatchObject({ tasks: [whole] });
  const rules = [{ projectId: project, tier: 'opus' }];
  const routing = await api.put('/model-routing', { enabled: true, tiers: {}, rules });
  expect(routing.body).toMatchObject({ rules: [{ projectId }] });

  const tasks = [{ ...task, dependsOn: [onFirst.taskId] }];
  const batch = await api.post<{ items: { id: string }[] }>('/agent-tasks/batch', { tasks });
  const path = `/agent-tasks/${batch.body.items[0]?.id}`;
  expect((await api.get(path)).body).toMatchObject({ projectId, dependsOn: [first.id] });
  await api.put(`${path}/dependencies`, { dependsOn: [] });
  await api.post(`${path}/dependencies`, { dependsOn: [onFirst] });
  expect((await api.get(path)).body).toMatchObject({ dependsOn: [first.id] });
});

it('digits select the tasks of a bulk command, also twice', async () => {
  const { api, id: workspaceId } = await server.newWorkspace();
  const digits = Array.from({ length: 300 }, (_, index) => `0198${1_000 + index}`);
  for (const one of digits) await insertTask(workspaceId, `${one}-0000-7000-8000-000000000001`);
  const ids = [...digits, digits[0]];
  const { body } = await api.post('/agent-tasks/bulk/archive', { ids });
  expect(body).toMatchObject({ matched: 300, changed: 300 });
});
