import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  sharedServer,
  type TestAgent,
  type TestServer,
  type TestWorkspace,
} from '../../../../test/support/shared-server.js';
import { apiClient } from '../../../../test/support/api-client.js';

interface Claimed {
  run: { id: string; generation: number; token: string };
  task: {
    id: string;
    title: string;
    priority: number;
    checkpointData: unknown;
    inputContext: unknown;
  };
}

let server: TestServer;
let workspace: TestWorkspace;

beforeAll(async () => {
  server = await sharedServer('all');
  workspace = await server.newWorkspace();
});

afterAll(() => server.stop());

async function createTask(values: Record<string, unknown> = {}): Promise<string> {
  const { status, body } = await workspace.api.post<{ id: string }>('/agent-tasks', {
    title: 'A task',
    taskType: 'test',
    retryBackoffSeconds: 0,
    ...values,
  });
  expect(status).toBe(201);
  return body.id;
}

async function claim(agent: TestAgent, maxTasks = 1, waitMs = 0): Promise<Claimed[]> {
  const { status, body } = await agent.api.post<{ tasks: Claimed[] }>(`/agents/${agent.id}/claim`, {
    maxTasks,
    waitMs,
  });
  expect(status).toBe(200);
  return body.tasks;
}

/**
 * An agent that alone can do the task, so that tests of one file do not take each other's tasks.
 */
async function taskAndAgent(values: Record<string, unknown> = {}, agentValues = {}) {
  const capability = `only-${Math.random().toString(36).slice(2)}`;
  const id = await createTask({ requiredCapabilities: [capability], ...values });
  const agent = await workspace.newAgent({ capabilities: [capability], ...agentValues });
  return { id, agent, capability };
}

async function taskAndRun(values: Record<string, unknown> = {}) {
  const { id, agent, capability } = await taskAndAgent(values);
  const [claimed] = await claim(agent);
  expect(claimed?.task.id).toBe(id);
  return { id, agent, capability, run: (claimed as Claimed).run };
}

const statusOf = async (id: string) => (await workspace.api.get(`/agent-tasks/${id}`)).body.status;

describe('a task', () => {
  it('a task is claimed, started, reported on and completed', async () => {
    const { id, agent, run } = await taskAndRun({ inputContext: { password: 'hush', n: 1 } });
    expect(await statusOf(id)).toBe('ASSIGNED');
    expect((await agent.api.post(`/runs/${run.id}/start`, {})).status).toBe(200);
    expect(
      (
        await agent.api.patch(`/runs/${run.id}/progress`, {
          progressPercent: 40,
          currentStep: 'half',
        })
      ).status,
    ).toBe(200);
    const running = await workspace.api.get(`/agent-tasks/${id}`);
    expect(running.body).toMatchObject({
      status: 'RUNNING',
      progressPercent: 40,
      currentStep: 'half',
      runId: run.id,
    });
    const done = await agent.api.post(`/runs/${run.id}/complete`, {
      outputResult: { ok: true },
      summary: 'done',
    });
    expect(done).toMatchObject({ status: 200, body: { status: 'COMPLETED', taskId: id } });
    const completed = await workspace.api.get(`/agent-tasks/${id}`);
    expect(completed.body).toMatchObject({
      status: 'COMPLETED',
      runId: null,
      progressPercent: 100,
      outputResult: { ok: true },
      summary: 'done',
    });
  });

  it('a task goes to one agent, however many ask', async () => {
    const capability = `race-${Math.random()}`;
    const agents = await Promise.all(
      Array.from({ length: 8 }, () =>
        workspace.newAgent({ capabilities: [capability], maxConcurrentTasks: 50 }),
      ),
    );
    const ids = await Promise.all(
      Array.from({ length: 40 }, () => createTask({ requiredCapabilities: [capability] })),
    );
    const taken: string[] = [];
    await Promise.all(
      agents.map(async (agent) => {
        for (;;) {
          const tasks = await claim(agent, 3);
          if (tasks.length === 0) return;
          taken.push(...tasks.map(({ task }) => task.id));
        }
      }),
    );
    expect(taken.sort()).toEqual(ids.sort());
  });

  it('a task is not given to an agent without a capability or a slot', async () => {
    const { id, agent, capability } = await taskAndAgent();
    const other = await workspace.newAgent({ capabilities: ['something-else'] });
    expect(await claim(other)).toEqual([]);
    expect((await claim(agent, 5)).map(({ task }) => task.id)).toEqual([id]);
    await createTask({ requiredCapabilities: [capability] });
    expect(await claim(agent, 5)).toEqual([]);
  });

  it('a task reaches a waiting agent', async () => {
    const capability = `wait-${Math.random()}`;
    const agent = await workspace.newAgent({ capabilities: [capability] });
    const waiting = claim(agent, 1, 20_000);
    const id = await createTask({ requiredCapabilities: [capability] });
    expect((await waiting).map(({ task }) => task.id)).toEqual([id]);
  });

  it('tasks are handed out by priority', async () => {
    const capability = `order-${Math.random()}`;
    const low = await createTask({ requiredCapabilities: [capability], priority: 2 });
    const high = await createTask({ requiredCapabilities: [capability], priority: 9 });
    const agent = await workspace.newAgent({ capabilities: [capability], maxConcurrentTasks: 2 });
    expect((await claim(agent, 2)).map(({ task }) => task.id)).toEqual([high, low]);
  });
});

describe("a run's token", () => {
  it('a revoked run token is refused, and the run continues', async () => {
    const { agent, run } = await taskAndRun();
    const { agent: neighbour } = await taskAndAgent();
    const asRun = apiClient(server.url, { authorization: `Bearer ${run.token}` });
    const path = `/runs/${run.id}/token`;
    expect((await asRun.patch(`/runs/${run.id}/progress`, {})).status).toBe(200);
    expect((await neighbour.api.delete(path)).status).toBe(404);
    expect((await asRun.delete(path)).status).toBe(401);
    expect((await asRun.patch(`/runs/${run.id}/progress`, {})).status).toBe(200);
    expect((await agent.api.delete(path)).status).toBe(204);
    expect((await asRun.patch(`/runs/${run.id}/progress`, {})).body.code).toBe('token_revoked');
    expect((await agent.api.post(`/runs/${run.id}/complete`, {})).status).toBe(200);
    expect((await workspace.api.delete(path)).status).toBe(204);
  });

  it('a run token cannot be revoked from another workspace', async () => {
    const { run } = await taskAndRun();
    const stranger = await server.newWorkspace();
    expect((await stranger.api.delete(`/runs/${run.id}/token`)).status).toBe(404);
  });
});

describe('a failed run', () => {
  it('a failed run is retried with its checkpoint until no attempt is left', async () => {
    const { id, agent, run } = await taskAndRun({ maxRetries: 1 });
    await agent.api.post(`/runs/${run.id}/start`, {});
    const failed = await agent.api.post(`/runs/${run.id}/fail`, {
      error: { message: 'broke', class: 'exit_code', exitCode: 3 },
      checkpointData: { at: 7 },
    });
    expect(failed.body).toMatchObject({ status: 'ABORTED' });
    await workspace.api.post(`/agent-tasks/${id}/retry`, {});
    const [second] = await claim(agent);
    expect(second).toMatchObject({ run: { generation: 2 }, task: { checkpointData: { at: 7 } } });
  });

  it('a failure that is not retryable fails the task', async () => {
    const { id, agent, run } = await taskAndRun();
    await agent.api.post(`/runs/${run.id}/start`, {});
    await agent.api.post(`/runs/${run.id}/fail`, {
      error: { message: 'no such program', class: 'setup' },
    });
    expect((await workspace.api.get(`/agent-tasks/${id}`)).body).toMatchObject({
      status: 'FAILED',
      failureReason: 'setup',
      lastError: 'no such program',
    });
  });

  it('a failure before the start aborts the task first, and then fails it', async () => {
    const { id, agent, run } = await taskAndRun({ maxRetries: 0 });
    await agent.api.post(`/runs/${run.id}/fail`, {
      error: { message: 'lost', class: 'infrastructure' },
    });
    const logs = await server.db.owner.query(
      'SELECT new_status FROM agent_task_logs WHERE task_id = $1 AND task_version IS NOT NULL ORDER BY task_version',
      [id],
    );
    expect(logs.rows.map((row) => row.new_status)).toEqual([
      'PENDING',
      'ASSIGNED',
      'ABORTED',
      'FAILED',
    ]);
  });
});

describe("a user's command", () => {
  it('cancelling a running task makes its run stale at once', async () => {
    const { id, agent, run } = await taskAndRun();
    await agent.api.post(`/runs/${run.id}/start`, {});
    const cancelled = await workspace.api.post(`/agent-tasks/${id}/cancel`, {
      reason: 'Requirements changed',
    });
    expect(cancelled.body).toMatchObject({
      status: 'ABORTED',
      abortReason: 'cancelled',
      abortMessage: 'Requirements changed',
      runId: null,
    });
    const late = await agent.api.post(`/runs/${run.id}/complete`, {});
    expect(late).toMatchObject({
      status: 409,
      body: { code: 'stale_run', endReason: 'cancelled' },
    });
    const agentRow = await server.db.owner.query('SELECT live_runs FROM agents WHERE id = $1', [
      agent.id,
    ]);
    expect(agentRow.rows[0]?.live_runs).toBe(0);
  });

  it('the message of the last abort is readable until the task is retried', async () => {
    const { id, agent, run } = await taskAndRun();
    const said = async () => (await workspace.api.get(`/agent-tasks/${id}`)).body.abortMessage;
    await agent.api.post(`/runs/${run.id}/fail`, { error: { message: 'the first time' } });
    expect(await said()).toBe('the first time');
    expect((await workspace.api.post(`/agent-tasks/${id}/archive`, {})).body).toMatchObject({
      code: 'illegal_transition',
      detail: expect.stringContaining('is ABORTED and waits for its retry'),
    });
    await workspace.api.post(`/agent-tasks/${id}/retry`, {});
    expect(await said()).toBeNull();
    await workspace.api.post(`/agent-tasks/${id}/cancel`, { reason: 'my password=hunter2hunter2' });
    expect(await said()).toMatch(/^my password=\[redacted/);
    await workspace.api.post(`/agent-tasks/${id}/archive`, {});
    expect(await said()).toMatch(/^my password=/);
  });

  it('cancelling with cascade cancels all dependents', async () => {
    const first = await createTask();
    const second = await createTask({ dependsOn: [first] });
    const third = await createTask({ dependsOn: [second] });
    const body = { cascade: true, reason: 'no need' };
    await workspace.api.post(`/agent-tasks/${first}/cancel`, body);
    expect(await Promise.all([first, second, third].map(statusOf))).toEqual([
      'ABORTED',
      'ABORTED',
      'ABORTED',
    ]);
    expect((await workspace.api.get(`/agent-tasks/${third}`)).body).toMatchObject({
      abortReason: 'dependency_cancelled',
      abortMessage: `Cancelled together with the task ${first}: no need`,
    });
  });

  it('cancelling more than 10,000 dependents at once is refused, and cancels none', async () => {
    const first = await createTask();
    const task = { title: 'T', taskType: 'test', dependsOn: [first] };
    const tasks = Array.from({ length: 1_000 }, () => task);
    const last: string[] = [];
    for (let count = 0; count < 11_000; count += tasks.length) {
      const answer = await workspace.api.post<{ items: { id: string }[] }>('/agent-tasks/batch', {
        tasks,
      });
      expect(answer.status).toBe(201);
      last.push(answer.body.items.at(-1)?.id ?? '');
    }
    const cancel = await workspace.api.post(`/agent-tasks/${first}/cancel`, { cascade: true });
    expect(cancel).toMatchObject({ status: 409, body: { code: 'cascade_too_large' } });
    expect(new Set(await Promise.all([first, ...last].map(statusOf)))).toEqual(
      new Set(['PENDING']),
    );
    // Keeps its tasks away from tests that look at the head of the queue.
    workspace = await server.newWorkspace();
  });

  it('a paused task is released by its agent and resumes from the checkpoint', async () => {
    const { id, agent, run } = await taskAndRun();
    await agent.api.post(`/runs/${run.id}/start`, {});
    const waiting = agent.api.post<{ runs: unknown[] }>(`/agents/${agent.id}/signals`, {
      runIds: [run.id],
      waitMs: 20_000,
    });
    await workspace.api.post(`/agent-tasks/${id}/pause`, { reason: 'lunch' });
    expect((await waiting).body.runs).toMatchObject([
      { runId: run.id, action: 'pause', reason: 'lunch' },
    ]);
    const released = await agent.api.post(`/runs/${run.id}/release`, {
      reason: 'paused',
      checkpointData: { page: 3 },
    });
    expect(released.body).toMatchObject({ status: 'PAUSED' });
    await workspace.api.post(`/agent-tasks/${id}/resume`, {});
    const [again] = await claim(agent);
    expect(again).toMatchObject({
      task: { id, checkpointData: { page: 3 } },
      run: { generation: 2 },
    });
  });

  it('a paused task whose process fails stays paused', async () => {
    const { id, agent, run } = await taskAndRun();
    await agent.api.post(`/runs/${run.id}/start`, {});
    await workspace.api.post(`/agent-tasks/${id}/pause`, {});
    const failed = await agent.api.post(`/runs/${run.id}/fail`, {
      error: { message: 'terminated', class: 'signal' },
      checkpointData: { kept: true },
    });
    expect(failed.body).toMatchObject({ status: 'PAUSED' });
    const task = (await workspace.api.get(`/agent-tasks/${id}`)).body;
    expect(task).toMatchObject({ status: 'PAUSED', runId: null, checkpointData: { kept: true } });
  });

  it('a user of another workspace sees and changes nothing', async () => {
    const { id } = await taskAndRun();
    const stranger = await server.newWorkspace();
    expect((await stranger.api.get(`/agent-tasks/${id}`)).status).toBe(404);
    expect((await stranger.api.post(`/agent-tasks/${id}/cancel`, {})).status).toBe(404);
    const dependent = await stranger.api.post('/agent-tasks', {
      title: 'x',
      taskType: 't',
      dependsOn: [id],
    });
    expect(dependent).toMatchObject({
      status: 404,
      body: { code: 'task_not_found', errors: [{ field: 'dependsOn[0]' }] },
    });
    expect(await statusOf(id)).toBe('ASSIGNED');
  });
});

describe('a batch', () => {
  it('a batch is created with its dependencies by ref', async () => {
    const { status, body } = await workspace.api.post<{
      items: { id: string; dependsOn: string[]; blocks: string[] }[];
    }>('/agent-tasks/batch', {
      tasks: [
        { ref: 'a', title: 'first', taskType: 't' },
        { ref: 'b', title: 'second', taskType: 't', dependsOn: [{ ref: 'a', policy: 'fail' }] },
      ],
    });
    expect(status).toBe(201);
    expect(body.items[1]?.dependsOn).toEqual([body.items[0]?.id]);
    expect(body.items.map(({ blocks }) => blocks)).toEqual([[body.items[1]?.id], []]);
  });

  it('a batch with a cycle is refused with the path, and nothing is created', async () => {
    const answer = await workspace.api.post('/agent-tasks/batch', {
      tasks: [
        { ref: 'a', title: 'first', taskType: 'cyclic', dependsOn: [{ ref: 'b' }] },
        { ref: 'b', title: 'second', taskType: 'cyclic', dependsOn: [{ ref: 'a' }] },
      ],
    });
    expect(answer).toMatchObject({
      status: 409,
      body: { code: 'dependency_cycle', path: ['a', 'b', 'a'] },
    });
    const { rows } = await server.db.owner.query(
      `SELECT 1 FROM agent_tasks WHERE task_type = 'cyclic'`,
    );
    expect(rows).toEqual([]);
  });
});
