import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { startTestApp } from '../../../../test/support/app.js';
import {
  sharedServer,
  type TestAgent,
  type TestServer,
  type TestWorkspace,
} from '../../../../test/support/shared-server.js';

let server: TestServer;
let workspace: TestWorkspace;
let agent: TestAgent;

beforeAll(async () => {
  server = await sharedServer();
});
beforeEach(async () => {
  workspace = await server.newWorkspace();
  agent = await workspace.newAgent({ maxConcurrentTasks: 5 });
});
afterAll(() => server.stop());

interface Run {
  id: string;
  deadlineAt: string | null;
}
interface Signals {
  runs: { runId: string; action: string; reason: string }[];
}

const waitMs = 20_000;

async function create(timeoutSeconds?: number): Promise<string> {
  const task = { title: 'A task', taskType: 'test', timeoutSeconds };
  return (await workspace.api.post<{ id: string }>('/agent-tasks', task)).body.id;
}

async function claimed(timeoutSeconds?: number): Promise<Run> {
  const taskId = await create(timeoutSeconds);
  const { body } = await agent.api.post<{ tasks: { run: Run }[] }>(`/agents/${agent.id}/claim`, {
    taskId,
  });
  return body.tasks[0]?.run as Run;
}

const signals = async (request: object) =>
  (await agent.api.post<Signals>(`/agents/${agent.id}/signals`, request)).body.runs;

async function overdueFor(runId: string, seconds: number): Promise<void> {
  await server.db.owner.query(
    'UPDATE task_runs SET deadline_at = now() - make_interval(secs => $2) WHERE id = $1',
    [runId, seconds],
  );
}

const complete = (runId: string) =>
  agent.api.post<{ code?: string; endReason?: string }>(`/runs/${runId}/complete`);

describe('the deadline of a run', () => {
  it('a claim names the deadline, and a task without a timeout has none', async () => {
    const { deadlineAt } = await claimed(3_600);
    expect(Math.abs(Date.parse(deadlineAt ?? '') - Date.now() - 3_600_000)).toBeLessThan(60_000);
    expect((await claimed()).deadlineAt).toBeNull();
  });

  it('a task without a timeout gets the default, and null gets none', async () => {
    const other = await startTestApp({ ROLES: 'api', DEFAULT_TIMEOUT_SECONDS: '5400' });
    const { api } = await other.newWorkspace();
    const task = { title: 'A task', taskType: 'test' };
    const createTask = async (values: object) =>
      (await api.post('/agent-tasks', { ...task, ...values })).body;
    expect(await createTask({})).toMatchObject({ timeoutSeconds: 5_400 });
    expect(await createTask({ timeoutSeconds: 60 })).toMatchObject({ timeoutSeconds: 60 });
    expect(await createTask({ timeoutSeconds: null })).toMatchObject({ timeoutSeconds: null });
    const { body } = await api.post('/agent-tasks/batch', { tasks: [task] });
    expect(body).toMatchObject({ items: [{ timeoutSeconds: 5_400 }] });
    await other.stop();
  });

  it('a waiting poll hears of a deadline when it passes', async () => {
    const { id } = await claimed(2);
    const stop = [{ runId: id, action: 'stop', reason: 'timeout' }];
    expect(await signals({ runIds: [id], waitMs })).toMatchObject(stop);
  });

  it('a completion is accepted for a moment after the deadline, and no longer', async () => {
    const [inTime, tooLate] = [await claimed(3_600), await claimed(3_600)];
    await overdueFor(inTime.id, 30);
    await overdueFor(tooLate.id, 61);
    expect((await complete(inTime.id)).status).toBe(200);
    const { status, body } = await complete(tooLate.id);
    expect([status, body.code, body.endReason]).toEqual([409, 'stale_run', 'timeout']);
    const detail = 'The run is ASSIGNED and its task ASSIGNED. Its time is over.';
    expect(body).toMatchObject({ detail });
  });
});

describe('signals for an agent that names no runs', () => {
  it('signals cover a run that was claimed after the poll began', async () => {
    const poll = signals({ waitMs });
    const taskId = await create();
    const { body } = await agent.api.post<{ tasks: { run: Run }[] }>(`/agents/${agent.id}/claim`, {
      taskId,
    });
    await workspace.api.post(`/agent-tasks/${taskId}/cancel`);
    const runId = body.tasks[0]?.run.id;
    expect(await poll).toMatchObject([{ runId, action: 'stop', reason: 'cancelled' }]);
    // Nobody can see whether the agent obeyed. It is told again, but the signal does not end the
    // next wait.
    expect(await signals({ waitMs: 0 })).toMatchObject([{ runId, action: 'stop' }]);
    const next = signals({ waitMs });
    const other = await claimed();
    await overdueFor(other.id, 1);
    await workspace.api.put(`/agents/${agent.id}`, { name: 'Woken' });
    expect(await next).toContainEqual(
      expect.objectContaining({ runId: other.id, reason: 'timeout' }),
    );
  });

  it('signals report each new deadline at once and known ones after the wait', async () => {
    const [first, second] = [await claimed(3_600), await claimed(3_600)];
    await overdueFor(first.id, 1);
    expect(await signals({ waitMs })).toMatchObject([{ runId: first.id, reason: 'timeout' }]);
    await overdueFor(second.id, 1);
    expect((await signals({ waitMs })).map(({ runId }) => runId).sort()).toEqual(
      [first.id, second.id].sort(),
    );
    expect(await signals({ waitMs: 50 })).toHaveLength(2);
  });

  it('signals leave out runs that the agent has ended itself', async () => {
    const { id } = await claimed();
    await complete(id);
    expect(await signals({ waitMs: 0 })).toEqual([]);
  });
});
