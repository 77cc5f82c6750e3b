import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import {
  startTestApp,
  type TestAgent,
  type TestApp,
  type TestWorkspace,
} from '../../../../test/support/app.js';
import { tablesWith } from '../../../../test/support/tables-with.js';
import { newId } from '#lib/kernel';

type Json = Record<string, unknown>;
interface Claim {
  tasks: { run: { id: string }; task: Json }[];
}

const HIDDEN = '[redacted]';

let server: TestApp;
let workspace: TestWorkspace;
let agent: TestAgent;
/** Has no recognisable form: only `secrets` marks it as a secret. */
let secret: string;

beforeAll(async () => {
  server = await startTestApp();
});
beforeEach(async () => {
  workspace = await server.newWorkspace();
  agent = await workspace.newAgent({ maxConcurrentTasks: 10 });
  secret = `correct horse ${newId()}`;
});
afterAll(() => server.stop());

const TASK = { title: 'A task', taskType: 'test' };

async function create(values: Json, headers = {}): Promise<Json & { id: string }> {
  const body = { ...TASK, ...values };
  const created = await workspace.api.post<Json & { id: string }>('/agent-tasks', body, headers);
  expect([created.status, created.body]).toEqual([201, expect.anything()]);
  return created.body;
}

async function claim(): Promise<Claim['tasks']> {
  const { body } = await agent.api.post<Claim>(`/agents/${agent.id}/claim`, { maxTasks: 10 });
  return body.tasks;
}

const patch = (id: string, body: Json) => workspace.api.patch<Json>(`/agent-tasks/${id}`, body);

it('only the run gets named secrets, wherever they appear in the request', async () => {
  const key = { 'idempotency-key': newId() };
  const values = {
    title: `Log in with ${secret}`,
    description: `The word is ${secret}`,
    tags: [`of ${secret}`.slice(0, 100), `of ${secret}!`.slice(0, 100), 'plain'],
    metadata: { note: secret, deep: [{ more: `x${secret}x` }] },
    inputContext: { prompt: `Say ${secret}`, apiToken: 'swordfish-1' },
    secrets: { GITHUB_TOKEN: secret, region: 'x' },
  };
  const task = await create(values, key);
  const shown = {
    title: `Log in with ${HIDDEN}`,
    description: `The word is ${HIDDEN}`,
    metadata: { note: HIDDEN, deep: [{ more: `x${HIDDEN}x` }] },
    inputContext: { prompt: `Say ${HIDDEN}`, apiToken: HIDDEN },
    secrets: { GITHUB_TOKEN: HIDDEN, region: HIDDEN },
  };
  expect(task).toMatchObject(shown);
  expect((await create(values, key)).id).toBe(task.id);
  const many = { tasks: [{ ...TASK, ...values }] };
  const batch = await workspace.api.post<{ items: Json[] }>('/agent-tasks/batch', many);
  expect(batch.body.items).toMatchObject([shown]);

  const [held] = await claim();
  const tags = [`of ${HIDDEN}`, `of ${HIDDEN}!`, 'plain'];
  expect(held?.task).toMatchObject({ ...values, tags });
  const run = `/runs/${held?.run.id}`;
  await agent.api.post(`${run}/start`, { sessionKey: `key ${secret}`, branch: `b-${secret}` });
  await agent.api.patch(`${run}/progress`, { currentStep: `with ${secret}` });
  await agent.api.post(`${run}/logs`, { entries: [{ message: secret, details: { [secret]: 1 } }] });
  await agent.api.post(`${run}/complete`, { outputResult: { said: secret }, summary: secret });
  const reads = await Promise.all(
    ['', '/logs', '/runs', '/explain', '/events'].map((path) =>
      workspace.api.get<Json>(`/agent-tasks/${task.id}${path}`),
    ),
  );
  expect(reads[0]?.body).toMatchObject({ ...shown, sessionKey: `key ${HIDDEN}` });
  expect(JSON.stringify(reads.map(({ body }) => body))).not.toContain(secret);
  expect(await tablesWith(server, secret)).toEqual([]);
  expect(await tablesWith(server, 'swordfish-1')).toEqual([]);
});

it('an update replaces named secrets, and hidden ones keep their value', async () => {
  const task = await create({ secrets: { A: secret, B: 'swordfish-2' }, description: 'a text' });
  const changed = await patch(task.id, {
    secrets: { A: HIDDEN, C: 'swordfish-3' },
    title: `By ${secret} and swordfish-3`,
  });
  expect(changed.body).toMatchObject({
    title: `By ${HIDDEN} and ${HIDDEN}`,
    secrets: { A: HIDDEN, C: HIDDEN },
  });
  expect((await patch(task.id, { title: changed.body['title'], priority: 9 })).status).toBe(200);
  const [held] = await claim();
  expect(held?.task).toMatchObject({
    title: `By ${secret} and swordfish-3`,
    secrets: { A: secret, C: 'swordfish-3' },
  });
  expect((await patch(task.id, { secrets: {}, title: 'Nothing' })).status).toBe(200);
  expect(await tablesWith(server, task.id)).not.toContain('task_secrets');
  expect(await tablesWith(server, secret)).toEqual([]);
  expect(await tablesWith(server, 'swordfish')).toEqual([]);
});

it.each<[string, unknown]>([
  ['a name with a blank', { 'A B': 'x' }],
  ['a variable of ours', { DROVER_RUN_ID: 'x' }],
  ['a variable that loads programs', { LD_PRELOAD: 'x' }],
  ['the path', { PATH: 'x' }],
  ['no text', { A: 1 }],
  ['nothing', { A: '' }],
  ['NUL', { A: 'a\0b' }],
  ['a list', ['x']],
  ['null', null],
  ['too many', Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`A${i}`, 'x']))],
  ['too much', { A: 'x'.repeat(32_769) }],
])('named secrets are refused with %s, for tasks and agents', async (_, secrets) => {
  const refusal = { status: 400, body: { code: 'validation_failed' } };
  expect(await workspace.api.post('/agent-tasks', { ...TASK, secrets })).toMatchObject(refusal);
  const body = { name: 'A', secrets };
  expect(await workspace.api.put(`/agents/${newId()}`, body)).toMatchObject(refusal);
});

it('[redacted] that hides nothing is refused for agents, and their values stay', async () => {
  const path = `/agents/${newId()}`;
  const put = (body: object) => workspace.api.put(path, { name: 'A', ...body });
  const command = ['run', '--api-key', 'swordfish-7', '-v'];
  expect((await put({ command, secrets: { A: 'swordfish-8' } })).status).toBe(201);
  const message = 'must be the value itself: [redacted] hides none here';
  const refusal = (field: string) => ({
    status: 400,
    body: { code: 'validation_failed', errors: [{ field, message }] },
  });
  const moved = ['run', '-v', '--api-key', HIDDEN];
  expect(await put({ command: moved })).toMatchObject(refusal('command[3]'));
  expect(await put({ secrets: { A: HIDDEN, B: HIDDEN } })).toMatchObject(refusal('secrets.B'));
  const unknown = await workspace.api.put(`/agents/${newId()}`, { name: 'B', command: moved });
  expect(unknown).toMatchObject(refusal('command[3]'));
  const shown = { command: ['run', '--api-key', HIDDEN, '-v'], secrets: { A: HIDDEN } };
  expect((await workspace.api.get(path)).body).toMatchObject(shown);
  expect(await put(shown)).toMatchObject({ status: 200, body: shown });
});

it('named secrets cannot appear in fields that identify an agent', async () => {
  const body = { ...TASK, taskType: 'swordfish', requiredCapabilities: ['swordfish'] };
  const refused = await workspace.api.post('/agent-tasks/batch', {
    tasks: [{ ...body, secrets: { A: 'swordfish' } }],
  });
  const errors = [{ field: 'tasks[0].taskType' }, { field: 'tasks[0].requiredCapabilities' }];
  expect(refused).toMatchObject({ status: 400, body: { code: 'validation_failed', errors } });
});

it("users' reasons, titles and names show no credentials", async () => {
  const reason = 'wrong: password=swordfish-4';
  const { id } = await create({ title: 'Auth: fix', description: 'With DB_PASS=swordfish-4' });
  for (const command of ['pause', 'resume', 'cancel']) {
    const done = await workspace.api.post(`/agent-tasks/${id}/${command}`, { reason });
    expect([command, done.status]).toEqual([command, 200]);
  }
  expect((await workspace.api.get(`/agent-tasks/${id}`)).body).toMatchObject({
    title: 'Auth: fix',
    description: `With DB_PASS=${HIDDEN}`,
    abortMessage: `wrong: password=${HIDDEN}`,
  });
  await workspace.api.post('/agent-tasks/bulk/cancel', { ids: [(await create({})).id], reason });
  await workspace.api.post('/pauses', { reason });
  const project = { name: 'A project', description: reason };
  const made = await workspace.api.post<Json>('/projects', project);
  expect(made.body).toMatchObject({ description: `wrong: password=${HIDDEN}` });
  const left = await workspace.api.post(`/agents/${agent.id}/terminate`, { reason });
  expect(left.status).toBe(200);
  expect(await tablesWith(server, 'swordfish-4')).toEqual([]);
});
