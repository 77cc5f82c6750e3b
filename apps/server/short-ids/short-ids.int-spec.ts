import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { sharedServer, type TestServer } from '../../../test/support/shared-server.js';
import { aProject } from '../../../test/support/factories.js';

/** The first digits of an id in the path of a request. */

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

it('an agent must send whole ids', async () => {
  const { api } = await mine.newAgent();
  const answer = await api.get<{ code: string }>(`/agent-tasks/0198bbbb`);
  expect([answer.status, answer.body.code]).toEqual([400, 'validation_failed']);
});

it('every collection with short ids has its own table', async () => {
  const projectId = await aProject(server.db.owner, mine.id);
  const { id: agentId } = await mine.newAgent();
  for (const [path, id] of [
    ['projects', projectId],
    ['agents', agentId],
  ]) {
    const { body } = await mine.api.get<{ id: string }>(`/${path}/${id?.slice(0, 30)}`);
    expect(body.id).toBe(id);
  }
  for (const collection of [
    'agent-tasks',
    'runs',
    'milestones',
    'budgets',
    'questions',
    'repositories',
    'changes',
    'schedules',
    'task-templates',
    'webhooks',
    'inbound-hooks',
  ]) {
    const { body } = await mine.api.get<{ code: string }>(`/${collection}/ffffffff`);
    expect(`${collection}: ${body.code}`).toMatch(/: \w+_not_found$/);
  }
});
