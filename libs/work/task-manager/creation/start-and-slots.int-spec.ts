import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { checkInvariants } from '#lib/invariants';
import { eventsOf } from '../../../../test/support/events.js';
import {
  startTestApp,
  type TestAgent,
  type TestApp,
  type TestWorkspace,
} from '../../../../test/support/app.js';
import { waitFor } from '../../../../test/support/wait-for.js';

interface Task {
  id: string;
  status: string;
  startAt: string | null;
  queueExpiresAt: string | null;
  unmetDependencies: number;
  abortReason: string | null;
  createdAt: string;
}

let server: TestApp;
let workspace: TestWorkspace;
let agent: TestAgent;

beforeAll(async () => {
  server = await startTestApp();
});
beforeEach(async () => {
  workspace = await server.newWorkspace();
  agent = await workspace.newAgent({ maxConcurrentTasks: 20 });
});
afterAll(async () => {
  const broken = (await checkInvariants(server.db.ownerUrl)).filter(({ holds }) => !holds);
  expect(broken).toEqual([]);
  await server.stop();
});

const HOUR = 3_600;

async function create(values: object = {}): Promise<Task> {
  const body = { title: 'A task', taskType: 'test', ...values };
  const answer = await workspace.api.post<Task>('/agent-tasks', body);
  expect(answer).toMatchObject({ status: 201 });
  return answer.body;
}

const read = async ({ id }: Task) => (await workspace.api.get<Task>(`/agent-tasks/${id}`)).body;

const startNow = ({ id }: Task) =>
  server.db.owner.query('UPDATE agent_tasks SET start_at = now() WHERE id = $1', [id]);

interface Claimed {
  task: Task;
  run: { id: string };
}

/** The tasks that the agent can take at once. */
async function claim(): Promise<Claimed[]> {
  const { body } = await agent.api.post<{ tasks: Claimed[] }>(`/agents/${agent.id}/claim`, {
    maxTasks: 20,
  });
  return body.tasks;
}

/** Claims until as many tasks were taken. */
async function claimAll(count: number): Promise<Claimed[]> {
  const claimed: Claimed[] = [];
  await waitFor(`${count} tasks to be claimed`, async () => {
    claimed.push(...(await claim()));
    return claimed.length >= count;
  });
  return claimed;
}

async function reasonsOf({ id }: Task): Promise<{ code: string; facts: object }[]> {
  const path = `/agent-tasks/${id}/explain`;
  return (await workspace.api.get<{ reasons: { code: string; facts: object }[] }>(path)).body
    .reasons;
}

describe('a task with a later start', () => {
  it('no agent gets it before its start, and one does then', async () => {
    const [byTime, byDelay] = [
      await create({ startAt: new Date(Date.now() + HOUR * 1_000).toISOString() }),
      await create({ delaySeconds: HOUR }),
    ];
    const delay = Date.parse(byDelay.startAt ?? '') - Date.parse(byDelay.createdAt);
    expect(delay).toBe(HOUR * 1_000);
    expect(await read(byDelay)).toEqual(byDelay);
    expect(await claim()).toEqual([]);
    expect(await reasonsOf(byTime)).toEqual([
      expect.objectContaining({
        code: 'waiting_for_start',
        facts: { startAt: byTime.startAt, debounceKey: null },
      }),
    ]);
    await Promise.all([startNow(byTime), startNow(byDelay)]);
    const claimed = await claimAll(2);
    expect(claimed.map(({ task }) => task.id).sort()).toEqual([byTime.id, byDelay.id].sort());
  });

  it('it also waits for its dependencies, whichever ends first', async () => {
    const first = await create();
    const second = await create({ delaySeconds: HOUR, dependsOn: [first.id] });
    expect(second).toMatchObject({ unmetDependencies: 2 });
    const [held] = await claim();
    await agent.api.post(`/runs/${held?.run.id}/complete`, {});
    await waitFor('the dependency to be settled', async () => {
      return (await read(second)).unmetDependencies === 1;
    });
    expect(await claim()).toEqual([]);
    await startNow(second);
    await claimAll(1);
  });

  it('a start that has passed holds nothing back', async () => {
    await create({ startAt: '2020-01-01T00:00:00Z' });
    expect(await claim()).toHaveLength(1);
  });

  it('it is aborted if it still waits at its expiry', async () => {
    const expiresAt = new Date(Date.now() + 1_500).toISOString();
    const task = await create({ delaySeconds: HOUR, expiresAt });
    expect(task).toMatchObject({ queueExpiresAt: expiresAt });
    await waitFor('the task to be aborted', async () => (await read(task)).status === 'ABORTED');
    expect(await read(task)).toMatchObject({ abortReason: 'queue_expired' });
  });

  it.each([
    [{ startAt: '2030-01-01T00:00:00Z', delaySeconds: 1 }, 'delaySeconds'],
    [{ expiresAt: '2030-01-01T00:00:00Z', queueExpiresInSeconds: 1 }, 'expiresAt'],
    [{ startAt: '2030-01-01T00:00:00Z', expiresAt: '2029-01-01T00:00:00Z' }, 'expiresAt'],
    [{ concurrencyLimit: 2 }, 'concurrencyLimit'],
    [{ debounceKey: 'a' }, 'debounceKey'],
  ])('the values %j are refused', async (values, field) => {
    const body = { title: 'T', taskType: 'test', ...values };
    expect(await workspace.api.post('/agent-tasks', body)).toMatchObject({
      status: 400,
      body: { errors: [{ field }] },
    });
  });
});

describe('a debounce key', () => {
  it('a later creation moves the start of the waiting task, which is its answer', async () => {
    const key = { debounceKey: 'user 7' };
    const first = await create({ ...key, delaySeconds: HOUR });
    const creations = Array.from({ length: 8 }, (_, n) =>
      create({ ...key, delaySeconds: HOUR + n + 1 }),
    );
    const ids = (await Promise.all(creations)).map(({ id }) => id);
    expect(new Set(ids)).toEqual(new Set([first.id]));
    const last = await create({ ...key, delaySeconds: 2 * HOUR });
    expect(Date.parse(last.startAt ?? '') - Date.now()).toBeGreaterThan(1.9 * HOUR * 1_000);
    expect(await create({ debounceKey: 'another', delaySeconds: HOUR })).not.toMatchObject({
      id: first.id,
    });
    await startNow(first);
    await claimAll(1);
    expect((await create({ ...key, delaySeconds: HOUR })).id).not.toBe(first.id);
  });

  it('a later creation moves the expiry as well', async () => {
    const first = await create({
      debounceKey: 'k',
      delaySeconds: HOUR,
      queueExpiresInSeconds: 2 * HOUR,
    });
    const second = await create({ debounceKey: 'k', delaySeconds: HOUR });
    expect(second).toMatchObject({ id: first.id, queueExpiresAt: null });
    const [event] = await eventsOf(server.db.owner, workspace.id, 'task.updated');
    expect(event).toMatchObject({ taskId: first.id, changed: ['startAt', 'queueExpiresAt'] });
  });

  it('agents cannot have one, because they would read the tasks of others', async () => {
    const body = { title: 'T', taskType: 'test', debounceKey: 'k', delaySeconds: HOUR };
    expect(await agent.api.post('/agent-tasks', body)).toMatchObject({
      status: 400,
      body: { errors: [{ field: 'debounceKey', message: 'is not for agents and runs' }] },
    });
  });

  it('tasks of a batch cannot have one', async () => {
    const tasks = [1, 2].map(() => ({
      title: 'T',
      taskType: 'test',
      debounceKey: 'a',
      delaySeconds: 9,
    }));
    expect(await workspace.api.post('/agent-tasks/batch', { tasks })).toMatchObject({
      status: 400,
      body: { errors: [{ field: 'tasks[0].debounceKey' }, { field: 'tasks[1].debounceKey' }] },
    });
  });
});

describe('a concurrency key', () => {
  it('as many tasks as its limit run at once, the highest priority first', async () => {
    const key = { concurrencyKey: 'database', concurrencyLimit: 2 };
    const tasks = [];
    for (const priority of [3, 9, 5, 7, 1]) tasks.push(await create({ ...key, priority }));
    const other = await create({ concurrencyKey: 'other' });
    let held = await claimAll(3);
    expect(held.map(({ task }) => task.id)).toContain(other.id);
    held = held.filter(({ task }) => task.id !== other.id);
    const ran = held.map(({ task }) => task.id);
    const waiting = tasks.filter(({ id }) => !ran.includes(id));
    for (const task of waiting) {
      expect(await reasonsOf(task)).toEqual([
        expect.objectContaining({
          code: 'waiting_for_slot',
          facts: { concurrencyKey: 'database', concurrencyLimit: 2 },
        }),
      ]);
    }
    while (ran.length < tasks.length) {
      const { run } = held.shift() as Claimed;
      await agent.api.post(`/runs/${run.id}/complete`, {});
      const next = await claimAll(1);
      expect(next).toHaveLength(1);
      held.push(...next);
      ran.push(...next.map(({ task }) => task.id));
    }
    const byPriority = waiting.map(({ id }) => id).sort((a, b) => ran.indexOf(a) - ran.indexOf(b));
    const priorities = new Map(tasks.map(({ id }, index) => [id, [3, 9, 5, 7, 1][index]]));
    const waited = byPriority.map((id) => priorities.get(id) ?? 0);
    expect(waited).toEqual([...waited].sort((a, b) => b - a));
  });

  it('a task with a smaller limit waits until so few run', async () => {
    await create({ concurrencyKey: 'mixed', concurrencyLimit: 3, priority: 9 });
    await create({ concurrencyKey: 'mixed', concurrencyLimit: 1 });
    const [first] = await claimAll(1);
    expect(await claim()).toEqual([]);
    await agent.api.post(`/runs/${first?.run.id}/complete`, {});
    await claimAll(1);
  });

  it('a task that is retried by hand waits for a slot again', async () => {
    const key = { concurrencyKey: 'deploy' };
    const failed = await create({ ...key, maxRetries: 0 });
    const [first] = await claimAll(1);
    await agent.api.post(`/runs/${first?.run.id}/fail`, { error: { message: 'no' } });
    const second = await create(key);
    const [held] = await claimAll(1);
    expect(held?.task.id).toBe(second.id);
    await workspace.api.post(`/agent-tasks/${failed.id}/retry`);
    expect((await reasonsOf(failed)).map(({ code }) => code)).toEqual(['waiting_for_slot']);
    await agent.api.post(`/runs/${held?.run.id}/complete`, {});
    const [again] = await claimAll(1);
    expect(again?.task.id).toBe(failed.id);
  });
});
