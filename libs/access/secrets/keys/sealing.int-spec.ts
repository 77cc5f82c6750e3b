import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  startTestApp,
  type TestAgent,
  type TestApp,
  type TestWorkspace,
} from '../../../../test/support/app.js';
import { tablesWith } from '../../../../test/support/tables-with.js';
import { HeartbeatFlusher } from '#lib/agent-manager';
import { newId } from '#lib/kernel';

interface Task {
  id: string;
  status: string;
  version: number;
  [field: string]: unknown;
}
interface Claim {
  tasks: { run: { id: string; token: string }; task: Task }[];
}

/** Has no recognisable form in a text: only the name of its field marks it as a secret. */
const SECRET = 'wintergreen-4711';
const HIDDEN = '[redacted]';

let server: TestApp;
let workspace: TestWorkspace;
let agent: TestAgent;

beforeAll(async () => {
  server = await startTestApp();
});
beforeEach(async () => {
  workspace = await server.newWorkspace();
  agent = await workspace.newAgent({ maxConcurrentTasks: 10, capabilities: ['command'] });
});
afterAll(() => server.stop());

async function create(values: Record<string, unknown>, headers = {}): Promise<Task> {
  const wanted = { title: 'A task', taskType: 'test', ...values };
  const { status, body } = await workspace.api.post<Task>('/agent-tasks', wanted, headers);
  expect([status, body]).toEqual([201, expect.anything()]);
  return body;
}

async function claim(maxTasks = 10): Promise<Claim['tasks']> {
  const { body } = await agent.api.post<Claim>(`/agents/${agent.id}/claim`, { maxTasks });
  return body.tasks;
}

async function get(id: string): Promise<Task> {
  return (await workspace.api.get<Task>(`/agent-tasks/${id}`)).body;
}

const stored = async (id: string): Promise<Record<string, unknown>> => {
  const { rows } = await server.db.owner.query<Record<string, unknown>>(
    `SELECT input_context, checkpoint_data, output_result, metadata FROM agent_tasks WHERE id = $1`,
    [id],
  );
  return rows[0] ?? {};
};

/** The sealed originals of a task by column. */
const originals = async (id: string): Promise<Record<string, unknown>> => {
  const { rows } = await server.db.owner.query<{ column_name: string; sealed: unknown }>(
    'SELECT column_name, sealed FROM task_secrets WHERE task_id = $1',
    [id],
  );
  return Object.fromEntries(rows.map(({ column_name, sealed }) => [column_name, sealed]));
};

describe('the secrets of a task', () => {
  it("the run gets a task's secrets, and everybody else sees them hidden", async () => {
    const inputContext = {
      command: ['deploy', '--password', SECRET],
      env: { DB_PASSWORD: SECRET, PLAIN: 'x' },
      note: `Authorization: Basic ${SECRET}`,
      credentials: { user: 'u', pins: [1, 2], deep: { more: SECRET } },
      apiKey: 1234,
    };
    const shown = {
      command: ['deploy', '--password', HIDDEN],
      env: { DB_PASSWORD: HIDDEN, PLAIN: 'x' },
      note: `Authorization: ${HIDDEN}`,
      credentials: HIDDEN,
      apiKey: HIDDEN,
    };
    const created = await create({ inputContext, metadata: { token: SECRET } });
    expect(created).toMatchObject({ inputContext: shown, metadata: { token: HIDDEN } });
    expect(await get(created.id)).toMatchObject({ inputContext: shown });
    const [held] = await claim();
    expect(held?.task).toMatchObject({ inputContext, metadata: { token: SECRET } });
    const byAgent = await agent.api.get<Task>(`/agent-tasks/${created.id}`);
    expect(byAgent.body).toMatchObject({ inputContext, metadata: { token: SECRET } });
    expect(await get(created.id)).toMatchObject({ inputContext: shown });
    const list = await workspace.api.get<{ items: Task[] }>('/agent-tasks');
    expect(list.body.items).toMatchObject([{ inputContext: shown }]);
  });

  it("a task's secrets are nowhere in the database, whatever happens to the task", async () => {
    const key = { 'idempotency-key': newId() };
    const secret = `nowhere-${newId()}`;
    const inputContext = { env: { API_KEY: secret }, words: `Bearer ${secret}` };
    const task = await create({ inputContext, metadata: { password: secret } }, key);
    const repeated = await create({ inputContext, metadata: { password: secret } }, key);
    expect(repeated.id).toBe(task.id);
    const tasks = [{ title: 'One of many', taskType: 'test', inputContext }];
    expect((await workspace.api.post('/agent-tasks/batch', { tasks })).status).toBe(201);

    const [first] = await claim(1);
    const run = `/runs/${first?.run.id}`;
    await agent.api.post(`${run}/start`, {});
    const checkpointData = { session: { cookie: secret } };
    await agent.api.patch(`${run}/progress`, { currentStep: `token=${secret}`, checkpointData });
    const entries = [{ message: `token=${secret}`, details: { token: secret, at: 1 } }];
    await agent.api.post(`${run}/logs`, { entries });
    const heartbeat = {
      status: 'healthy',
      currentStep: `token=${secret}`,
      metadata: { token: secret },
    };
    await agent.api.post(`/agents/${agent.id}/heartbeat`, heartbeat);
    const flusher = server.app.get(HeartbeatFlusher, { strict: false });
    await flusher.flush();
    const error = { message: `password: ${secret}`, retryable: false };
    const failed = await agent.api.post(`${run}/fail`, { error, checkpointData });
    expect(failed.status).toBe(200);
    expect((await workspace.api.post(`/agent-tasks/${task.id}/retry`, {}, key)).status).toBe(422);
    expect((await workspace.api.post(`/agent-tasks/${task.id}/retry`, {})).status).toBe(200);

    const next = (await claim()).find((held) => held.task.id === task.id);
    expect(next?.task).toMatchObject({ checkpointData, inputContext });
    await workspace.api.patch(`/agent-tasks/${task.id}`, { metadata: { password: `${secret}2` } });
    const result = { outputResult: { newPassword: secret }, summary: `token=${secret}` };
    const done = await agent.api.post(`/runs/${next?.run.id}/complete`, result);
    expect([done.status, done.body]).toMatchObject([200, { status: 'COMPLETED' }]);
    expect(await get(task.id)).toMatchObject({
      outputResult: { newPassword: HIDDEN },
      checkpointData: { session: { cookie: HIDDEN } },
      metadata: { password: HIDDEN },
    });
    const held = await create({ inputContext });
    const [last] = (await claim()).filter(({ task: one }) => one.id === held.id);
    await agent.api.post(`/runs/${last?.run.id}/release`, { reason: `token=${secret}` });
    expect(await tablesWith(server, secret)).toEqual([]);
    // Proves that the search finds existing values.
    expect(await tablesWith(server, task.id)).toContain('idempotency_keys');
  });

  it('secrets survive when their owner writes the shown values back', async () => {
    const task = await create({ metadata: { token: SECRET, level: 1 } });
    const shown = (await get(task.id))['metadata'] as Record<string, unknown>;
    const changed = { metadata: { ...shown, level: 2 } };
    expect((await workspace.api.patch(`/agent-tasks/${task.id}`, changed)).status).toBe(200);
    const other = { title: 'Another' };
    expect((await workspace.api.patch(`/agent-tasks/${task.id}`, other)).status).toBe(200);
    const [held] = await claim();
    expect(held?.task).toMatchObject({ title: 'Another', metadata: { token: SECRET, level: 2 } });
  });

  it('replaced secrets are gone, and the next run gets the replacement', async () => {
    const task = await create({ metadata: { token: SECRET }, inputContext: { token: SECRET } });
    const [first] = await claim();
    const run = `/runs/${first?.run.id}`;
    const checkpoint = (checkpointData: unknown) =>
      agent.api.put(`${run}/checkpoint`, { checkpointData });
    await agent.api.post(`${run}/start`, {});
    await checkpoint({ cookie: SECRET });
    expect(Object.keys(await originals(task.id)).sort()).toEqual([
      'checkpoint_data',
      'input_context',
      'metadata',
    ]);
    await checkpoint({ text: 'Bearer [redacted]' });
    await workspace.api.patch(`/agent-tasks/${task.id}`, { metadata: { text: HIDDEN } });
    expect(Object.keys(await originals(task.id))).toEqual(['input_context']);
    await agent.api.post(`${run}/release`, {});
    await workspace.api.post(`/agent-tasks/${task.id}/retry`, {});
    const [next] = await claim();
    expect(next?.task).toMatchObject({
      inputContext: { token: SECRET },
      checkpointData: { text: 'Bearer [redacted]' },
      metadata: { text: HIDDEN },
    });
  });

  it('a run that no longer holds its task cannot replace its secrets', async () => {
    const task = await create({ inputContext: { token: SECRET } });
    const [first] = await claim();
    await agent.api.post(`/runs/${first?.run.id}/start`, {});
    await agent.api.post(`/runs/${first?.run.id}/release`, { checkpointData: { cookie: SECRET } });
    const before = await originals(task.id);
    expect(Object.keys(before)).toContain('checkpoint_data');
    const checkpointData = { cookie: `${SECRET}-2` };
    const late = await Promise.all([
      agent.api.put(`/runs/${first?.run.id}/checkpoint`, { checkpointData }),
      agent.api.put(`/runs/${first?.run.id}/checkpoint`, { checkpointData: { plain: 'plain' } }),
      agent.api.post(`/runs/${first?.run.id}/complete`, { outputResult: checkpointData }),
    ]);
    expect(late.map(({ status }) => status)).toEqual([409, 409, 409]);
    expect(await originals(task.id)).toEqual(before);
  });

  it('a task without secrets is not sealed', async () => {
    const task = await create({ inputContext: { command: ['ls', '-l'] }, metadata: { a: 1 } });
    expect(await originals(task.id)).toEqual({});
    expect(await stored(task.id)).toMatchObject({ input_context: { command: ['ls', '-l'] } });
  });
});

describe('a value that does not open', () => {
  const other = async () => {
    const task = await create({ inputContext: { token: `${SECRET}-2` }, priority: 1 });
    return { task, token: sealedToken(await originals(task.id)) };
  };
  const sealedToken = (row: Record<string, unknown>) =>
    (row['input_context'] as { token: string }).token;
  const put = (id: string, token: string) =>
    server.db.owner.query(
      `UPDATE task_secrets SET sealed = jsonb_build_object('token', $2::text) WHERE task_id = $1`,
      [id, token],
    );

  it.each([
    ['was altered', 'altered', (sealed: string) => sealed.replace(/.(?=:[^:]*$)/, '!')],
    ['shows something else', 'altered', (sealed: string) => `${sealed}.`],
    ['is damaged', 'altered', () => 'drover-sealed:1:'],
    [
      'has an unknown key',
      'is not there',
      (sealed: string) => sealed.replace(/1:[^:]*/, `1:${newId()}`),
    ],
  ])('a value that %s fails only its task', async (_, word, alter) => {
    const task = await create({ inputContext: { token: SECRET }, priority: 10 });
    const { task: good } = await other();
    await put(task.id, alter(sealedToken(await originals(task.id))));
    expect((await claim()).map((held) => held.task.id)).toEqual([good.id]);
    const failed = await get(task.id);
    expect(failed).toMatchObject({ status: 'FAILED', failureReason: 'secrets_unreadable' });
    expect(failed['lastError']).toContain(word === 'altered' ? 'was altered' : word);
    expect(failed['inputContext']).toMatchObject({ token: HIDDEN });
  });

  it('a value of another task fails this one, and the claim finds the next', async () => {
    const { task: good, token } = await other();
    const task = await create({ inputContext: { token: SECRET }, priority: 10 });
    await put(task.id, token);
    expect((await claim(1)).map((held) => held.task.id)).toEqual([good.id]);
    expect(await get(task.id)).toMatchObject({ failureReason: 'secrets_unreadable' });
  });

  it('a value that cannot be opened is a clear refusal for its holder, and redacted for people', async () => {
    const task = await create({ inputContext: { token: SECRET } });
    await claim();
    await put(task.id, 'drover-sealed:1:x:AAAA:');
    const { status, body } = await agent.api.get<{ code: string }>(`/agent-tasks/${task.id}`);
    expect([status, body.code]).toEqual([409, 'secrets_unreadable']);
    expect(await get(task.id)).toMatchObject({ status: 'ASSIGNED' });
  });

  it('a client cannot insert a sealed value, because it is sealed itself', async () => {
    const { token } = await other();
    const inputContext = { text: token, list: [token] };
    const task = await create({ inputContext, priority: 10 });
    expect(task['inputContext']).toEqual({ text: HIDDEN, list: [HIDDEN] });
    const [held] = await claim(1);
    expect(held?.task).toMatchObject({ id: task.id, inputContext });
  });
});
